//! What holds for all rules and calls.

use proptest::{collection::vec, prelude::*, sample::select};
use protocol::{
    RuleId,
    policy::{ApprovalMode, CallPattern, Rule, RuleEffect, RuleLayer, Verdict},
};

use crate::{Need, RuleSet, check};

const TOOLS: [&str; 5] = ["read-file", "write-file", "apply-patch", "grep-files", "test-approval"];
const PATHS: [&str; 14] = [
    "",
    "a",
    "a/b",
    "a/b/c.rs",
    "a/[x]/y",
    "d/e.md",
    "README.md",
    ".env",
    "a/.env.local",
    "AGENTS.md",
    ".git/config",
    ".github/workflows/ci.yml",
    ".ssh/id_rsa",
    "a/b/.npmrc",
];
const GLOBS: [&str; 14] = [
    "**",
    "*",
    "a",
    "a/",
    "a/**",
    "a/*",
    "**/*.rs",
    "d/e.md",
    ".env",
    "**/.env*",
    "AGENTS.md",
    ".ssh/**",
    "a/[[]x[]]/**",
    "{a,d}/**",
];
const TOOL_PATTERNS: [&str; 5] = ["*", "read-file", "*-file", "apply-patch", "test-approval"];
const LAYERS: [RuleLayer; 3] = [RuleLayer::Server, RuleLayer::Workspace, RuleLayer::Session];
const EFFECTS: [RuleEffect; 3] = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Refuse];

fn rule() -> impl Strategy<Value = Rule> {
    let tools = vec(select(&TOOL_PATTERNS[..]).prop_map(str::to_owned), 0..3);
    let path = proptest::option::of(select(&GLOBS[..]).prop_map(str::to_owned));
    (0u32..10_000, select(&EFFECTS[..]), tools, path).prop_map(|(id, effect, tools, path)| Rule {
        id: RuleId::new(format!("rul_{id}")),
        effect,
        calls: CallPattern { tools, path, command: None },
        note: None,
    })
}

fn rules() -> impl Strategy<Value = Vec<(RuleLayer, Rule)>> {
    vec((select(&LAYERS[..]), rule()), 0..6)
}

fn need() -> impl Strategy<Value = Need> {
    let paths = || vec(select(&PATHS[..]).prop_map(str::to_owned), 0..4);
    prop_oneof![
        Just(Need::Nothing),
        paths().prop_map(|paths| Need::Read { paths }),
        paths().prop_map(|paths| Need::Write { paths, why: "It changes files.".to_owned() }),
        any::<bool>().prop_map(|always| Need::Approval { why: "It acts.".to_owned(), always }),
        Just(Need::Refused { why: "Never.".to_owned() }),
    ]
}

fn mode() -> impl Strategy<Value = ApprovalMode> {
    select(&ApprovalMode::ALL[..])
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(&TOOLS[..])
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Run => 0,
        Verdict::Ask { sensitive, .. } => 1 + u8::from(*sensitive),
        Verdict::Refuse { .. } => 3,
    }
}

/// Whether a rule covers a call at all: alone, in the strongest layer, it would refuse it.
fn covers(rule: &Rule, tool: &str, need: &Need) -> bool {
    let refusing = Rule { effect: RuleEffect::Refuse, ..rule.clone() };
    let without = RuleSet::new(ApprovalMode::Yolo, []).judge(tool, need);
    let with = RuleSet::new(ApprovalMode::Yolo, [(RuleLayer::Session, refusing)]).judge(tool, need);
    with != without
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_global_rejects: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_that_refuses_never_makes_a_verdict_weaker(
        mode in mode(), rules in rules(), tool in tool(), need in need(), layer in select(&LAYERS[..]), added in rule(),
    ) {
        let before = RuleSet::new(mode, rules.clone()).judge(tool, &need);
        let added = Rule { effect: RuleEffect::Refuse, ..added };
        let covers = covers(&added, tool, &need);
        let after = RuleSet::new(mode, rules.into_iter().chain([(layer, added)])).judge(tool, &need);
        prop_assert!(strictness(&after) >= strictness(&before));
        if covers {
            prop_assert_eq!(strictness(&after), 3);
        }
    }

    #[test]
    fn a_rule_that_does_not_cover_the_call_does_not_matter(
        mode in mode(), rules in rules(), tool in tool(), need in need(), layer in select(&LAYERS[..]), added in rule(),
    ) {
        prop_assume!(!covers(&added, tool, &need) && !matches!(need, Need::Refused { .. }));
        // A refusal that is there already hides whether the rule covers the call.
        let bare = RuleSet::new(ApprovalMode::Yolo, []).judge(tool, &need);
        prop_assume!(strictness(&bare) < 3);
        let before = RuleSet::new(mode, rules.clone()).judge(tool, &need);
        let after = RuleSet::new(mode, rules.into_iter().chain([(layer, added)])).judge(tool, &need);
        prop_assert_eq!(after, before);
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        mode in mode(), rules in rules(), tool in tool(), need in need(), turn in 0usize..6,
    ) {
        let before = RuleSet::new(mode, rules.clone()).judge(tool, &need);
        let mut turned = rules.clone();
        turned.reverse();
        prop_assert_eq!(&RuleSet::new(mode, turned).judge(tool, &need), &before);
        let mut turned = rules;
        let by = turn.min(turned.len());
        turned.rotate_left(by);
        prop_assert_eq!(RuleSet::new(mode, turned).judge(tool, &need), before);
    }

    #[test]
    fn what_is_sensitive_never_runs_and_offers_no_always(
        mode in mode(), rules in rules(), tool in tool(), need in need(),
    ) {
        let bare = RuleSet::new(ApprovalMode::Yolo, []).judge(tool, &need);
        let verdict = RuleSet::new(mode, rules).judge(tool, &need);
        if strictness(&bare) >= 2 {
            prop_assert!(strictness(&verdict) >= strictness(&bare));
        }
        if let Verdict::Ask { sensitive: true, grant, .. } = verdict {
            prop_assert_eq!(grant, None);
        }
    }

    #[test]
    fn always_is_a_valid_rule_after_which_the_same_call_runs(
        mode in mode(), rules in rules(), tool in tool(), need in need(),
    ) {
        let set = RuleSet::new(mode, rules.clone());
        if let Verdict::Ask { grant: Some(grant), .. } = set.judge(tool, &need) {
            prop_assert_eq!(check(&grant), Ok(()));
            let allow = Rule { id: RuleId::new("rul_new"), effect: RuleEffect::Allow, calls: grant, note: None };
            let after = RuleSet::new(mode, rules.into_iter().chain([(RuleLayer::Session, allow)]));
            prop_assert_eq!(after.judge(tool, &need), Verdict::Run);
        }
    }

    #[test]
    fn several_paths_are_judged_as_strictly_as_the_strictest(
        mode in mode(), rules in rules(), tool in tool(), paths in vec(select(&PATHS[..]), 1..4),
    ) {
        let set = RuleSet::new(mode, rules);
        let write = |paths: &[&str]| Need::Write {
            paths: paths.iter().map(|&path| path.to_owned()).collect(),
            why: String::new(),
        };
        let strictest = paths.iter().map(|&path| strictness(&set.judge(tool, &write(&[path])))).max();
        prop_assert_eq!(Some(strictness(&set.judge(tool, &write(&paths)))), strictest);
    }

    #[test]
    fn a_search_reads_only_what_a_read_would_not_be_refused_or_asked_for_by_a_rule(
        rules in rules(), path in select(&PATHS[..]),
    ) {
        let set = RuleSet::new(ApprovalMode::AutoReadOnly, rules);
        let runs = |tool| set.judge(tool, &Need::Read { paths: vec![path.to_owned()] }) == Verdict::Run;
        prop_assert_eq!(set.may_read(path), runs("grep-files") && runs("read-file"));
    }

    #[test]
    fn checking_and_compiling_any_text_ends(path in "\\PC{0,40}", tool in "\\PC{0,12}", on in "[ -~]{0,20}") {
        let calls = CallPattern { tools: vec![tool.clone()], path: Some(path), command: None };
        if let Err(error) = check(&calls) {
            prop_assert!(["tools", "path"].contains(&error.field));
        }
        let rule = Rule { id: RuleId::new("rul_x"), effect: RuleEffect::Allow, calls, note: None };
        prop_assert!(!crate::describe(&rule).is_empty());
        let set = RuleSet::new(ApprovalMode::AutoReadOnly, [(RuleLayer::Session, rule)]);
        set.judge(&tool, &Need::Read { paths: vec![on] });
    }
}
