//! Lines that the judge takes for harmless, given to real shells: they start only commands that the judge saw.
//!
//! The only programs that the shells find are scripts that write down how they were called. As root the shells run as
//! another user.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use commands::{CommandEffect, CommandTable, JudgedCommand, judge_line};
use proptest::{prelude::*, sample::select, strategy::ValueTree as _, test_runner::TestRunner};
use support::Project;
use tempfile::TempDir;

/// Pieces of lines, without loops that could be endless. Those in capitals name programs that no table knows.
const PIECES: [&str; 83] = [
    "ls",
    "cat",
    "grep",
    "wc",
    "git status",
    "date",
    "head -3",
    "RUN",
    "RUN x",
    "rm -rf x",
    "touch x",
    "echo",
    "printf %s",
    "true",
    "false",
    ":",
    "test -f a.txt",
    "[ -f a.txt ]",
    "eval",
    "command",
    "cd src",
    "cd ..",
    "README.md",
    "a.txt",
    "*.txt",
    "s*",
    "-l",
    "-n",
    "'a b'",
    "\"a b\"",
    "'",
    "\"",
    "\\",
    "\\ ",
    "\\\n",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "!",
    "$(",
    "`",
    "<(",
    "$x",
    "${x}",
    "${x:-RUN}",
    "$((",
    "))",
    "$'",
    "$'\\x52UN'",
    "{a,b}",
    "{RUN,x}",
    "~",
    "#",
    " # ",
    "<",
    ">",
    "> /dev/null",
    "2>&1",
    "<<EOF",
    "EOF",
    "<<<",
    "if",
    "then",
    "else",
    "fi",
    "do",
    "done",
    "for i in",
    "in",
    "case",
    "esac",
    "x=1",
    "=",
    "function f",
    "f()",
];

const PROGRAMS: [&str; 12] =
    ["ls", "cat", "grep", "wc", "git", "date", "head", "RUN", "rm", "touch", "timeout", "bash"];

const BASH: &str = "/bin/bash";

struct Shells {
    folder: TempDir,
}

impl Shells {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["bin", "calls", "work", "work/src", "work/docs"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        for name in ["README.md", "a.txt", "b.txt", "src/main.rs"] {
            fs::write(path.join("work").join(name), "text\n").unwrap();
        }
        for name in PROGRAMS {
            let file = path.join("bin").join(name);
            fs::write(&file, "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" > \"$CALLS/$$\"\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(path.join("calls"), fs::Permissions::from_mode(0o777)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a line and returns the calls that were written down. Processes in the background are waited for.
    fn calls(&self, shell: &str, line: &str) -> Vec<Vec<String>> {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-s", "KILL", "2"]);
        if is_root() {
            command.args([
                "/usr/bin/setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--no-new-privs",
            ]);
        }
        command.args([shell, "-c", line, shell]).env_clear();
        // A folder for each line: a process that outlives its line must not be counted for the next one.
        let folder = tempfile::tempdir_in(self.path("calls")).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        command.env("PATH", self.path("bin")).env("CALLS", folder.path()).env("HOME", "~");
        command.current_dir(self.path("work")).stdin(Stdio::null()).stderr(Stdio::null());
        // The output is open until the last process has ended.
        command.output().unwrap();
        let mut calls = Vec::new();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            calls.push(text.split_terminator('\0').map(str::to_owned).collect());
        }
        calls
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Whether the words of a command, of which some stand for any number of words, are those of a call.
fn is_call(words: &[Option<String>], call: &[String]) -> bool {
    match (words.split_first(), call.split_first()) {
        (None, None) => true,
        (Some((Some(word), words)), Some((called, rest))) => word == called && is_call(words, rest),
        (Some((None, words)), _) => (0..=call.len()).any(|skipped| is_call(words, &call[skipped..])),
        _ => false,
    }
}

/// Whether the judge saw a call. Shells other than bash keep braces and `$'…'` as they are; of those calls the name is compared.
fn saw(commands: &[JudgedCommand], shell: &str, line: &str, call: &[String]) -> bool {
    let other_words = shell != BASH && (line.contains('{') || line.contains("$'"));
    commands.iter().any(|command| match (other_words, command.words.first()) {
        (true, Some(name)) => name.as_ref() == call.first(),
        _ => is_call(&command.words, call),
    })
}

fn lines() -> impl Strategy<Value = String> {
    let piece = (select(PIECES.to_vec()), select(vec![" ", " ", " ", ""]));
    prop::collection::vec(piece, 1..9).prop_map(|pieces| {
        pieces.into_iter().map(|(piece, blank)| format!("{piece}{blank}")).collect::<String>()
    })
}

fn can_run() -> bool {
    ["/usr/bin/timeout", BASH, "/bin/sh"].iter().all(|program| Path::new(program).exists())
        && (!is_root() || Path::new("/usr/bin/setpriv").exists())
}

#[test]
fn shells_start_only_what_the_judge_saw() {
    if !can_run() {
        eprintln!("skipped: needs bash, timeout and, for root, setpriv");
        return;
    }
    let wanted: usize = std::env::var("DIFFERENTIAL_LINES").map_or(60, |count| count.parse().unwrap());
    let shells = Shells::new();
    let mut runner = TestRunner::deterministic();
    let strategy = lines();
    let (mut compared, mut called) = (0, 0);
    while compared < wanted {
        let line = strategy.new_tree(&mut runner).unwrap().current();
        let judgement = judge_line(CommandTable::built_in(), &line, "", &Project::default());
        if judgement.effect != CommandEffect::ReadOnly || judgement.commands.len() < 2 {
            continue;
        }
        compared += 1;
        for shell in [BASH, "/bin/sh"] {
            for call in shells.calls(shell, &line) {
                called += 1;
                assert!(
                    saw(&judgement.commands, shell, &line, &call),
                    "{shell} {line:?} started {call:?}: {judgement:#?}"
                );
            }
        }
    }
    assert!(called > wanted / 2, "only {called} programs were started by {compared} lines");
}

/// The judge also finds the commands in the lines that it does not take for harmless, as far as it understands them.
#[test]
fn understood_lines_start_only_what_the_judge_saw() {
    if !can_run() {
        eprintln!("skipped: needs bash, timeout and, for root, setpriv");
        return;
    }
    let wanted: usize = std::env::var("DIFFERENTIAL_LINES").map_or(60, |count| count.parse().unwrap());
    let shells = Shells::new();
    let mut runner = TestRunner::deterministic();
    let strategy = lines();
    let (mut compared, mut called) = (0, 0);
    while compared < wanted {
        let line = strategy.new_tree(&mut runner).unwrap().current();
        let judgement = judge_line(CommandTable::built_in(), &line, "", &Project::default());
        let doubtful = judgement.commands.iter().any(|command| command.rule.starts_with("line/"));
        if judgement.effect == CommandEffect::ReadOnly || doubtful {
            continue;
        }
        compared += 1;
        for shell in [BASH, "/bin/sh"] {
            for call in shells.calls(shell, &line) {
                called += 1;
                assert!(
                    saw(&judgement.commands, shell, &line, &call),
                    "{shell} {line:?} started {call:?}: {judgement:#?}"
                );
            }
        }
    }
    assert!(called > wanted / 4, "only {called} programs were started by {compared} lines");
}
