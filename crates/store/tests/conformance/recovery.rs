//! Cases about crashes of earlier processes.

use std::sync::Arc;

use protocol::{MessageId, QueueExit, RunOptions, SessionEvent};
use store::{RecoveryAttempt, RecoveryStage, SessionKey, Store};

use crate::{StoreLocation, script::*};

const ALONE_FROM: u32 = 2;

/// The last process crashed; this is the next one.
async fn crash(location: &StoreLocation) -> Arc<dyn Store> {
    let store = location.open();
    store.begin_recovery(ALONE_FROM).await.unwrap();
    store
}

async fn attempt(store: &Arc<dyn Store>, key: SessionKey, unit: &MessageId) -> (u32, RecoveryStage) {
    let RecoveryAttempt { crashes, stage } = store.recovery_attempt(key, unit).await.unwrap();
    (crashes, stage)
}

pub async fn crashes_in_a_row_are_counted_for_the_runs_that_were_active(location: &StoreLocation) {
    let store = location.open();
    let (mut active, mut ended) = (Script::new(&store, "active"), Script::new(&store, "ended"));
    active.ask("u", None, "m").await;
    ended.ask("u", None, "m").await;
    ended.finish("m", "done").await;
    let unit = id("m");
    let store = crash(location).await;
    assert_eq!(attempt(&store, active.key(), &unit).await, (1, RecoveryStage::NotStarted));
    assert_eq!(attempt(&store, ended.key(), &unit).await.0, 0);
    let store = crash(location).await;
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 2);

    store.forget_recovery(active.key(), &unit).await.unwrap();
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 0);
    let store = crash(location).await;
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 1);
    store.note_clean_end().await.unwrap();
    let store = crash(location).await;
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 0, "the end was asked for");
    let store = crash(location).await;
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 1, "this one was not");
    store.delete_session(active.key()).await.unwrap();
    assert_eq!(attempt(&store, active.key(), &unit).await.0, 0);
}

pub async fn a_run_that_was_not_being_recovered_is_not_blamed_for_a_crash(location: &StoreLocation) {
    let store = location.open();
    let (mut guilty, mut innocent) = (Script::new(&store, "guilty"), Script::new(&store, "innocent"));
    guilty.ask("u", None, "m").await;
    innocent.ask("u", None, "m").await;
    let unit = id("m");
    crash(location).await;
    let store = crash(location).await;
    store.note_recovery(guilty.key(), &unit, RecoveryStage::Folding).await.unwrap();
    let store = crash(location).await;
    assert_eq!(attempt(&store, guilty.key(), &unit).await, (3, RecoveryStage::Folding));
    assert_eq!(attempt(&store, innocent.key(), &unit).await, (2, RecoveryStage::NotStarted));
    guilty.finish("m", "ended").await;
    store.note_recovery(innocent.key(), &unit, RecoveryStage::Active).await.unwrap();
    let store = crash(location).await;
    assert_eq!(attempt(&store, guilty.key(), &unit).await.0, 0, "it is over");
    assert_eq!(attempt(&store, innocent.key(), &unit).await, (3, RecoveryStage::Active));
}

pub async fn a_queued_message_that_begins_is_counted_like_a_run(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let queued = |name: &str| SessionEvent::MessageQueued {
        message: user(name, "later"),
        edits: None,
        after: None,
        options: Box::new(RunOptions::default()),
    };
    script.append(vec![queued("a"), queued("b")]).await;
    let store = crash(location).await;
    assert_eq!(attempt(&store, script.key(), &id("a")).await.0, 0, "it was queued behind a run");
    script.finish("m", "done").await;
    let store2 = crash(location).await;
    drop(store);
    assert_eq!(attempt(&store2, script.key(), &id("a")).await.0, 1);
    assert_eq!(attempt(&store2, script.key(), &id("b")).await.0, 0, "it is not the next");
    script.append(vec![SessionEvent::QueueLeft { queued: id("a"), why: QueueExit::Withdrawn }]).await;
    let store = crash(location).await;
    assert_eq!(attempt(&store, script.key(), &id("a")).await.0, 0);
    assert_eq!(attempt(&store, script.key(), &id("b")).await.0, 1);
}
