//! Cases about further tables that are derived from the log: queued messages, artifacts, forks, grants.

use std::sync::Arc;

use protocol::{
    ApprovalId, Artifact, ArtifactId, CallPattern, GrantScope, LogEntry, MessageRef, QueueExit, RuleEffect,
    RunOptions, SessionEvent, SessionId, Timestamp, ToolCallId, WorkspaceId,
};
use store::{Append, ArtifactCursor, Row, SessionTarget, Store, StoreError};
use test_support::Rng;

use crate::{StoreLocation, script::*};

fn queued(name: &str) -> SessionEvent {
    let options = RunOptions { timezone: Some("Asia/Shanghai".to_owned()), ..RunOptions::default() };
    let message = user(name, "later");
    SessionEvent::MessageQueued { message, edits: None, after: Some(id("m")), options: Box::new(options) }
}

fn left(name: &str, why: QueueExit) -> SessionEvent {
    SessionEvent::QueueLeft { queued: id(name), why }
}

async fn queue_of(store: &dyn Store, script: &Script) -> Vec<String> {
    let queued = store.queued(script.key()).await.unwrap();
    let count = store.session_by_key(script.key()).await.unwrap().unwrap().queued;
    assert_eq!(count as usize, queued.len(), "the session counts its queued messages");
    queued.iter().map(|queued| queued.id().to_string()).collect()
}

pub async fn messages_are_queued_in_order_until_they_leave(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    assert_eq!(store.sessions_with_queue().await.unwrap(), []);
    script.append(vec![queued("b")]).await;
    script.append(vec![queued("a"), queued("c")]).await;
    script.append(vec![queued("a")]).await;
    assert_eq!(queue_of(&*store, &script).await, ["b", "a", "c"], "each once");
    assert_eq!(store.sessions_with_queue().await.unwrap(), [script.key()]);
    let first = store.queued(script.key()).await.unwrap().remove(0);
    assert_eq!((first.after, first.options.timezone.as_deref()), (Some(id("m")), Some("Asia/Shanghai")));
    assert_eq!(store.message(script.key(), &id("b")).await.unwrap(), None, "it is no message yet");

    script.append(vec![left("a", QueueExit::Withdrawn)]).await;
    script.append(vec![left("a", QueueExit::Withdrawn)]).await;
    assert_eq!(queue_of(&*store, &script).await, ["b", "c"]);
    let store = location.open();
    assert_eq!(queue_of(&*store, &script).await, ["b", "c"], "also after another start");
    script.finish("m", "done").await;
    script
        .append(vec![left("b", QueueExit::Begun), accepted("b", 0, Some(MessageRef::first(id("m"))))])
        .await;
    assert_eq!(queue_of(&*store, &script).await, ["c"]);
    store.delete_session(script.key()).await.unwrap();
    assert_eq!(store.sessions_with_queue().await.unwrap(), []);
}

fn kept(name: &str) -> SessionEvent {
    let artifact = Artifact {
        id: ArtifactId::new(name),
        name: "报告.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: 3,
        tool_call_id: Some(ToolCallId::new("call")),
    };
    SessionEvent::ArtifactKept { message: id("m"), artifact }
}

pub async fn files_are_listed_by_session_and_workspace_and_go_with_their_session(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let mut other = Script::in_workspace(&store, "other", "s");
    other.ask("u", None, "m").await;
    for (name, at) in [("art_1", 1_000), ("art_2", 2_000), ("art_3", 2_000)] {
        store.put_file(&workspace(), &ArtifactId::new(name), b"abc".to_vec()).await.unwrap();
        script.at = Timestamp(at);
        script.append(vec![kept(name)]).await;
    }
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let page = store.artifacts(&workspace(), None, before, 2).await.unwrap();
        pages.push(page.artifacts.iter().map(|info| info.artifact.id.to_string()).collect::<Vec<_>>());
        before = page
            .artifacts
            .last()
            .map(|last| ArtifactCursor { created_at: last.created_at, id: last.artifact.id.clone() });
        if !page.more {
            break;
        }
    }
    assert_eq!(pages, [vec!["art_3", "art_2"], vec!["art_1"]]);
    let all = store.artifacts(&workspace(), Some(script.key()), None, 9).await.unwrap();
    assert_eq!(all.artifacts.len(), 3);
    assert_eq!(all.artifacts[0].created_at, Timestamp(2_000));
    assert_eq!(store.artifacts(&WorkspaceId::new("other"), None, None, 9).await.unwrap().artifacts, []);
    let found = store.artifact(&workspace(), &ArtifactId::new("art_1")).await.unwrap().unwrap();
    assert_eq!((found.artifact.name.as_str(), found.message_id), ("报告.txt", id("m")));
    let foreign = store.artifact(&WorkspaceId::new("other"), &ArtifactId::new("art_1")).await.unwrap();
    assert_eq!(foreign, None);

    store.delete_session(script.key()).await.unwrap();
    assert_eq!(store.artifact(&workspace(), &ArtifactId::new("art_1")).await.unwrap(), None);
    let gone = store.open_file(&workspace(), &ArtifactId::new("art_1")).await;
    assert!(matches!(gone, Err(StoreError::Unavailable(_))), "{gone:?}");
}

pub async fn files_that_nobody_refers_to_are_swept_at_the_next_start(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    for name in ["art_1", "art_2"] {
        store.put_file(&workspace(), &ArtifactId::new(name), b"abc".to_vec()).await.unwrap();
    }
    script.append(vec![kept("art_1")]).await;
    assert_eq!(store.sweep_files().await.unwrap(), 0, "its event may still come");
    let store = location.open();
    assert_eq!(store.sweep_files().await.unwrap(), 1);
    assert!(store.open_file(&workspace(), &ArtifactId::new("art_1")).await.is_ok());
    assert!(store.open_file(&workspace(), &ArtifactId::new("art_2")).await.is_err());
}

pub async fn the_end_of_a_branch_is_where_the_newest_children_lead(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    // Children of each message, in the order they came; a user's message each, which is all a tree needs.
    let mut children: Vec<Vec<usize>> = vec![Vec::new()];
    script.append(vec![accepted("n0", 0, None)]).await;
    let mut rng = Rng::new(7);
    for node in 1..120 {
        // Usually after the newest message, sometimes after any.
        let parent = if rng.percent(25) { rng.below(node) } else { node - 1 };
        script.append(vec![accepted(&format!("n{node}"), 0, Some(first(&format!("n{parent}"))))]).await;
        children[parent].push(node);
        children.push(Vec::new());
    }
    for node in 0..120 {
        let mut leaf = node;
        while let Some(newest) = children[leaf].last() {
            leaf = *newest;
        }
        let chosen = store.newest_leaf(script.key(), &first(&format!("n{node}"))).await.unwrap();
        assert_eq!(chosen, first(&format!("n{leaf}")), "from n{node}");
    }
}

pub async fn past_events_keep_their_times(location: &StoreLocation) {
    let store = location.open();
    let times = [5_i64, 5, 9, 2];
    let events = vec![
        accepted("u", 0, None),
        started("m", MessageRef::first(id("u"))),
        closed("m"),
        ended("m", protocol::RunEnd::Finished),
    ];
    let entries: Vec<LogEntry> = (1..)
        .zip(times.into_iter().zip(events))
        .map(|(seq, (at, event))| LogEntry { seq, at: Timestamp(at), event })
        .collect();
    let append = Append {
        target: SessionTarget::New { workspace: workspace(), id: SessionId::new("past") },
        at: Timestamp(100),
        rows: entries.iter().cloned().map(Row::Event).collect(),
        messages: vec![assistant("m", "said long ago")],
        high_water: Some(4),
    };
    let key = store.append_past(Arc::new(append.clone())).await.unwrap();
    assert_eq!(store.read_log(key, 0, usize::MAX).await.unwrap(), entries);
    assert_eq!(store.read_log(key, 2, usize::MAX).await.unwrap(), entries[2..]);
    let record = store.session_by_key(key).await.unwrap().unwrap();
    assert_eq!((record.created_at, record.message_count), (Timestamp(100), 2), "the session is new here");
    let branch = store.branch(key, &MessageRef::first(id("m")), 10).await.unwrap();
    assert_eq!(branch.iter().map(|one| one.created_at.0).collect::<Vec<_>>(), [5, 9]);
    assert!(matches!(store.append_past(Arc::new(append)).await, Err(StoreError::Conflict)), "once");
}

fn granted(approval: &str, grant: &CallPattern) -> SessionEvent {
    let (message, approval) = (id("m"), ApprovalId::new(approval));
    SessionEvent::GrantGiven {
        message,
        approval,
        grant: grant.clone(),
        rule: None,
        scope: GrantScope::Session,
    }
}

fn edited(approval: &str, input: serde_json::Value, raised: bool) -> SessionEvent {
    let call = ToolCallId::new(format!("call of {approval}"));
    SessionEvent::InputEdited { message: id("m"), approval: ApprovalId::new(approval), call, input, raised }
}

pub async fn what_a_person_allowed_and_changed_is_kept_with_their_answer(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let whole = CallPattern::tool("tool");
    let kind = CallPattern { command: Some("a \"b\" 中".to_owned()), ..whole.clone() };
    script.append(vec![asked("m", "p1"), asked("m", "p2")]).await;
    let input = serde_json::json!({ "a": [1, null], "中": "x" });
    let copy = serde_json::json!("of the question, shown elsewhere");
    script
        .append(vec![
            edited("p1", input.clone(), false),
            granted("p1", &whole),
            answered("m", "p1", true, false),
        ])
        .await;
    script
        .append(vec![
            edited("p1", copy, true),
            granted("p2", &kind),
            granted("p2", &whole),
            answered("m", "p2", true, false),
        ])
        .await;
    for store in [store, location.open()] {
        let record = store.session_by_key(script.key()).await.unwrap().unwrap();
        let allowed: Vec<_> = record.rules.iter().map(|rule| rule.calls.clone()).collect();
        assert_eq!(allowed, [whole.clone(), kind.clone()], "each once, in the order they were given");
        assert!(record.rules.iter().all(|rule| rule.effect == RuleEffect::Allow));
        let asked = store.interactions_of_message(script.key(), &id("m")).await.unwrap();
        let edits: Vec<_> = asked.into_iter().map(|asked| asked.edited).collect();
        assert_eq!(edits, [Some(input.clone()), None]);
    }
}
