//! Cases about sessions, workspaces, and many tasks at once.

use std::sync::Arc;

use protocol::{ApprovalId, PrincipalId, Seq, SessionEvent, SessionId, Timestamp, TitledBy, WorkspaceId};
use store::{NewToken, SessionRecord, UsageBy};
use tokio::task::JoinSet;

use crate::{StoreLocation, messages::tree, script::*, usage::usage};

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
    script.turn("u", None, "m").await;
    let key = script.key();
    let titled = |title: Option<&str>, by| SessionEvent::TitleSet { title: title.map(str::to_owned), by };
    assert!(!record(&store, key).await.is_titled, "the first words are no title that somebody gave");
    script.append(vec![titled(Some("Ein Titel"), TitledBy::Person)]).await;
    let named = record(&store, key).await;
    assert_eq!((named.title.as_deref(), named.is_titled), (Some("Ein Titel"), true));
    script.append(vec![titled(None, TitledBy::Person)]).await;
    let unnamed = record(&store, key).await;
    assert_eq!((unnamed.title, unnamed.is_titled), (None, false));
    script.append(vec![titled(Some("From the model"), TitledBy::Model)]).await;
    script.turn("v", Some(first("m")), "n").await;
    let named = record(&store, key).await;
    assert_eq!((named.title.as_deref(), named.is_titled), (Some("From the model"), true));
}

pub async fn a_session_is_made_before_its_first_message_and_keeps_its_main_agent(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let chosen = |agent: &str, previous: &str| SessionEvent::AgentChosen {
        agent: agent.to_owned(),
        display_name: agent.to_uppercase(),
        previous: previous.to_owned(),
        request: None,
    };
    let key = script.append(vec![SessionEvent::SessionCreated]).await;
    let made = record(&store, key).await;
    assert_eq!((made.agent, made.active_leaf, made.message_count), (None, None, 0));
    script.append(vec![chosen("debugger", "general")]).await;
    script.turn("u", None, "m").await;
    assert_eq!(record(&store, key).await.agent.as_deref(), Some("debugger"));
    script.append(vec![chosen("general", "debugger")]).await;
    let again = record(&location.open(), key).await;
    assert_eq!((again.agent.as_deref(), again.message_count), (Some("general"), 2));
}

pub async fn pins_and_pages_by_number(location: &StoreLocation) {
    let store = location.open();
    let mut keys = Vec::new();
    for number in 0..5 {
        let mut script = Script::new(&store, &format!("s{number}"));
        script.at = Timestamp(1_000 + number);
        keys.push(script.append(vec![accepted("u", 0, None)]).await);
        if number == 1 {
            script.append(vec![SessionEvent::PinSet { pinned: true }]).await;
        }
        if number == 2 {
            let pin = |pinned| SessionEvent::PinSet { pinned };
            script.append(vec![pin(true), pin(false)]).await;
        }
    }
    assert_eq!(store.pinned(&keys).await.unwrap(), [keys[1]]);
    assert_eq!(store.session_count(&workspace()).await.unwrap(), 5);
    let page = async |skip, limit| {
        let page = store.sessions_from(&workspace(), skip, limit).await.unwrap();
        page.into_iter().map(|session| session.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 2).await, ["s4", "s3"]);
    assert_eq!(page(4, 2).await, ["s0"]);
    assert_eq!(page(5, 2).await, [""; 0]);
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
