//! Lines that are made to cost time or memory are judged quickly, on a small stack, and never taken for harmless when they
//! were not examined to the end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use std::thread;

use commands::{CommandEffect, CommandTable, Judgement, MAX_LINE_BYTES, judge_line};
use support::Project;
use test_support::cpu_time;

fn judge(line: &str) -> Judgement {
    judge_line(CommandTable::built_in(), line, "", &Project::default())
}

fn hard_lines() -> Vec<String> {
    let nested_lines =
        (0..8).fold("ls".to_owned(), |line, _| format!("sh -c '{}'", line.replace('\'', r"'\''")));
    vec![
        format!("ls {}", "{".repeat(16_000)),
        format!("ls {}", "{a,b}".repeat(60)),
        "$(".repeat(8000),
        format!("echo {}{}", "$(echo ".repeat(2000), ")".repeat(2000)),
        format!("{}ls", "ls|".repeat(5000)),
        format!("{}ls", "ls && ".repeat(2500)),
        format!("{}ls", "ls || ".repeat(2500)),
        "(".repeat(16_000),
        "( ".repeat(8000),
        format!("cat {}", "<<a ".repeat(4000)),
        "cat <<A\nx\nA\n".repeat(1200),
        "ls;".repeat(5400),
        "`ls`".repeat(4000),
        format!("{}ls", "env ".repeat(4000)),
        format!("{}ls", "timeout 5 ".repeat(1600)),
        "xargs ".repeat(2500),
        "sh -c ".repeat(2700),
        "if ls; then ".repeat(1200),
        "case x in ".repeat(1500),
        "a=(".repeat(4000),
        "${x:-".repeat(3000),
        format!("{}cd x{}", "while ls; do ".repeat(20), "; done".repeat(20)),
        "while cd a; do cd b; cd c; cd d; done;".repeat(20),
        nested_lines,
        "x".repeat(MAX_LINE_BYTES + 1),
    ]
}

#[test]
fn hard_lines_are_judged_quickly_on_a_small_stack() {
    let judge_all = || {
        for line in hard_lines() {
            let (judgement, took) = cpu_time(|| judge(&line));
            let beginning: String = line.chars().take(40).collect();
            assert!(took.as_secs() < 10, "{beginning} took {took:?}");
            assert!(judgement.effect > CommandEffect::ReadOnly, "{beginning}");
            assert!(judgement.commands.len() <= 2500, "{beginning}");
        }
    };
    thread::Builder::new().stack_size(1024 * 1024).spawn(judge_all).unwrap().join().unwrap();
}

#[test]
fn long_lines_that_only_read_are_judged_quickly() {
    let lines = [
        format!("ls {}", "a ".repeat(8000)),
        format!("cat {}", "a* ".repeat(5000)),
        format!("ls {}b{}", "{a,".repeat(60), "}".repeat(60)),
        format!("find . {}", "-exec ls {} + ".repeat(1000)),
        format!("ls {}", "\\'".repeat(8000)),
        "\n".repeat(16_000),
    ];
    for line in lines {
        let (judgement, took) = cpu_time(|| judge(&line));
        let beginning: String = line.chars().take(40).collect();
        assert!(took.as_secs() < 10, "{beginning} took {took:?}");
        assert_eq!(judgement.effect, CommandEffect::ReadOnly, "{beginning}");
    }
}
