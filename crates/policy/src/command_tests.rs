//! A table of lines, rules and verdicts.

use commands::{CommandTable, PathPlace, Surroundings, judge_line};
use protocol::{
    RuleId,
    policy::{ApprovalMode, CallPattern, Rule, RuleEffect, RuleLayer, Verdict},
};

use crate::{Need, RuleSet};

use ApprovalMode::{Ask, AutoReadOnly, Yolo};

/// Every relative path is in the work directory, every other one outside.
struct Around;

impl Surroundings for Around {
    fn place(&self, cwd: &str, written: &str) -> PathPlace {
        match written {
            "/dev/null" => PathPlace::Null,
            path if path.starts_with('/') || path.split('/').any(|part| part == "..") => PathPlace::Outside,
            "." => PathPlace::Workspace(cwd.to_owned()),
            path if cwd.is_empty() => PathPlace::Workspace(path.trim_start_matches("./").to_owned()),
            path => PathPlace::Workspace(format!("{cwd}/{path}")),
        }
    }

    fn read_small(&self, _: &str) -> Option<String> {
        None
    }

    fn home(&self) -> Option<&str> {
        Some("/home/a")
    }
}

/// Reads a rule: `<layer> <effect> command <words>` or `<layer> <effect> path <glob>` or `<layer> <effect> tool <name>`.
fn rule(text: &str) -> (RuleLayer, Rule) {
    let words: Vec<&str> = text.splitn(4, ' ').collect();
    let [layer, effect, kind, value] = words[..] else { panic!("{text}") };
    let layer = match layer {
        "server" => RuleLayer::Server,
        "workspace" => RuleLayer::Workspace,
        "session" => RuleLayer::Session,
        other => panic!("{other}"),
    };
    let effect = match effect {
        "allow" => RuleEffect::Allow,
        "ask" => RuleEffect::Ask,
        "refuse" => RuleEffect::Refuse,
        other => panic!("{other}"),
    };
    let value = value.to_owned();
    let calls = match kind {
        "command" => CallPattern { command: Some(value), ..CallPattern::default() },
        "path" => CallPattern { path: Some(value), ..CallPattern::default() },
        "tool" => CallPattern::tool(&value),
        other => panic!("{other}"),
    };
    (layer, Rule { id: RuleId::new(text), effect, calls, note: None })
}

/// The short form: `run`, `ask <always>` or `ask -`, `sensitive`, `refuse`.
fn verdict(mode: ApprovalMode, rules: &[&str], line: &str) -> String {
    let set = RuleSet::new(mode, rules.iter().map(|text| rule(text)));
    let judgement = judge_line(CommandTable::built_in(), line, "", &Around);
    match set.judge("shell-command", &Need::Command(judgement)) {
        Verdict::Run => "run".to_owned(),
        Verdict::Ask { sensitive: true, grant, .. } => {
            assert_eq!(grant, None, "{line}");
            "sensitive".to_owned()
        }
        Verdict::Ask { grant, .. } => {
            format!("ask {}", grant.and_then(|grant| grant.command).unwrap_or_else(|| "-".to_owned()))
        }
        Verdict::Refuse { .. } => "refuse".to_owned(),
    }
}

const TABLE: &[(ApprovalMode, &[&str], &str, &str)] = &[
    // The modes.
    (AutoReadOnly, &[], "ls -la src", "run"),
    (Ask, &[], "ls -la src", "ask ls"),
    (Yolo, &[], "ls -la src", "run"),
    (AutoReadOnly, &[], "cargo test", "ask cargo test"),
    (Yolo, &[], "cargo test", "run"),
    (Yolo, &[], "sudo ls", "refuse"),
    (Yolo, &[], "rm -rf build", "sensitive"),
    (Yolo, &[], "rm -rf /", "refuse"),
    // What "always" allows.
    (AutoReadOnly, &["session allow command cargo test"], "cargo test --all", "run"),
    (AutoReadOnly, &["session allow command cargo test"], "cargo publish", "sensitive"),
    (AutoReadOnly, &["session allow command cargo test"], "cargo test > out.txt", "ask -"),
    (AutoReadOnly, &["session allow command cargo test"], "cargo test && rm -rf x", "sensitive"),
    (AutoReadOnly, &["session allow command cargo test"], "cargo test && npm test", "ask -"),
    (AutoReadOnly, &["session allow command cargo"], "cargotest", "ask -"),
    (AutoReadOnly, &["session allow command rm"], "rm -rf build", "sensitive"),
    (AutoReadOnly, &["workspace allow tool shell-command"], "npm test", "run"),
    (AutoReadOnly, &["workspace allow tool shell-command"], "sudo ls", "refuse"),
    // Layers: refuse wins, then the strongest layer.
    (Yolo, &["server refuse command git push"], "git push origin main", "refuse"),
    (Yolo, &["server refuse command git push"], "echo a && git push --force", "refuse"),
    (Yolo, &["server refuse command git push", "session allow command git push"], "git push", "refuse"),
    (Yolo, &["server ask command npm"], "npm test", "ask -"),
    (Yolo, &["server ask command npm", "session allow command npm test"], "npm test", "run"),
    (AutoReadOnly, &["server ask command ls"], "ls", "ask -"),
    // Paths of a line.
    (AutoReadOnly, &[], "cat .env", "ask -"),
    (AutoReadOnly, &["session allow path .env"], "cat .env", "ask -"),
    (AutoReadOnly, &["server refuse path vendor/**"], "cat vendor/a.txt", "refuse"),
    (AutoReadOnly, &["server ask path vendor/**"], "cat vendor/a.txt", "ask -"),
    (Yolo, &["server refuse path vendor/**"], "touch vendor/a.txt", "refuse"),
    (Yolo, &[], "echo x > .git/config", "refuse"),
    (Yolo, &[], "echo x > .envrc", "sensitive"),
    (Yolo, &[], "cat .env", "run"),
];

#[test]
fn lines_get_their_verdicts() {
    let mut wrong = Vec::new();
    for (mode, rules, line, expected) in TABLE {
        let verdict = verdict(*mode, rules, line);
        if verdict != *expected {
            wrong.push(format!("{mode:?} {rules:?} {line}: {verdict}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_that_asks_for_the_network_is_not_allowed_by_its_words() {
    let set = RuleSet::new(AutoReadOnly, [rule("session allow command cargo test")]);
    let line = || judge_line(CommandTable::built_in(), "cargo test", "", &Around);
    assert_eq!(set.judge("shell", &Need::Command(line())), Verdict::Run);
    let asked = set.judge("shell", &Need::Command(line().with_network()));
    assert!(matches!(asked, Verdict::Ask { grant: None, .. }), "{asked:?}");
    // Reading over the network is not reading.
    let list = judge_line(CommandTable::built_in(), "ls", "", &Around).with_network();
    assert!(matches!(set.judge("shell", &Need::Command(list)), Verdict::Ask { .. }));
}
