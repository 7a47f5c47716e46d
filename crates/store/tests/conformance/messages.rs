//! Cases about the tree of messages.

use std::sync::Arc;

use protocol::{MessageRef, SessionEvent};
use store::Store;

use crate::{StoreLocation, script::*};

/// `u1 m1 u2 m2`, another answer `n2` to `u2`, and `u1` in a second version with its answer `k`.
pub async fn tree(store: &Arc<dyn Store>) -> Script {
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
    let mut script = tree(&store).await;
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

    assert_eq!(store.newest_leaf(key, &first("m1")).await.unwrap(), first("n2"), "down to the newest leaf");
    assert_eq!(store.newest_leaf(key, &first("m2")).await.unwrap(), first("m2"));
    is_conflict(store.newest_leaf(key, &first("nowhere")).await);
    for leaf in [Some(first("n2")), Some(first("m2")), None, Some(first("k"))] {
        script.append(vec![SessionEvent::BranchChosen { leaf: leaf.clone() }]).await;
        assert_eq!(record(&store, key).await.active_leaf, leaf);
    }
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
