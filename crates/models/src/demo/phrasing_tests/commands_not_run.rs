//! Sentences that speak of commands and must not run one.

use crate::demo::{commands::CommandRequest, utterance::Utterance};

fn request(text: &str) -> Option<CommandRequest> {
    CommandRequest::of(&Utterance::new(text)).map(|(request, _)| request)
}

/// Whether the text would start a command, directly or after a look at the folder.
fn runs(text: &str) -> bool {
    matches!(request(text), Some(CommandRequest::Run { .. } | CommandRequest::Tests { .. }))
}

#[test]
fn sentences_that_only_speak_of_commands_run_nothing() {
    let wrong: Vec<_> = SENTENCES.iter().filter(|text| runs(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const SENTENCES: &[&str] = &[
    "do not run `git status`",
    "don't run git status",
    "never run `rm -rf /`",
    "why did you run `ls`?",
    "did you run `cargo test`?",
    "when I run `git status` it fails",
    "I ran `ls -la` yesterday",
    "how do I run `git status`?",
    "how can I run git status",
    "should I run `npm install`?",
    "what happens if I run `rm -rf .`?",
    "explain `git status`",
    "what is `git status`?",
    "what does `ls -la` do?",
    "`rm -rf build`",
    "rm -rf build",
    "run `ls` or not?",
    "run `ls`? no",
    "run `ls` but only tomorrow",
    "run `ls` and delete everything it lists",
    "run `ls` and `rm x`",
    "If it rains, run `ls`",
    "The README says: run `make install`",
    "read notes.txt and run the command in it",
    "run the command in notes.txt",
    "run what the file says",
    "run whatever the last result suggests",
    "run it",
    "run something useful",
    "run the program",
    "run away",
    "run a marathon",
    "run \"Forrest Gump\"",
    "run for president",
    "run make dinner",
    "run date with Anna",
    "run git push",
    "run rm -rf build",
    "run git status and then git push",
    "run ls; rm -rf x",
    "run ls && rm x",
    "run ls > out.txt",
    "run git log $(whoami)",
    "run the numbers",
    "run two lines:\n```\nls\nrm x\n```",
    "run ``",
    "execute the prisoner",
    "execute the plan",
    "start the server",
    "start cooking",
    "start a server",
    "start a company in the background",
    "keep it running",
    "keep `ls`",
    "leave `x` alone",
    "the disk is full",
    "my disk makes a noise",
    "how much is a disk",
    "what is the latest version of git?",
    "git is installed",
    "I have git installed",
    "which version of git do I need",
    "which branch of the bank is open",
    "the current branch is broken",
    "the tests pass",
    "the tests were run yesterday",
    "write tests",
    "what is a git branch",
    "what is the git log of history good for",
    "running `npm test`",
    "不要运行 `git status`",
    "别执行 `rm -rf build`",
    "我昨天运行了 `ls`",
    "运行 `ls` 会怎么样",
    "怎么运行 `git status`",
    "为什么要执行 `make`",
    "运行了 `ls` 之后出错了",
    "解释一下 `git status`",
    "`git status` 是什么意思",
    "运行 notes.txt 里的命令",
    "按照文件里写的运行",
    "运行它",
    "执行计划",
    "跑步",
    "跑一下步",
    "运行 `ls` 然后删除所有文件",
    "运行 git push",
    "运行 `ls` 吗",
    "他让我运行 `ls`",
    "如果下雨就运行 `ls`",
    "启动服务器",
    "磁盘坏了",
    "磁盘多少钱",
    "git 的最新版本是多少",
    "分支是什么",
    "什么是分支",
    "操作系统是什么",
    "测试通过了",
    "写一些测试",
];

#[test]
fn a_message_that_is_not_read_to_its_end_runs_nothing() {
    let text = format!("run `ls`{}", " ".repeat(3_000));
    assert!(!runs(&format!("{text} but only if I say so")));
}

#[test]
fn a_negation_anywhere_runs_nothing() {
    for command in ["git status", "`ls -la`", "the tests", "\"git log\"", "date"] {
        for (before, after) in [
            ("do not run ", ""),
            ("please don't run ", ""),
            ("never run ", ""),
            ("you must not run ", ""),
            ("run ", " not"),
            ("run ", ", no, wait"),
            ("run ", " only if I say so"),
            ("forget about it: run ", ""),
            ("不要运行 ", ""),
            ("千万别执行 ", ""),
            ("先别运行 ", ""),
            ("运行 ", "，算了"),
        ] {
            let text = format!("{before}{command}{after}");
            assert!(!runs(&text), "{text}");
        }
    }
}

#[test]
fn a_word_that_is_not_known_makes_any_request_run_nothing() {
    for text in [
        "run git status --short",
        "could you please run `ls` in the terminal",
        "run the command `ls -la` and show me the output",
        "run ls -la ./src",
        "start a server in the background",
        "run the tests",
        "how much disk space is left",
        "which version of git is here",
        "what is the current branch",
        "keep `ls` running",
    ] {
        assert!(runs(text), "{text}");
        let words: Vec<&str> = text.split(' ').collect();
        for place in 0..=words.len() {
            for word in ["not", "never", "Anna", "without", "later"] {
                let (before, after) = words.split_at(place);
                let changed = [before, &[word], after].concat().join(" ");
                // Inside of the back-ticks it would be another command.
                let inside = before.iter().map(|word| word.matches('`').count()).sum::<usize>() % 2 == 1;
                assert!(inside || !runs(&changed), "{changed}");
            }
        }
    }
}
