//! Shell lines: any text.

use commands::{CommandEffect, CommandTable, Judgement, PathPlace, Surroundings, judge_line};

/// A work directory without links, in which everything exists.
struct AnyFolder;

impl Surroundings for AnyFolder {
    fn place(&self, cwd: &str, written: &str) -> PathPlace {
        if written.starts_with('/') {
            return if written == "/dev/null" { PathPlace::Null } else { PathPlace::Outside };
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in cwd.split('/').chain(written.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => return PathPlace::Outside,
                ".." => {}
                part => parts.push(part),
            }
        }
        PathPlace::Workspace(parts.join("/"))
    }

    fn read_small(&self, path: &str) -> Option<String> {
        matches!(path, ".git/HEAD" | ".git/config").then(|| "[core]\n\tbare = false\n".to_owned())
    }

    fn home(&self) -> Option<&str> {
        Some("/home/somebody")
    }
}

fn judged(line: &str) -> Judgement {
    judge_line(CommandTable::built_in(), line, "", &AnyFolder)
}

/// A name that no table has.
const UNKNOWN: &str = "zzunknown";

/// Checks three things: judging a line twice gives the same judgement; a line with an unknown command is never read-only,
/// wherever that command stands; a line that is not read-only does not become so inside of another line.
pub fn commands(input: &[u8]) {
    let Ok(line) = std::str::from_utf8(input) else { return };
    let judgement = judged(line);
    assert_eq!(judgement, judged(line), "the same line gets the same judgement");
    assert!(!judgement.why.is_empty() && !judgement.rule.is_empty());
    let strictest = judgement.commands.iter().map(|command| command.effect).max();
    assert_eq!(judgement.effect, strictest.unwrap_or_default(), "the strictest command decides");
    for command in &judgement.commands {
        assert!(command.range.start <= command.range.end && command.range.end <= line.len(), "{command:?}");
        let name = command.words.first().map(|name| name.as_deref().unwrap_or(UNKNOWN));
        let known = name
            .is_none_or(|name| CommandTable::built_in().knows(name.rsplit('/').next().unwrap_or_default()));
        assert!(known || command.effect > CommandEffect::ReadOnly, "{line:?} {command:?}");
    }
    if judgement.effect == CommandEffect::ReadOnly {
        assert!(judgement.writes.is_empty() && !judgement.network, "{line:?} {judgement:?}");
        with_unknown(line);
    } else if !judgement.commands.iter().any(|command| command.rule.starts_with("line/")) {
        wrapped(line);
    }
}

fn with_unknown(line: &str) {
    let mut lines =
        vec![format!("{line}\n{UNKNOWN}"), format!("{UNKNOWN}\n{line}"), format!("$({line}\n{UNKNOWN}\n)")];
    // A comment would hide what follows it.
    if !line.contains('#') && !line.trim().is_empty() {
        let behind = [";", "|", "&&", "||", "&", "|&"].map(|sign| format!("{line} {sign} {UNKNOWN}"));
        let before = [";", "|", "&&", "||", "&"].map(|sign| format!("{UNKNOWN} {sign} {line}"));
        lines.extend(behind.into_iter().chain(before));
        lines.extend([
            format!("{line} $({UNKNOWN})"),
            format!("{line} `{UNKNOWN}`"),
            format!("{line} \"$({UNKNOWN})\""),
        ]);
    }
    for line in lines {
        assert_ne!(judged(&line).effect, CommandEffect::ReadOnly, "{line:?}");
    }
}

fn wrapped(line: &str) {
    let lines = [
        format!("( {line}\n)"),
        format!("{{ {line}\n}}"),
        format!("true && {line}"),
        format!("$({line}\n)"),
        format!("echo \"$({line}\n)\""),
        format!("if true; then {line}\nfi"),
        format!("cat <({line}\n)"),
    ];
    for line in lines {
        assert_ne!(judged(&line).effect, CommandEffect::ReadOnly, "{line:?}");
    }
}
