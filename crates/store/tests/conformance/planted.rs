//! Cases about planted histories, the messages that a client brings along.

use std::sync::Arc;

use protocol::{Planted, SessionEvent, SessionId};
use store::Store;
use tokio::task::JoinSet;

use crate::{StoreLocation, script::*};

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
            4 => assert_eq!(store.newest_leaf(key, &first("h5")).await.unwrap(), first("u")),
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
