//! Rules of workspaces and of sessions, and the question that a person was asked.

use protocol::{
    ApprovalId, CallPattern, GrantScope, PrincipalId, Question, Rule, RuleEffect, RuleId, SessionEvent,
    Timestamp, WorkspaceId,
};
use store::{MAX_WORKSPACE_RULES, RuleRecord, StoreError};

use crate::{StoreLocation, script::*};

fn rule(id: &str, effect: RuleEffect, path: &str) -> Rule {
    let calls = CallPattern { path: Some(path.to_owned()), ..CallPattern::tool("write-file") };
    Rule { id: RuleId::new(id), effect, calls, note: Some("中 \"note\"".to_owned()) }
}

fn record(workspace: &str, id: &str, at: i64) -> RuleRecord {
    RuleRecord {
        workspace: WorkspaceId::new(workspace),
        rule: rule(id, RuleEffect::Refuse, "a/**"),
        created_at: Timestamp(at),
        principal: Some(PrincipalId::new("owner")),
    }
}

pub async fn rules_of_a_workspace_are_kept_until_they_are_removed(location: &StoreLocation) {
    let store = location.open();
    let here = WorkspaceId::new("w");
    let (b, a) = (record("w", "rul_b", 1_000), record("w", "rul_a", 2_000));
    for new in [a.clone(), b.clone(), record("elsewhere", "rul_a", 1)] {
        assert!(store.add_rule(new).await.unwrap());
    }
    let taken = store.add_rule(a.clone()).await;
    assert!(matches!(taken, Err(StoreError::Conflict)), "{taken:?}");
    let store = location.open();
    assert_eq!(store.rules(&here).await.unwrap(), [b.clone(), a.clone()], "oldest first");
    assert!(!store.remove_rule(&here, &RuleId::new("rul_c")).await.unwrap());
    assert!(store.remove_rule(&here, &b.rule.id).await.unwrap());
    assert!(!store.remove_rule(&here, &b.rule.id).await.unwrap());
    assert_eq!(store.rules(&here).await.unwrap(), [a]);
    assert_eq!(store.rules(&WorkspaceId::new("elsewhere")).await.unwrap().len(), 1);
    assert_eq!(store.rules(&WorkspaceId::new("nobody")).await.unwrap(), []);
}

pub async fn a_workspace_has_a_bounded_number_of_rules(location: &StoreLocation) {
    let store = location.open();
    for number in 0..MAX_WORKSPACE_RULES {
        assert!(store.add_rule(record("w", &format!("rul_{number}"), 1)).await.unwrap());
    }
    assert!(!store.add_rule(record("w", "rul_more", 1)).await.unwrap());
    assert!(store.add_rule(record("other", "rul_more", 1)).await.unwrap());
    let here = WorkspaceId::new("w");
    assert_eq!(store.rules(&here).await.unwrap().len(), MAX_WORKSPACE_RULES as usize);
    assert!(store.remove_rule(&here, &RuleId::new("rul_7")).await.unwrap());
    assert!(store.add_rule(record("w", "rul_more", 1)).await.unwrap());
}

fn granted(calls: &CallPattern, rule: &str, scope: GrantScope) -> SessionEvent {
    let (message, approval) = (id("m"), ApprovalId::new("p1"));
    SessionEvent::GrantGiven { message, approval, grant: calls.clone(), rule: Some(RuleId::new(rule)), scope }
}

pub async fn what_is_allowed_for_the_workspace_is_a_rule_of_it_and_outlives_the_chat(
    location: &StoreLocation,
) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    script.append(vec![asked("m", "p1")]).await;
    let calls = CallPattern { path: Some("src/**".to_owned()), ..CallPattern::tool("edit-file") };
    script
        .append(vec![granted(&calls, "rul_1", GrantScope::Workspace), answered("m", "p1", true, false)])
        .await;
    let expected = RuleRecord {
        workspace: workspace(),
        rule: Rule { id: RuleId::new("rul_1"), effect: RuleEffect::Allow, calls, note: None },
        created_at: script.at,
        principal: None,
    };
    for store in [&store, &location.open()] {
        assert_eq!(store.rules(&workspace()).await.unwrap(), std::slice::from_ref(&expected));
        assert_eq!(store.session_by_key(script.key()).await.unwrap().unwrap().rules, []);
    }
    store.delete_session(script.key()).await.unwrap();
    assert_eq!(store.rules(&workspace()).await.unwrap(), [expected]);
}

pub async fn rules_of_a_session_are_added_replaced_and_revoked(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let added = |rule: &Rule| SessionEvent::RuleAdded { rule: Box::new(rule.clone()) };
    let revoked = |id: &str| SessionEvent::RuleRevoked { rule: RuleId::new(id) };
    let (one, two) = (rule("rul_1", RuleEffect::Ask, "a/**"), rule("rul_2", RuleEffect::Allow, "b/**"));
    script.append(vec![added(&one), added(&two)]).await;
    script.append(vec![granted(&two.calls, "rul_3", GrantScope::Session)]).await;
    let changed = Rule { effect: RuleEffect::Refuse, ..one.clone() };
    script.append(vec![added(&changed), revoked("rul_9")]).await;
    let rules = async |store: &std::sync::Arc<dyn store::Store>| {
        store.session_by_key(script.key()).await.unwrap().unwrap().rules
    };
    for store in [&store, &location.open()] {
        assert_eq!(rules(store).await, [changed.clone(), two.clone()], "the same calls are allowed once");
    }
    script.append(vec![revoked("rul_1")]).await;
    assert_eq!(store.session_by_key(script.key()).await.unwrap().unwrap().rules, [two]);
    script.append(vec![revoked("rul_2")]).await;
    assert_eq!(store.session_by_key(script.key()).await.unwrap().unwrap().rules, []);
    assert_eq!(store.rules(&workspace()).await.unwrap(), [], "they are not rules of the workspace");
}

pub async fn what_a_person_was_told_is_kept_with_the_question(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let told = Question {
        why: "It changes src/主.rs.".to_owned(),
        always: Some(CallPattern { path: Some("src/**".to_owned()), ..CallPattern::tool("write-file") }),
        sensitive: false,
        files: Vec::new(),
        form: None,
    };
    let SessionEvent::ApprovalAsked { message, approval, call, kind, .. } = asked("m", "p1") else {
        panic!()
    };
    let question = Some(Box::new(told.clone()));
    script
        .append(vec![SessionEvent::ApprovalAsked { message, approval, call, question, kind, raised: false }])
        .await;
    script.append(vec![asked("m", "p2")]).await;
    for store in [store, location.open()] {
        let found = async |name: &str| {
            store.interaction(&workspace(), &ApprovalId::new(name)).await.unwrap().unwrap().question
        };
        assert_eq!(found("p1").await, Some(told.clone()));
        assert_eq!(found("p2").await, None, "asked by an older version");
        let pending = store.pending_interactions(&workspace(), 9).await.unwrap();
        let questions: Vec<_> = pending.into_iter().map(|pending| pending.question).collect();
        assert_eq!(questions, [Some(told.clone()), None]);
    }
}
