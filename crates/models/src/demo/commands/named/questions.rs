//! The questions and the lines that answer them.

use super::super::super::terms::ClosedRule;

pub(super) struct Question {
    pub(super) line: &'static str,
    pub(super) english: ClosedRule,
    pub(super) chinese: ClosedRule,
}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        line: "git branch --show-current",
        english: ClosedRule {
            needs: &["branch", "current branch, which branch, what branch, active branch, git branch"],
            knows: "
                what, which, is, the, are, we, am, on, in, you, this, current, git, of, repository, repo, project, name, active, checked out, right now, now, here, currently, at, it, working, my, i, folder, show, print",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["分支", "当前, 现在, 哪个, 哪一个, 什么, 哪条"],
            knows: "
                在, 是, 的, 我们, 处于, 位于, 当前, git, 仓库, 上, 个, 名, 名字, 叫, 哪, 这个, 项目, 里, 目前, 所在, 查看, 显示, 条, 一",
            never: "分支好, ^ 分支是什么, ^ git 分支是什么, 什么是, 什么意思",
        },
    },
    Question {
        line: "git branch --list",
        english: ClosedRule {
            needs: &["branches", "which branches, what branches, list, show, all branches, how many branches"],
            knows: "are, there, the, git, in, this, repository, repo, project, of, do, we, have, all, local, exist, does, it",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["哪些分支, 几个分支, 多少分支, 多少个分支, 所有分支, 全部分支", "列出, 有, 查看, 显示, 看看"],
            knows: "git, 这个, 仓库, 里, 项目, 的, 都, 本地, 当前, 列出, 中",
            never: "",
        },
    },
    Question {
        line: "git status",
        english: ClosedRule {
            needs: &["
                git status, status of the repository, status of the repo, status of git, status of this repository, status of this repo, uncommitted changes, uncommitted files, working tree clean, repository clean, repo clean, repository status, repo status,
                which files changed, which files have changed, which files were changed, which files are changed, which files are modified, what files changed, what files have changed, which files did i change"],
            knows: "what, the, is, are, there, any, show, check, do, we, have, in, this, repository, repo, project, here, changes, my, look at, get, current, now, i, since the last commit, working tree, a",
            never: "what is git status, what does git status, how does, i have uncommitted, we have uncommitted, there are uncommitted $, a git status is",
        },
        chinese: ClosedRule {
            needs: &["
                git 状态, git 的状态, 仓库状态, 仓库的状态, 未提交, 没提交, 没有提交, git status, 工作区干净, 哪些文件改了, 哪些文件变了, 哪些文件被修改, 哪些文件被改, 改了哪些文件, 修改了哪些文件"],
            knows: "
                有没有, 有, 没有, 的, 改动, 修改, 更改, 文件, 哪些, 什么, 是, 查看, 显示, 代码, 仓库, 当前, 里, 项目, 这个, 情况, 怎么样, 变更, 过, 被, 还有",
            never: "我还没提交 $, 我没有提交 $, git status 是什么, 什么是",
        },
    },
    Question {
        line: "git log --oneline -n 10",
        english: ClosedRule {
            needs: &["last commit, latest commit, last commits, recent commits, latest commits, newest commit, newest commits, commit history, last few commits, last ten commits, git log, git history", "what, show, list, which, give, see, print, look at"],
            knows: "is, was, the, in, this, repository, of, project, are, were, here, few, some, git, repo, message, my, our, most recent",
            never: "what is git log, what is a, what is commit",
        },
        chinese: ClosedRule {
            needs: &["最近的提交, 最近提交, 最近几次提交, 最新的提交, 最新提交, 上一次提交, 上次提交, 最后一次提交, 提交记录, 提交历史, git 日志, git log"],
            knows: "查看, 显示, 列出, 是, 什么, 有哪些, 的, 仓库, 这个, 项目, 里, 内容, 看一下, 都, 有, 哪些, 信息, 了什么, 几次, git",
            never: "git log 是什么, 什么是",
        },
    },
    Question {
        line: "git remote -v",
        english: ClosedRule {
            needs: &["git remote, git remotes, remote of this repository, remotes of this repository, remote repository, remote url, which remotes"],
            knows: "what, which, is, the, are, show, list, of, this, here, there, url, does, we, do, have, repository, repo, project, a",
            never: "what is a, what is git remote",
        },
        chinese: ClosedRule {
            needs: &["远程仓库, 远程地址, 远端仓库, git 远程", "什么, 哪个, 哪里, 哪些, 查看, 显示, 多少"],
            knows: "是, 的, 地址, 这个, 项目, 仓库, 有, 在, git, 当前",
            never: "远程仓库是什么 $, 什么是",
        },
    },
    Question {
        line: "git rev-list --count HEAD",
        english: ClosedRule {
            needs: &["how many commits, number of commits"],
            knows: "are, there, in, this, repository, repo, project, the, does, have, has, it, do, we, on, branch, current, what, is, of",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["多少次提交, 多少个提交, 几次提交, 几个提交, 提交了多少次, 提交总数"],
            knows: "有, 这个, 仓库, 项目, 里, 一共, 总共, 的, 是, 多少, 当前, 分支, 上, 共, 已经",
            never: "",
        },
    },
    Question {
        line: "df -h .",
        english: ClosedRule {
            needs: &["disk, disc, drive, storage", "how much, how full, what is, check, show, is the disk, is my disk, is there, do we, do i"],
            knows: "space, free, left, full, room, usage, is, the, there, on, this, machine, computer, my, available, remaining, have, still, of, server, here, hard, it, enough, in, are, used, i, we, do",
            never: "what is a, what is disk, what is the disk $, what is storage",
        },
        chinese: ClosedRule {
            needs: &["磁盘, 硬盘, 存储空间", "多少, 够不够, 够吗, 满了吗, 满了没, 多大, 使用情况, 剩余, 占用"],
            knows: "剩, 还剩, 空间, 可用, 的, 有, 下, 剩下, 这台, 机器, 电脑, 上, 使用, 是, 用, 没, 容量, 这, 里, 查看, 显示, 情况, 服务器, 已, 率",
            never: "多少钱",
        },
    },
    Question {
        line: "free -h",
        english: ClosedRule {
            needs: &["memory, ram", "how much"],
            knows: "is, the, there, on, this, machine, computer, free, left, available, used, in use, do, we, have, does, has, it, here, server, of, are, remaining, still",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["内存", "多少, 够不够, 多大, 使用情况"],
            knows: "剩, 还剩, 空间, 可用, 的, 有, 剩下, 这台, 机器, 电脑, 上, 使用, 是, 用, 这, 里, 查看, 情况, 服务器, 已",
            never: "多少钱",
        },
    },
    Question {
        line: "uname -a",
        english: ClosedRule {
            needs: &["operating system, which os, what os, kernel version, which kernel, what kernel", "what, which"],
            knows: "is, this, machine, computer, running, are, you, on, does, run, the, version, of, linux, here, we, do, have, it, use, using, server, in, kernel, system, os, i, am",
            never: "what is a, what is an, what is operating",
        },
        chinese: ClosedRule {
            needs: &["操作系统, 内核版本, 什么系统, 哪个系统", "什么, 哪个, 哪种, 多少"],
            knows: "是, 这台, 机器, 电脑, 的, 这, 用, 运行, 在, 版本, 服务器, 这里, 上, 当前, 个, 系统",
            never: "^ 操作系统是什么, 什么是, 有什么用",
        },
    },
    Question {
        line: "pwd",
        english: ClosedRule {
            needs: &["working directory, current directory, current folder, work directory, working folder", "what is the, where is the, path, print the, what is our, what is my, what is your"],
            knows: "is, of, full, absolute, current, what, the, are, we, which",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["当前路径, 目录的路径, 目录路径, 工作目录在哪, 在哪个目录, 工作路径"],
            knows: "当前, 工作, 的, 是, 什么, 里, 下, 哪里, 多少, 显示, 绝对, 目录, 我们",
            never: "",
        },
    },
    Question {
        line: "uptime",
        english: ClosedRule {
            needs: &["uptime, machine been running, computer been running, system been running, server been running, machine been up, system been up, server been up, computer been on, machine been on", "what, how long, show, check"],
            knows: "is, the, has, this, of, machine, system, server, computer",
            never: "what is uptime, what is an uptime",
        },
        chinese: ClosedRule {
            needs: &["运行了多久, 运行多久, 开机多久, 开了多久, 开机多长时间", "机器, 电脑, 系统, 服务器"],
            knows: "这台, 已经, 这, 台, 的, 一共, 个",
            never: "",
        },
    },
    Question {
        line: "nproc",
        english: ClosedRule {
            needs: &["how many cores, how many cpus, how many cpu cores, how many processors, how many processor cores"],
            knows: "does, this, machine, have, has, are, there, the, computer, server, do, we, on, here, it, i",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["几核, 多少核, 几个核, 多少个核, 几个 cpu, 多少个 cpu, 几个处理器"],
            knows: "这台, 机器, 电脑, 有, 的, 是, 心, cpu, 服务器, 这, 台, 上, 处理器",
            never: "",
        },
    },
    Question {
        line: "du -sh .",
        english: ClosedRule {
            needs: &["how big is, how large is, how much space does, size of, how many bytes are in", "this folder, this directory, the work directory, the working directory, this project, the current folder, the current directory, this repository"],
            knows: "what is the, what is, take, use, need, up, total, the, in all, take up",
            never: "",
        },
        chinese: ClosedRule {
            needs: &["这个文件夹, 这个目录, 当前目录, 当前文件夹, 工作目录, 这个项目", "有多大, 多大, 占多少空间, 占用多少空间, 占了多少空间, 的大小"],
            knows: "一共, 总共, 是, 多少, 的, 磁盘",
            never: "",
        },
    },
];
