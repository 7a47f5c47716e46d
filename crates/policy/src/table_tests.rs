//! A table of calls and their verdicts.

use protocol::{
    RuleId,
    policy::{ApprovalMode, CallPattern, Rule, RuleEffect, RuleLayer, Verdict},
};

use crate::{Need, RuleSet};

use ApprovalMode::{Ask, AutoReadOnly, Yolo};

/// The short form of a verdict: `run`; `ask <grant>` or `ask -` (no "always"); `sensitive`; `refuse`.
fn short(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Run => "run".to_owned(),
        Verdict::Ask { sensitive: true, grant: None, .. } => "sensitive".to_owned(),
        Verdict::Ask { sensitive: true, grant: Some(grant), .. } => {
            format!("sensitive with a grant: {grant:?}")
        }
        Verdict::Ask { grant: None, .. } => "ask -".to_owned(),
        Verdict::Ask { grant: Some(grant), .. } => {
            format!("ask {}:{}", grant.tools.join("+"), grant.path.as_deref().unwrap_or_default())
        }
        Verdict::Refuse { .. } => "refuse".to_owned(),
    }
}

/// Reads a rule: `<layer> <effect> <tools> <path>`, where `-` stands for an absent field.
fn rule(text: &str) -> (RuleLayer, Rule) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [layer, effect, tools, path] = words[..] else { panic!("{text}") };
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
    let tools = if tools == "-" { Vec::new() } else { tools.split(',').map(str::to_owned).collect() };
    let path = (path != "-").then(|| path.to_owned());
    let calls = CallPattern { tools, path, command: None };
    (layer, Rule { id: RuleId::new(format!("rul_{text}")), effect, calls, note: None })
}

/// Reads a call: `<tool> <kind> <path>…`.
fn call(text: &str) -> (String, Need) {
    let mut words = text.split_whitespace();
    let tool = words.next().unwrap().to_owned();
    let kind = words.next().unwrap();
    let paths: Vec<String> =
        words.map(|path| if path == "." { String::new() } else { path.to_owned() }).collect();
    let need = match kind {
        "nothing" => Need::Nothing,
        "read" => Need::Read { paths },
        "write" => Need::Write { paths, why: "It changes files.".to_owned() },
        "approval" => Need::Approval { why: "It does something.".to_owned(), always: true },
        "approval-once" => Need::Approval { why: "It does something.".to_owned(), always: false },
        "refused" => Need::Refused { why: "It never runs.".to_owned() },
        other => panic!("{other}"),
    };
    (tool, need)
}

const WRITERS: &str = "write-file+edit-file+apply-patch";
const READERS: &str = "read-file+list-dir+grep-files+glob-files";

/// Mode, rules, call, verdict. In the verdict `W` and `R` stand for the writing and the reading tools.
const TABLE: &[(ApprovalMode, &[&str], &str, &str)] = &[
    // The modes.
    (Ask, &[], "time-now nothing", "run"),
    (AutoReadOnly, &[], "time-now nothing", "run"),
    (Yolo, &[], "time-now nothing", "run"),
    (Ask, &[], "read-file read src/a.rs", "ask R:src/**"),
    (Ask, &[], "read-file read README.md", "ask R:README.md"),
    (Ask, &[], "list-dir read src", "ask R:src/**"),
    (Ask, &[], "list-dir read .", "ask R:**"),
    (Ask, &[], "grep-files read .", "ask R:**"),
    (Ask, &[], "grep-files read a/b", "ask R:a/b/**"),
    (Ask, &[], "read-file read", "ask -"),
    (AutoReadOnly, &[], "read-file read src/a.rs", "run"),
    (AutoReadOnly, &[], "read-file read", "run"),
    (AutoReadOnly, &[], "list-dir read .", "run"),
    (Yolo, &[], "read-file read src/a.rs", "run"),
    (Ask, &[], "write-file write src/a.rs", "ask W:src/**"),
    (AutoReadOnly, &[], "write-file write src/a.rs", "ask W:src/**"),
    (AutoReadOnly, &[], "edit-file write src/deep/a.rs", "ask W:src/deep/**"),
    (AutoReadOnly, &[], "write-file write README.md", "ask W:README.md"),
    (AutoReadOnly, &[], "apply-patch write src/a.rs src/b.rs", "ask W:src/**"),
    (AutoReadOnly, &[], "apply-patch write src/a.rs docs/b.md", "ask -"),
    (AutoReadOnly, &[], "apply-patch write", "ask -"),
    (AutoReadOnly, &[], "other-writer write src/a.rs", "ask other-writer:src/**"),
    (AutoReadOnly, &[], "write-file write app/[id]/page.tsx", "ask W:app/[[]id[]]/**"),
    (Yolo, &[], "write-file write src/a.rs", "run"),
    (Yolo, &[], "apply-patch write", "run"),
    (Ask, &[], "test-approval approval", "ask test-approval:"),
    (AutoReadOnly, &[], "test-approval approval", "ask test-approval:"),
    (Yolo, &[], "test-approval approval", "run"),
    (Ask, &[], "pay approval-once", "sensitive"),
    (Yolo, &[], "pay approval-once", "sensitive"),
    (Yolo, &[], "bad refused", "refuse"),
    (Yolo, &["session allow * -"], "bad refused", "refuse"),
    // Rules that allow.
    (AutoReadOnly, &["session allow write-file src/**"], "write-file write src/a.rs", "run"),
    (AutoReadOnly, &["session allow write-file src/**"], "write-file write src/deep/a.rs", "run"),
    (
        AutoReadOnly,
        &["session allow write-file src/*"],
        "write-file write src/deep/a.rs",
        "ask W:src/deep/**",
    ),
    (AutoReadOnly, &["session allow write-file src/**"], "edit-file write src/a.rs", "ask W:src/**"),
    (AutoReadOnly, &["session allow write-file src/**"], "write-file write docs/a.md", "ask W:docs/**"),
    (AutoReadOnly, &["session allow write-file src/**"], "write-file write srcs/a.rs", "ask W:srcs/**"),
    (AutoReadOnly, &["session allow - src/**"], "apply-patch write src/a.rs src/b/c.rs", "run"),
    (AutoReadOnly, &["session allow - src/**"], "apply-patch write src/a.rs docs/b.md", "ask W:docs/**"),
    (
        AutoReadOnly,
        &["session allow - src/**", "session allow - docs/**"],
        "apply-patch write src/a.rs docs/b.md",
        "run",
    ),
    (AutoReadOnly, &["session allow - src"], "write-file write src/a.rs", "ask W:src/**"),
    (AutoReadOnly, &["session allow - src/"], "write-file write src/a.rs", "run"),
    (AutoReadOnly, &["session allow - /workspace/src/**"], "write-file write src/a.rs", "run"),
    (AutoReadOnly, &["workspace allow *-file -"], "write-file write src/a.rs", "run"),
    (AutoReadOnly, &["workspace allow *-file -"], "apply-patch write src/a.rs", "ask W:src/**"),
    (AutoReadOnly, &["server allow * -"], "apply-patch write src/a.rs", "run"),
    (AutoReadOnly, &["server allow * -"], "test-approval approval", "run"),
    (AutoReadOnly, &["server allow * src/**"], "test-approval approval", "ask test-approval:"),
    (AutoReadOnly, &["server allow * src/**"], "apply-patch write", "ask -"),
    (AutoReadOnly, &["session allow test-approval -"], "test-approval approval", "run"),
    (AutoReadOnly, &["session allow - SRC/**"], "write-file write src/a.rs", "ask W:src/**"),
    (Ask, &["session allow read-file src/**"], "read-file read src/a.rs", "run"),
    (Ask, &["session allow list-dir src/**"], "list-dir read src", "run"),
    (Ask, &["session allow list-dir **"], "list-dir read .", "run"),
    (Ask, &["session allow list-dir *"], "list-dir read .", "ask R:**"),
    (AutoReadOnly, &["session allow pay -"], "pay approval-once", "sensitive"),
    // Rules that ask.
    (Yolo, &["workspace ask - migrations/**"], "write-file write migrations/1.sql", "ask -"),
    (Yolo, &["workspace ask - migrations"], "write-file write migrations/1.sql", "ask -"),
    (Yolo, &["workspace ask - migrations/**"], "read-file read migrations/1.sql", "ask -"),
    (Yolo, &["workspace ask write-file migrations/**"], "read-file read migrations/1.sql", "run"),
    (Yolo, &["workspace ask - migrations/**"], "apply-patch write src/a migrations/1.sql", "ask -"),
    (Yolo, &["server ask time-now -"], "time-now nothing", "ask -"),
    (Yolo, &["server ask time-now src/**"], "time-now nothing", "run"),
    (Yolo, &["server ask test-approval -"], "test-approval approval", "ask -"),
    // Layers.
    (AutoReadOnly, &["session allow - a/**", "workspace ask - a/**"], "write-file write a/b", "run"),
    (AutoReadOnly, &["workspace allow - a/**", "session ask - a/**"], "write-file write a/b", "ask -"),
    (AutoReadOnly, &["workspace allow - a/**", "server ask - a/**"], "write-file write a/b", "run"),
    (AutoReadOnly, &["server allow - a/**", "workspace ask - a/**"], "write-file write a/b", "ask -"),
    (AutoReadOnly, &["session allow - a/**", "session ask - a/b"], "write-file write a/b", "ask -"),
    (AutoReadOnly, &["session allow - a/**", "session ask - a/b"], "write-file write a/c", "run"),
    // Refusals win in every layer.
    (Yolo, &["server refuse - a/**", "session allow * -"], "write-file write a/b", "refuse"),
    (Yolo, &["workspace refuse - a/**", "session allow - a/b"], "read-file read a/b", "refuse"),
    (Yolo, &["session refuse - a/**", "server allow - **"], "write-file write a/b", "refuse"),
    (Yolo, &["session refuse - a/**"], "list-dir read a", "refuse"),
    (Yolo, &["session refuse - a"], "list-dir read a", "refuse"),
    (Yolo, &["session refuse - a"], "read-file read a/b/c", "refuse"),
    (Yolo, &["session refuse - a"], "read-file read ab", "run"),
    (Yolo, &["session refuse - **"], "list-dir read .", "refuse"),
    (Yolo, &["session refuse - a/**"], "apply-patch write b a/c", "refuse"),
    (Yolo, &["session refuse time-* -"], "time-now nothing", "refuse"),
    (Yolo, &["server refuse pay -"], "pay approval-once", "refuse"),
    (Yolo, &["server refuse test-approval -"], "test-approval approval", "refuse"),
    (AutoReadOnly, &["server refuse * -"], "read-file read a", "refuse"),
    // Files that are executed or trusted later.
    (Yolo, &[], "write-file write .github/workflows/ci.yml", "sensitive"),
    (Yolo, &["session allow * -"], "write-file write .github/workflows/ci.yml", "sensitive"),
    (AutoReadOnly, &["session allow - AGENTS.md"], "edit-file write AGENTS.md", "sensitive"),
    (Yolo, &["session ask - AGENTS.md"], "edit-file write AGENTS.md", "sensitive"),
    (Yolo, &["session refuse - AGENTS.md"], "edit-file write AGENTS.md", "refuse"),
    (Yolo, &[], "apply-patch write src/a.rs .husky/pre-commit", "sensitive"),
    (Yolo, &[], "apply-patch write .git/config .husky/pre-commit", "refuse"),
    (Yolo, &["session allow * -"], "write-file write .git/hooks/pre-commit", "refuse"),
    (Yolo, &[], "write-file write SUB/.Git/config", "refuse"),
    (AutoReadOnly, &[], "read-file read .git/config", "run"),
    (AutoReadOnly, &[], "read-file read .github/workflows/ci.yml", "run"),
    (Yolo, &[], "any-tool write .concertino/x", "sensitive"),
    // Secrets.
    (AutoReadOnly, &[], "read-file read .env", "ask R:.env"),
    (AutoReadOnly, &[], "read-file read deploy/.env.production", "ask R:deploy/.env.production"),
    (AutoReadOnly, &[], "read-file read .env.example", "run"),
    (AutoReadOnly, &[], "read-file read src/a.rs tls/server.key", "ask R:tls/server.key"),
    (AutoReadOnly, &[], "read-file read .env tls/server.key", "ask -"),
    (Ask, &[], "read-file read src/a.rs .env", "ask -"),
    (Ask, &[], "read-file read .env", "ask R:.env"),
    (Yolo, &[], "read-file read .env", "run"),
    (Yolo, &[], "write-file write .env", "sensitive"),
    (AutoReadOnly, &["session allow - .env"], "read-file read .env", "run"),
    (AutoReadOnly, &["server allow - **/.env"], "read-file read a/.env", "run"),
    (AutoReadOnly, &["workspace allow - tls/*.pem"], "read-file read tls/a.pem", "run"),
    (AutoReadOnly, &["workspace allow - .ssh/**"], "read-file read .ssh/config", "run"),
    (AutoReadOnly, &["session allow - **"], "read-file read .env", "ask R:.env"),
    (AutoReadOnly, &["session allow * -"], "read-file read .env", "ask R:.env"),
    (AutoReadOnly, &["session allow - .env"], "write-file write .env", "sensitive"),
    (AutoReadOnly, &["session allow - .env", "server refuse - .env"], "read-file read .env", "refuse"),
    (AutoReadOnly, &["server allow - .env", "session ask - .env"], "read-file read .env", "ask -"),
    // Paths that the file access layer never returns.
    (Yolo, &[], "read-file read ../x", "refuse"),
    (Yolo, &[], "read-file read /etc/passwd", "refuse"),
    (Yolo, &[], "write-file write a/./b", "refuse"),
];

#[test]
fn calls_get_the_verdict_of_the_table() {
    assert!(TABLE.len() >= 80);
    let mut wrong = Vec::new();
    for (mode, rules, calls, expected) in TABLE {
        let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
        let (tool, need) = call(calls);
        let verdict = short(&RuleSet::new(*mode, rules.clone()).judge(&tool, &need));
        let verdict = verdict.replace(WRITERS, "W").replace(READERS, "R");
        if verdict != *expected {
            wrong.push(format!("{mode:?} {calls} with {rules:?}: {verdict}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn why(mode: ApprovalMode, rules: &[(RuleLayer, Rule)], tool: &str, need: &Need) -> String {
    match RuleSet::new(mode, rules.to_vec()).judge(tool, need) {
        Verdict::Run => "run".to_owned(),
        Verdict::Ask { why, .. } | Verdict::Refuse { why } => why,
    }
}

#[test]
fn the_reason_names_the_cause_in_a_plain_sentence() {
    let write = |path: &str| Need::Write { paths: vec![path.to_owned()], why: format!("It changes {path}.") };
    let read = |path: &str| Need::Read { paths: vec![path.to_owned()] };
    assert_eq!(why(AutoReadOnly, &[], "write-file", &write("src/main.rs")), "It changes src/main.rs.");
    assert_eq!(why(Ask, &[], "read-file", &read("src/main.rs")), "It reads src/main.rs.");
    assert_eq!(
        why(AutoReadOnly, &[], "read-file", &read(".env")),
        "It reads .env, which usually holds secrets."
    );
    assert_eq!(
        why(Yolo, &[rule("workspace ask - migrations/**")], "write-file", &write("migrations/1.sql")),
        "A rule of this workspace asks about every change below migrations/."
    );
    assert_eq!(
        why(Yolo, &[rule("server refuse - vendor/")], "read-file", &read("vendor/a")),
        "A rule of this server refuses reading below vendor/."
    );
    let mut noted = rule("session refuse shell -");
    noted.1.note = Some("We do this by hand.".to_owned());
    assert_eq!(
        why(Yolo, &[noted], "shell", &Need::Approval { why: String::new(), always: true }),
        "A rule of this chat refuses calls of shell. Its note: We do this by hand."
    );
}

#[test]
fn a_search_leaves_out_what_it_would_have_to_ask_about() {
    let set = |mode, rules: &[&str]| RuleSet::new(mode, rules.iter().map(|text| rule(text)));
    for (mode, rules, path, expected) in [
        (AutoReadOnly, &[][..], "src/a.rs", true),
        (Ask, &[], "src/a.rs", true),
        (AutoReadOnly, &[], ".env", false),
        (Ask, &[], "a/.env.local", false),
        (Yolo, &[], ".env", true),
        (AutoReadOnly, &[], ".env.example", true),
        (AutoReadOnly, &["workspace refuse - private/**"], "private/a", false),
        (AutoReadOnly, &["workspace ask - private/**"], "private/a", false),
        (AutoReadOnly, &["workspace refuse write-file private/**"], "private/a", true),
        (AutoReadOnly, &["workspace refuse read-file private/**"], "private/a", false),
        (AutoReadOnly, &["workspace allow grep-files .env"], ".env", false),
        (AutoReadOnly, &["workspace allow - .env"], ".env", true),
        (AutoReadOnly, &["workspace allow - **"], ".env", false),
        (AutoReadOnly, &["workspace ask - private/**", "session allow - private/**"], "private/a", true),
        (Yolo, &[], "../a", false),
    ] {
        assert_eq!(set(mode, rules).may_read(path), expected, "{mode:?} {rules:?} {path}");
    }
}

#[test]
fn a_rule_that_cannot_be_compiled_allows_nothing_and_forbids_what_it_could_be_about() {
    let broken = |effect: &str| rule(&format!("session {effect} write-file [a"));
    let write = Need::Write { paths: vec!["a".to_owned()], why: String::new() };
    let verdict = |effect: &str, tool: &str| short(&RuleSet::new(Yolo, [broken(effect)]).judge(tool, &write));
    assert_eq!(verdict("refuse", "write-file"), "refuse");
    assert_eq!(verdict("refuse", "edit-file"), "run");
    assert_eq!(
        short(&RuleSet::new(AutoReadOnly, [broken("allow")]).judge("write-file", &write)),
        format!("ask {WRITERS}:a")
    );
}

#[test]
fn rules_for_commands_do_not_cover_files() {
    let mut commands = rule("session allow - -");
    commands.1.calls.command = Some("ls".to_owned());
    let (tool, need) = call("write-file write src/a");
    assert_eq!(
        short(&RuleSet::new(AutoReadOnly, [commands]).judge(&tool, &need)),
        format!("ask {WRITERS}:src/**")
    );
}

#[test]
fn a_layer_can_be_replaced() {
    let (tool, need) = call("write-file write src/a");
    let base = RuleSet::new(AutoReadOnly, [rule("workspace allow - src/**")]);
    assert_eq!(base.judge(&tool, &need), Verdict::Run);
    let (_, refuse) = rule("session refuse - src/a");
    let with = base.with(RuleLayer::Session, [refuse]);
    assert_eq!(short(&with.judge(&tool, &need)), "refuse");
    assert_eq!(with.with(RuleLayer::Session, []).judge(&tool, &need), Verdict::Run);
    assert_eq!(
        short(&base.with(RuleLayer::Workspace, []).judge(&tool, &need)),
        format!("ask {WRITERS}:src/**")
    );
    assert_eq!(with.mode(), AutoReadOnly);
}
