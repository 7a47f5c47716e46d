//! What the demo model understands as requests to run commands.

use super::{all_mean, name_of};
use crate::demo::{commands::CommandRequest, utterance::Utterance};

fn request(text: &str) -> Option<CommandRequest> {
    CommandRequest::of(&Utterance::new(text)).map(|(request, _)| request)
}

fn run(line: &str) -> Option<CommandRequest> {
    Some(CommandRequest::Run { line: line.to_owned(), background: false })
}

fn start(line: &str) -> Option<CommandRequest> {
    Some(CommandRequest::Run { line: line.to_owned(), background: true })
}

#[track_caller]
fn each(cases: &[(&str, &str)], wanted: fn(&str) -> Option<CommandRequest>) {
    let wrong: Vec<_> = cases
        .iter()
        .map(|(text, line)| (text, request(text), wanted(line)))
        .filter(|(_, found, wanted)| found != wanted)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commands_that_are_named_in_english_are_run_as_they_were_written() {
    each(
        &[
            ("run git status", "git status"),
            ("Run git status.", "git status"),
            ("please run git status", "git status"),
            ("Could you run git status for me?", "git status"),
            ("run git log --oneline -n 5", "git log --oneline -n 5"),
            ("run git diff HEAD~1, please", "git diff HEAD~1"),
            ("run `ls -la`", "ls -la"),
            ("Run `ls -la`, please!", "ls -la"),
            ("execute `cargo build --release`", "cargo build --release"),
            ("please execute the command `rm -r old/`", "rm -r old/"),
            ("run the command \"npm run build\" in the terminal", "npm run build"),
            ("run \"git log -3\"", "git log -3"),
            ("run 'git log -3'", "git log -3"),
            ("run date in the terminal", "date"),
            ("in the terminal, run date", "date"),
            ("run ls -la in the shell and show me the output", "ls -la"),
            ("run pwd", "pwd"),
            ("run ls ..", "ls .."),
            ("Hi, can you run uname -a?", "uname -a"),
            ("would you mind running `uptime`?", "uptime"),
            ("I want you to run `echo \"hello, world\"`", "echo \"hello, world\""),
            ("run this command: `wc -l notes.txt | sort`", "wc -l notes.txt | sort"),
            ("run this:\n```sh\nls -la src\n```", "ls -la src"),
            ("open a terminal and run `whoami`", "whoami"),
            ("go ahead and run cargo test", "cargo test"),
            ("run npm run build now", "npm run build"),
            ("run make test", "make test"),
            ("run go test ./...", "go test ./..."),
            ("do a git status", "git status"),
            ("Run `./scripts/check.sh --fast` and tell me the result", "./scripts/check.sh --fast"),
            ("run `echo $HOME` here", "echo $HOME"),
        ],
        run,
    );
}

#[test]
fn commands_that_are_named_in_chinese_are_run_as_they_were_written() {
    each(
        &[
            ("运行 git status", "git status"),
            ("运行git status", "git status"),
            ("请运行 git status，谢谢", "git status"),
            ("帮我执行 `ls -la`", "ls -la"),
            ("执行 `ls -la`", "ls -la"),
            ("执行“git log -3”", "git log -3"),
            ("运行命令 `cargo build`", "cargo build"),
            ("请运行这条命令：`npm run build`", "npm run build"),
            ("在终端里运行 date", "date"),
            ("在终端里执行 `whoami`，告诉我结果", "whoami"),
            ("跑一下 cargo test", "cargo test"),
            ("跑一下 `make check` 看看结果", "make check"),
            ("能不能运行 `uname -a`", "uname -a"),
            ("能运行 git log -n 3 吗？", "git log -n 3"),
            ("把 `ls src` 跑一下", "ls src"),
            ("麻烦你执行一下 df -h", "df -h"),
            ("請執行 `ls`", "ls"),
            ("运行下面的命令：\n```\nls -la\n```", "ls -la"),
            ("打开终端，运行 `pwd`", "pwd"),
            ("运行一下 git diff 给我看看", "git diff"),
        ],
        run,
    );
}

#[test]
fn commands_that_run_on_are_started_in_the_background() {
    let serve = "python3 -m http.server 8000 --bind 127.0.0.1";
    each(
        &[
            ("run `npm run dev` in the background", "npm run dev"),
            ("start `npm run dev`", "npm run dev"),
            ("start npm run dev", "npm run dev"),
            ("run `sleep 100` and keep it running", "sleep 100"),
            ("keep `python3 -m http.server` running", "python3 -m http.server"),
            ("launch `cargo watch` as a background job, please", "cargo watch"),
            ("in the background, run `sleep 5`", "sleep 5"),
            ("Start a server in the background", serve),
            ("start a server and keep it running", serve),
            ("please start a simple web server", serve),
            ("launch a local server", serve),
            ("在后台运行 `npm run dev`", "npm run dev"),
            ("启动 `npm run dev`", "npm run dev"),
            ("运行 `sleep 100`，让它一直运行", "sleep 100"),
            ("让 `npm run dev` 在后台运行", "npm run dev"),
            ("把 `npm run dev` 放到后台运行", "npm run dev"),
            ("在后台启动一个服务器", serve),
            ("启动一个网页服务器", serve),
        ],
        start,
    );
}

#[test]
fn harmless_questions_have_a_fixed_command() {
    each(
        &[
            ("which version of git is here", "git --version"),
            ("What version of node do you have?", "node --version"),
            ("is python installed?", "python3 --version"),
            ("git version", "git --version"),
            ("show me the cargo version", "cargo --version"),
            ("which version of go is installed on this machine", "go version"),
            ("how much disk space is left", "df -h ."),
            ("How much free disk space is there on this machine?", "df -h ."),
            ("is the disk full?", "df -h ."),
            ("how much memory is free", "free -h"),
            ("what is the current branch", "git branch --show-current"),
            ("Which branch are we on?", "git branch --show-current"),
            ("show me the current git branch", "git branch --show-current"),
            ("which branches are there", "git branch --list"),
            ("what's the git status?", "git status"),
            ("are there uncommitted changes?", "git status"),
            ("which files have changed?", "git status"),
            ("show me the last commits", "git log --oneline -n 10"),
            ("how many commits are there", "git rev-list --count HEAD"),
            ("which operating system is this", "uname -a"),
            ("what is the working directory?", "pwd"),
            ("how many cpu cores does this machine have", "nproc"),
            ("how long has this machine been running", "uptime"),
            ("how big is this folder?", "du -sh ."),
            ("磁盘还剩多少空间", "df -h ."),
            ("硬盘还有多少可用空间？", "df -h ."),
            ("还剩多少内存", "free -h"),
            ("当前在哪个分支", "git branch --show-current"),
            ("我们现在在哪个分支上？", "git branch --show-current"),
            ("当前分支是什么", "git branch --show-current"),
            ("有哪些分支", "git branch --list"),
            ("git 是什么版本", "git --version"),
            ("这里的 node 版本是多少", "node --version"),
            ("装了 python 吗", "python3 --version"),
            ("仓库的状态怎么样", "git status"),
            ("有没有未提交的改动", "git status"),
            ("看看最近的提交", "git log --oneline -n 10"),
            ("这台机器是什么操作系统", "uname -a"),
            ("这台电脑有几个 cpu", "nproc"),
            ("这个文件夹有多大", "du -sh ."),
        ],
        run,
    );
}

#[test]
fn the_tests_of_a_project_can_be_run() {
    for text in [
        "run the tests",
        "Please run all tests.",
        "run the test suite and tell me if they pass",
        "could you run the unit tests?",
        "execute the tests",
        "start the tests",
        "do the tests pass?",
        "跑一下测试",
        "运行测试",
        "请执行所有测试",
        "把测试跑一遍",
        "运行单元测试，告诉我结果",
        "测试能通过吗",
    ] {
        assert_eq!(request(text), Some(CommandRequest::Tests { background: false }), "{text}");
    }
    assert_eq!(request("run the tests in the background"), Some(CommandRequest::Tests { background: true }));
}

#[test]
fn a_running_command_can_be_stopped_and_looked_at() {
    for text in [
        "stop it",
        "Stop the server, please",
        "press Ctrl-C",
        "hit ctrl+c",
        "kill the process",
        "please end the background job",
        "shut it down",
        "停掉它",
        "把服务器停掉",
        "停止服务器",
        "按 Ctrl-C",
        "请结束它",
    ] {
        assert_eq!(request(text), Some(CommandRequest::Stop), "{text}");
    }
    for text in [
        "is it still running?",
        "what does it say now?",
        "show me its output",
        "它还在运行吗",
        "看看它的输出",
        "服务器输出了什么",
    ] {
        assert_eq!(request(text), Some(CommandRequest::Look), "{text}");
    }
}

#[test]
fn the_requests_are_found_under_their_names() {
    all_mean(
        "run-command",
        &[
            "run git status",
            "run `ls`",
            "run the tests",
            "run a command",
            "run git push",
            "how much disk space is left",
            "which version of git is here",
            "what is the current branch",
            "run date in the terminal",
            "start a server in the background",
            "execute `make`",
            "please run `cargo check`",
            "运行 git status",
            "执行 `ls -la`",
            "跑一下测试",
            "磁盘还剩多少空间",
            "当前在哪个分支",
            "运行命令",
            "在后台运行 `sleep 5`",
            "在终端里运行 date",
        ],
    );
    assert_eq!(name_of("stop it").map(|(name, _)| name), Some("running-command"));
    // A question before the command goes first.
    assert_eq!(name_of("ask me before you run `ls`").map(|(name, _)| name), Some("approval"));
    assert_eq!(name_of("运行 `ls` 之前先问我").map(|(name, _)| name), Some("approval"));
}
