//! Cases about the log, the tables that are derived from it, sessions and workspaces.

use std::sync::Arc;

use protocol::{
    ApprovalId, MessageRef, Planted, PrincipalId, RunEnd, SegmentKind, Seq, SessionEvent, SessionId,
    Timestamp, WorkspaceId, interaction::InteractionStatus,
};
use serde_json::json;
use store::{
    ActiveRun, LastRun, NewToken, RunStatus, SessionInteraction, SessionKey, SessionRecord, Store,
    StoreError, UsageBy,
};
use tokio::task::JoinSet;

use crate::{StoreLocation, script::*, usage::usage};

fn workspace() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

async fn record(store: &Arc<dyn Store>, key: SessionKey) -> SessionRecord {
    store.session_by_key(key).await.unwrap().unwrap()
}

async fn branch_ids(store: &Arc<dyn Store>, key: SessionKey, leaf: &MessageRef) -> Vec<String> {
    let branch = store.branch(key, leaf, u32::MAX).await.unwrap();
    branch.iter().map(|message| format!("{}.{}", message.reference.id, message.reference.revision)).collect()
}

fn last_run(message: &str, status: RunStatus) -> Option<LastRun> {
    Some(LastRun { message: id(message), status })
}

fn is_conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}");
}

// --- the log

pub async fn the_log_is_read_from_every_cursor(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let segment = |opens: bool, segment| {
        let (message, kind) = (id("m"), SegmentKind::Text);
        match opens {
            true => SessionEvent::SegmentOpened { message, segment, kind },
            false => SessionEvent::SegmentClosed { message, segment, kind, provider: None },
        }
    };
    script.append(vec![segment(true, 0), delta("m", 0, "äb"), delta("m", 0, "会"), delta("m", 0, "!")]).await;
    script.append(vec![delta("m", 0, "more"), delta("m", 0, "🦀"), segment(false, 0)]).await;
    let inputs =
        vec![input_delta("m", "c", "{\"a"), input_delta("m", "c", "\":1}"), input_delta("m", "d", "{}")];
    script.append(inputs).await;
    script.append(vec![segment(true, 1), delta("m", 1, "x"), segment(false, 1), segment(true, 2)]).await;
    script.append(vec![delta("m", 2, "y")]).await;
    script.finish("m", "done").await;

    for cursor in 0..=script.last + 1 {
        let read = store.read_log(script.key(), cursor, usize::MAX).await.unwrap();
        let expected = script.written.iter().filter(|entry| entry.seq > cursor).cloned();
        assert_eq!(joined(read), joined(expected), "after {cursor}");
    }
}

pub async fn a_read_is_bounded_and_never_empty_while_there_is_more(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    for number in 0..50 {
        script.append(vec![delta("m", number, &"x".repeat(1000))]).await;
    }
    let mut cursor = 0;
    let mut all = Vec::new();
    let mut reads = 0;
    loop {
        let entries = store.read_log(script.key(), cursor, 4000).await.unwrap();
        let Some(last) = entries.last() else { break };
        assert!(entries.len() < 20, "about as much as was asked for: {}", entries.len());
        assert!(last.seq > cursor, "a read goes forward");
        cursor = last.seq;
        reads += 1;
        all.extend(entries);
    }
    assert!(reads > 5);
    assert_eq!(joined(all), joined(script.written.clone()));
}

pub async fn numbers_in_a_hole_were_never_stored(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    script.append(vec![delta("m", 0, "a"), delta("m", 0, "b")]).await;
    let (last, key) = (script.last, script.key());
    script.last += 65_536;
    script.append(vec![resumed("m")]).await;
    for seq in 1..=last {
        assert!(store.is_stored(key, seq).await.unwrap(), "{seq}");
    }
    for seq in [0, last + 1, last + 65_536, script.last + 1] {
        assert!(!store.is_stored(key, seq).await.unwrap(), "{seq}");
    }
    assert!(store.is_stored(key, script.last).await.unwrap());
    let after_hole = store.read_log(key, last + 7, usize::MAX).await.unwrap();
    assert_eq!(after_hole.len(), 1);
    assert_eq!(after_hole[0].seq, script.last);
}

pub async fn text_of_every_kind_survives(location: &StoreLocation) {
    let store = location.open();
    let odd = "quote \" back \\ nul \u{0} line\u{2028} bell \u{7} 会话 🦀\r\n{\"type\":\"deltas\"";
    let mut script = Script::new(&store, odd);
    let message = user("ü/'; DROP TABLE messages; --", odd);
    let accepted =
        SessionEvent::MessageAccepted { message: message.clone(), revision: 0, parent: None, facts: None };
    let key = script.append(vec![accepted, delta("m", 0, odd), delta("m", 0, &"x".repeat(300_000))]).await;
    let read = store.read_log(key, 0, usize::MAX).await.unwrap();
    assert_eq!(joined(read), joined(script.written.clone()));
    let kept = store.message(key, &message.id).await.unwrap().unwrap();
    assert_eq!(kept.message().unwrap(), message);
    let found = store.session(&workspace(), &SessionId::new(odd)).await.unwrap().unwrap();
    assert_eq!(found.key, key);
}

// --- what each event means to the tables

pub async fn a_user_message_makes_the_session_and_is_its_leaf(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.append(vec![accepted("u", 0, None)]).await;
    let found = store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap();
    assert_eq!(found, record(&store, key).await);
    assert_eq!((found.key, found.workspace, found.id), (key, workspace(), SessionId::new("s")));
    assert_eq!((found.created_at, found.updated_at), (AT, AT));
    assert_eq!((found.message_count, found.active_leaf), (1, Some(first("u"))));
    assert_eq!((found.high_water, found.last_run), (1, None));
    let message = store.message(key, &id("u")).await.unwrap().unwrap();
    assert_eq!(
        (message.reference.clone(), message.parent.clone(), message.created_at),
        (first("u"), None, AT)
    );
    assert_eq!(message.message().unwrap(), user("u", "u in version 0"));
    assert_eq!(store.message(key, &id("other")).await.unwrap(), None);
    script.at = Timestamp(2_000);
    script.append(vec![accepted("v", 0, Some(first("u")))]).await;
    let later = record(&store, key).await;
    assert_eq!((later.created_at, later.updated_at, later.message_count), (AT, Timestamp(2_000), 2));
}

pub async fn a_planted_history_is_a_branch(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let messages = vec![user("a", "1"), assistant("b", "2"), user("c", "3")];
    let events = vec![
        SessionEvent::HistoryPlanted { messages: Planted::of(&messages).unwrap() },
        accepted("u", 0, Some(first("c"))),
    ];
    let key = script.append(events).await;
    assert_eq!(branch_ids(&store, key, &first("u")).await, ["a.0", "b.0", "c.0", "u.0"]);
    let session = record(&store, key).await;
    assert_eq!((session.message_count, session.active_leaf), (4, Some(first("u"))));
}

/// A session that begins with a history of 700 messages, `h0` to `h699`, and the message `u`.
async fn long_planted(store: &Arc<dyn Store>) -> Script {
    let mut script = Script::new(store, "s");
    let messages: Vec<_> = (0..700).map(|n| user(&format!("h{n}"), "old")).collect();
    let events = vec![
        SessionEvent::HistoryPlanted { messages: Planted::of(&messages).unwrap() },
        accepted("u", 0, Some(first("h699"))),
    ];
    script.append(events).await;
    script
}

fn long_branch(end: &str) -> Vec<String> {
    (0..700).map(|n| format!("h{n}.0")).chain([end.to_owned()]).collect()
}

pub async fn a_long_planted_history_is_a_branch_for_every_reader(location: &StoreLocation) {
    let store = location.open();
    let key = long_planted(&store).await.key();
    // Several at once, with the key that the append returned.
    let mut reads = JoinSet::new();
    for _ in 0..4 {
        let store = Arc::clone(&store);
        reads.spawn(async move { branch_ids(&store, key, &first("u")).await });
    }
    for branch in reads.join_all().await {
        assert_eq!(branch, long_branch("u.0"));
    }
    let session = record(&store, key).await;
    assert_eq!((session.message_count, session.active_leaf), (701, Some(first("u"))), "each message once");
    let child = store.message(key, &id("u")).await.unwrap().unwrap();
    assert_eq!(child.parent, Some(first("h699")));
}

pub async fn a_long_planted_history_is_whole_after_another_start(location: &StoreLocation) {
    for read in 0..6 {
        let location = location.another();
        let mut script = long_planted(&location.open()).await;
        script.append(vec![started("m", first("u")), opened("m")]).await;
        let store = location.open();
        let key = match read {
            0 => store.active_runs().await.unwrap()[0].session,
            1 => store.sessions(&workspace(), None, 1).await.unwrap().sessions[0].key,
            2 => store.search_sessions(&workspace(), "version", 1).await.unwrap()[0].key,
            _ => store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap().key,
        };
        match read {
            3 => assert!(store.message(key, &id("h5")).await.unwrap().is_some()),
            4 => assert_eq!(store.choose_branch(key, &first("h5")).await.unwrap(), first("u")),
            5 => assert_eq!(store.branch_points(key, &first("u")).await.unwrap(), []),
            _ => {}
        }
        assert_eq!(branch_ids(&store, key, &first("u")).await, long_branch("u.0"), "read {read}");
    }
}

pub async fn a_message_may_follow_a_planted_one_that_nobody_has_read(location: &StoreLocation) {
    let store = location.open();
    let mut script = long_planted(&store).await;
    let key = script.append(vec![accepted("v", 0, Some(first("h699")))]).await;
    assert_eq!(branch_ids(&store, key, &first("v")).await, long_branch("v.0"));
    assert_eq!(branch_ids(&store, key, &first("u")).await, long_branch("u.0"));
    assert_eq!(store.branch_points(key, &first("u")).await.unwrap()[0].choices, [first("u"), first("v")]);
    is_conflict(script.try_append(vec![accepted("w", 0, Some(first("h700")))], vec![]).await);
}

pub async fn a_run_is_running_parked_running_and_ended(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let run = store.run_of_message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!(
        (run.id.clone(), run.message.clone(), run.answers.clone()),
        (run_of("m"), id("m"), first("u"))
    );
    assert_eq!((run.status, run.first_seq, run.last_resume), (RunStatus::Running, 2, 0));
    assert_eq!(run.options.timezone.as_deref(), Some("Europe/Berlin"));
    assert_eq!(store.active_runs().await.unwrap(), [ActiveRun { session: key, run: run.clone() }]);
    assert_eq!(store.run_answering(key, &first("u")).await.unwrap(), Some(run));
    assert_eq!(store.run_of_message(key, &id("u")).await.unwrap(), None);
    assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Running));

    script.append_with(vec![parked("m")], vec![assistant("m", "may I?")]).await;
    assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Parked));
    assert_eq!(store.active_runs().await.unwrap(), []);

    script.append(vec![resumed("m")]).await;
    let run = store.run_of_message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!((run.status, run.first_seq, run.last_resume), (RunStatus::Running, 2, script.last));

    for end in [RunEnd::Finished, RunEnd::Cancelled, RunEnd::Failed, RunEnd::Withdrawn] {
        let events = vec![closed("m"), ended("m", end)];
        script.append_with(events, vec![assistant("m", "done")]).await;
        assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Ended(end)));
        assert_eq!(store.active_runs().await.unwrap(), []);
    }
}

pub async fn the_answer_replaces_itself_when_the_run_goes_on(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    assert_eq!(store.message(key, &id("m")).await.unwrap(), None, "not before the run pauses or ends");
    assert_eq!(record(&store, key).await.active_leaf, Some(first("u")));
    script.append_with(vec![parked("m")], vec![assistant("m", "half")]).await;
    let half = store.message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!((half.message().unwrap(), half.parent), (assistant("m", "half"), Some(first("u"))));
    script.append(vec![resumed("m")]).await;
    script.finish("m", "whole").await;
    let whole = store.message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!(whole.message().unwrap(), assistant("m", "whole"));
    let session = record(&store, key).await;
    assert_eq!((session.message_count, session.active_leaf), (2, Some(first("m"))));
    assert_eq!(branch_ids(&store, key, &first("m")).await, ["u.0", "m.0"]);
}

pub async fn an_approval_is_asked_and_answered_once(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    script.append(vec![asked("m", "p1"), asked("m", "p2"), asked("m", "p3")]).await;
    let found = store.interaction(&workspace(), &ApprovalId::new("p1")).await.unwrap().unwrap();
    let SessionInteraction { session, interaction: question } = found;
    assert_eq!(session, SessionId::new("s"));
    assert_eq!((question.run.clone(), question.message.clone()), (run_of("m"), id("m")));
    assert_eq!((question.tool.as_str(), &question.input), ("tool", &json!({ "b": 1, "a": [null, 2.5] })));
    assert_eq!(
        (question.status, question.asked_at, question.answered_at),
        (InteractionStatus::Pending, AT, None)
    );

    script.at = Timestamp(5_000);
    script.append(vec![answered("m", "p1", true, false)]).await;
    script.append(vec![answered("m", "p2", false, false)]).await;
    script.append(vec![answered("m", "p3", false, true)]).await;
    let all = store.interactions_of_message(key, &id("m")).await.unwrap();
    let states: Vec<_> = all.iter().map(|question| (question.id.as_str(), question.status)).collect();
    assert_eq!(
        states,
        [
            ("p1", InteractionStatus::Approved),
            ("p2", InteractionStatus::Denied),
            ("p3", InteractionStatus::Withdrawn)
        ]
    );
    assert_eq!(all[0].answered_at, Some(Timestamp(5_000)));
    assert_eq!(all[1].reason.as_deref(), Some("because"));
    for approved in [true, false] {
        is_conflict(script.try_append(vec![answered("m", "p1", approved, false)], vec![]).await);
    }
    assert_eq!(store.interactions_of_message(key, &id("m")).await.unwrap(), all);
    is_conflict(script.try_append(vec![answered("m", "never", true, false)], vec![]).await);
    is_conflict(script.try_append(vec![asked("m", "p1")], vec![]).await);
}

pub async fn a_second_answer_leaves_nothing_behind(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    script.append_with(vec![asked("m", "p"), parked("m")], vec![assistant("m", "?")]).await;
    script.append(vec![answered("m", "p", true, false)]).await;
    let before = record(&store, key).await;
    script.at = Timestamp(9_000);
    let late = vec![resumed("m"), answered("m", "p", false, false), delta("m", 0, "x")];
    is_conflict(script.try_append(late, vec![]).await);
    assert_eq!(record(&store, key).await, before);
    assert_eq!(store.read_log(key, script.last, usize::MAX).await.unwrap(), []);
    script.append(vec![resumed("m")]).await;
}

pub async fn an_append_without_its_message_leaves_nothing_behind(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let before = record(&store, key).await;
    let failed = script.try_append(vec![closed("m"), ended("m", RunEnd::Finished)], vec![]).await;
    assert!(matches!(failed, Err(StoreError::Corrupt(_))), "{failed:?}");
    assert_eq!(record(&store, key).await, before);
    let mut orphan = Script::new(&store, "t");
    is_conflict(orphan.try_append(vec![accepted("v", 0, Some(first("nowhere")))], vec![]).await);
    assert_eq!(store.session(&workspace(), &SessionId::new("t")).await.unwrap(), None);
    script.finish("m", "done").await;
}

// --- the tree of messages

/// `u1 m1 u2 m2`, another answer `n2` to `u2`, and `u1` in a second version with its answer `k`.
async fn tree(store: &Arc<dyn Store>) -> Script {
    let mut script = Script::new(store, "s");
    script.turn("u1", None, "m1").await;
    script.turn("u2", Some(first("m1")), "m2").await;
    script.append(vec![started("n2", first("u2")), opened("n2")]).await;
    script.finish("n2", "other").await;
    let second = MessageRef { id: id("u1"), revision: 1 };
    script.append(vec![accepted("u1", 1, None), started("k", second), opened("k")]).await;
    script.finish("k", "anew").await;
    script
}

pub async fn retries_and_edits_are_branches(location: &StoreLocation) {
    let store = location.open();
    let script = tree(&store).await;
    let key = script.key();
    assert_eq!(record(&store, key).await.active_leaf, Some(first("k")));
    assert_eq!(branch_ids(&store, key, &first("k")).await, ["u1.1", "k.0"]);
    assert_eq!(branch_ids(&store, key, &first("m2")).await, ["u1.0", "m1.0", "u2.0", "m2.0"]);
    assert_eq!(branch_ids(&store, key, &first("n2")).await, ["u1.0", "m1.0", "u2.0", "n2.0"]);
    let newest = store.message(key, &id("u1")).await.unwrap().unwrap();
    assert_eq!(newest.reference.revision, 1);
    assert_eq!(newest.message().unwrap().text(), "u1 in version 1");
    let run = store.run_answering(key, &first("u2")).await.unwrap().unwrap();
    assert_eq!(run.message, id("n2"), "the newest");
    let run = store.run_answering(key, &first("u1")).await.unwrap().unwrap();
    assert_eq!(run.message, id("m1"), "of this version");

    assert_eq!(store.choose_branch(key, &first("m1")).await.unwrap(), first("n2"), "down to the newest leaf");
    assert_eq!(record(&store, key).await.active_leaf, Some(first("n2")));
    assert_eq!(store.choose_branch(key, &first("m2")).await.unwrap(), first("m2"));
    is_conflict(store.choose_branch(key, &first("nowhere")).await);
    assert_eq!(record(&store, key).await.active_leaf, Some(first("m2")));
}

pub async fn a_branch_is_read_from_its_leaf_with_a_limit(location: &StoreLocation) {
    let store = location.open();
    let script = tree(&store).await;
    let ids = |limit| {
        let store = Arc::clone(&store);
        let key = script.key();
        async move {
            let branch = store.branch(key, &first("m2"), limit).await.unwrap();
            branch.into_iter().map(|message| message.reference.id.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(ids(2).await, ["u2", "m2"]);
    assert_eq!(ids(1).await, ["m2"]);
    assert_eq!(ids(0).await, Vec::<String>::new());
    assert_eq!(ids(4).await, ids(u32::MAX).await);
    assert_eq!(store.branch(script.key(), &first("nowhere"), 9).await.unwrap(), []);
}

pub async fn a_branch_is_read_from_a_known_message_on(location: &StoreLocation) {
    let store = location.open();
    let script = tree(&store).await;
    let ids = |leaf: &str, stop: Option<MessageRef>| {
        let (store, key, leaf) = (Arc::clone(&store), script.key(), first(leaf));
        async move {
            let branch = store.branch_after(key, &leaf, stop.as_ref()).await.unwrap();
            branch.into_iter().map(|message| message.reference.id.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(ids("m2", None).await, ["u1", "m1", "u2", "m2"]);
    assert_eq!(ids("m2", Some(first("m1"))).await, ["u2", "m2"]);
    assert_eq!(ids("m2", Some(first("m2"))).await, Vec::<String>::new());
    assert_eq!(ids("k", Some(first("m1"))).await, ["u1", "k"], "not on the branch: all of it");
    assert_eq!(ids("k", Some(first("u1"))).await, ["u1", "k"], "another version is not the same message");
}

pub async fn message_ids_are_unique_in_a_session_only(location: &StoreLocation) {
    let store = location.open();
    let mut one = Script::new(&store, "one");
    let mut two = Script::new(&store, "two");
    one.turn("u", None, "m").await;
    two.turn("u", None, "m").await;
    let again = one.try_append(vec![accepted("u", 0, Some(first("m")))], vec![]).await;
    is_conflict(again);
    assert_eq!(record(&store, one.key()).await.message_count, 2);
    assert_eq!(record(&store, two.key()).await.message_count, 2);
}

// --- sessions

pub async fn a_session_is_made_once(location: &StoreLocation) {
    let store = location.open();
    Script::new(&store, "s").ask("u", None, "m").await;
    let before = store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap();
    is_conflict(Script::new(&store, "s").try_append(vec![accepted("v", 0, None)], vec![]).await);
    let after = store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap();
    assert_eq!(before, after);
    assert_eq!(store.message(before.key, &id("v")).await.unwrap(), None);
    Script::in_workspace(&store, "other", "s").ask("u", None, "m").await;
}

pub async fn sessions_come_in_pages_without_gap_or_repetition(location: &StoreLocation) {
    let store = location.open();
    for number in 0..10 {
        let mut script = Script::new(&store, &format!("s{number}"));
        // Three at each moment: the time alone does not order them.
        script.at = Timestamp(1_000 + number / 3);
        script.append(vec![accepted("u", 0, None)]).await;
    }
    Script::in_workspace(&store, "other", "theirs").append(vec![accepted("u", 0, None)]).await;
    for size in [1, 3, 4, 10, 100] {
        let mut before = None;
        let mut all = Vec::new();
        loop {
            let page = store.sessions(&workspace(), before, size).await.unwrap();
            assert!(page.sessions.len() <= size as usize);
            before = page.sessions.last().map(SessionRecord::cursor);
            all.extend(page.sessions.into_iter().map(|session| session.id.to_string()));
            if !page.more {
                break;
            }
        }
        let expected: Vec<_> = (0..10).rev().map(|number| format!("s{number}")).collect();
        assert_eq!(all, expected, "in pages of {size}");
    }
}

pub async fn a_title_is_given_and_taken_away(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    store.rename_session(key, Some("Ein Titel".to_owned())).await.unwrap();
    assert_eq!(record(&store, key).await.title.as_deref(), Some("Ein Titel"));
    store.rename_session(key, None).await.unwrap();
    assert_eq!(record(&store, key).await.title, None);
    is_conflict(store.rename_session(SessionKey(9_999), None).await);
    let written = |title: &str, only_untitled| store.title_session(key, title.to_owned(), only_untitled);
    assert!(!record(&store, key).await.is_titled);
    assert!(written("From the model", true).await.unwrap());
    assert!(!written("Once is enough", true).await.unwrap());
    assert!(written("Because a person asked", false).await.unwrap());
    store.rename_session(key, Some("Mine".to_owned())).await.unwrap();
    assert!(!written("Over mine", true).await.unwrap());
    let named = record(&store, key).await;
    assert_eq!((named.title.as_deref(), named.is_titled), (Some("Mine"), true));
    assert!(!store.title_session(SessionKey(9_999), "x".to_owned(), false).await.unwrap());
}

pub async fn a_deleted_session_leaves_nothing(location: &StoreLocation) {
    let store = location.open();
    let mut kept = Script::new(&store, "kept");
    kept.turn("u", None, "m").await;
    let mut script = tree(&store).await;
    let key = script.key();
    script.append(vec![started("o", first("u2")), opened("o"), asked("o", "p")]).await;
    store.delete_session(key).await.unwrap();
    assert_eq!(store.session(&workspace(), &SessionId::new("s")).await.unwrap(), None);
    assert_eq!(store.session_by_key(key).await.unwrap(), None);
    assert_eq!(store.message(key, &id("u1")).await.unwrap(), None);
    assert_eq!(store.branch(key, &first("m2"), 9).await.unwrap(), []);
    assert_eq!(store.run_of_message(key, &id("m1")).await.unwrap(), None);
    assert_eq!(store.active_runs().await.unwrap(), []);
    assert_eq!(store.interaction(&workspace(), &ApprovalId::new("p")).await.unwrap(), None);
    assert_eq!(store.interactions_of_message(key, &id("o")).await.unwrap(), []);
    assert_eq!(store.read_log(key, 0, usize::MAX).await.unwrap(), []);
    assert_eq!(usage(&store, "s", UsageBy::Session).await, []);
    store.delete_session(key).await.unwrap();
    assert_eq!(branch_ids(&store, kept.key(), &first("m")).await, ["u.0", "m.0"], "the neighbour stays");
}

pub async fn a_deleted_session_takes_no_append_and_its_key_is_not_used_again(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.turn("u", None, "m").await;
    store.delete_session(script.key()).await.unwrap();
    is_conflict(script.try_append(vec![delta("m", 0, "late")], vec![]).await);
    is_conflict(script.try_append(vec![accepted("v", 0, None)], vec![]).await);
    let key = Script::new(&store, "s").ask("u", None, "m").await;
    assert_ne!(key, script.key(), "a late write for the old session must not reach the new one");
}

pub async fn two_processes_may_begin_sessions_in_turn(location: &StoreLocation) {
    let (server, import) = (location.open(), location.open());
    let mut keys = Vec::new();
    for (store, name) in [(&server, "a"), (&import, "b"), (&import, "c"), (&server, "d")] {
        keys.push(Script::new(store, name).ask("u", None, "m").await);
    }
    keys.dedup();
    assert_eq!(keys.len(), 4, "{keys:?}");
}

pub async fn the_high_water_mark_is_the_last_one_that_was_set(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    for mark in [70_000, 5] {
        let append = store::Append {
            target: store::SessionTarget::Known(key),
            at: AT,
            rows: Vec::new(),
            messages: Vec::new(),
            high_water: Some(mark),
        };
        store.append(Arc::new(append)).await.unwrap();
        assert_eq!(record(&store, key).await.high_water, mark);
    }
    let last: Seq = script.last;
    assert_eq!(store.read_log(key, 0, usize::MAX).await.unwrap().last().unwrap().seq, last);
}

// --- tokens and workspaces

pub async fn tokens_are_found_by_their_digest(location: &StoreLocation) {
    let store = location.open();
    let new = |byte: u8, workspace: &str| NewToken {
        sha256: [byte; 32],
        principal: PrincipalId::new(format!("p{byte}")),
        workspace: WorkspaceId::new(workspace),
        created_at: AT,
    };
    let one = store.add_token(new(1, "default")).await.unwrap();
    let two = store.add_token(new(2, "other")).await.unwrap();
    assert_eq!(store.token(&[2; 32]).await.unwrap(), Some(two.clone()));
    assert_eq!(two.workspace, WorkspaceId::new("other"));
    assert_eq!(store.token(&[3; 32]).await.unwrap(), None);
    is_conflict(store.add_token(new(1, "other")).await);
    assert_eq!(store.tokens().await.unwrap(), [one.clone(), two.clone()]);
    assert!(store.revoke_token(one.id, AT).await.unwrap());
    assert!(!store.revoke_token(one.id, AT).await.unwrap());
    assert_eq!(store.token(&[1; 32]).await.unwrap(), None);
    assert_eq!(store.tokens().await.unwrap(), [two]);
    is_conflict(store.add_token(new(1, "default")).await);
}

pub async fn what_belongs_to_another_workspace_is_not_found(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    script.append(vec![asked("m", "p")]).await;
    let other = WorkspaceId::new("other");
    assert_eq!(store.session(&other, &SessionId::new("s")).await.unwrap(), None);
    assert_eq!(store.interaction(&other, &ApprovalId::new("p")).await.unwrap(), None);
    assert_eq!(store.sessions(&other, None, 10).await.unwrap().sessions, []);
}

// --- many at once, and again later

pub async fn many_tasks_append_at_once(location: &StoreLocation) {
    let store = location.open();
    let mut tasks = JoinSet::new();
    for number in 0..32 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let mut script = Script::new(&store, &format!("s{number}"));
            script.ask("u", None, "m").await;
            for piece in 0..20 {
                script.append(vec![delta("m", 0, &format!("{number}-{piece};")), delta("m", 0, ".")]).await;
            }
            script.finish("m", "done").await;
            script
        });
    }
    for script in tasks.join_all().await {
        let read = store.read_log(script.key(), 0, usize::MAX).await.unwrap();
        assert_eq!(joined(read), joined(script.written));
    }
    assert_eq!(store.sessions(&workspace(), None, 100).await.unwrap().sessions.len(), 32);
    assert_eq!(store.active_runs().await.unwrap(), []);
}

pub async fn only_one_of_many_concurrent_creations_of_a_session_succeeds(location: &StoreLocation) {
    let store = location.open();
    let mut tasks = JoinSet::new();
    for number in 0..32 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let user = format!("u{number}");
            Script::new(&store, "s").try_append(vec![accepted(&user, 0, None)], vec![]).await.is_ok()
        });
    }
    let winners = tasks.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(winners, 1);
    let session = store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap();
    assert_eq!(session.message_count, 1);
}

pub async fn a_store_opened_again_has_everything(location: &StoreLocation) {
    let store = location.open();
    let mut script = tree(&store).await;
    let key = script.key();
    script.append(vec![started("o", first("u2")), opened("o"), asked("o", "p"), delta("o", 0, "half")]).await;
    let before = (
        record(&store, key).await,
        store.read_log(key, 0, usize::MAX).await.unwrap(),
        store.branch(key, &first("m2"), 99).await.unwrap(),
        store.interactions_of_message(key, &id("o")).await.unwrap(),
        store.active_runs().await.unwrap(),
    );
    drop((store, script));
    let store = location.open();
    let after = (
        record(&store, key).await,
        store.read_log(key, 0, usize::MAX).await.unwrap(),
        store.branch(key, &first("m2"), 99).await.unwrap(),
        store.interactions_of_message(key, &id("o")).await.unwrap(),
        store.active_runs().await.unwrap(),
    );
    assert_eq!(before, after);
    assert_eq!(after.4.len(), 1, "the active run is found");
}
