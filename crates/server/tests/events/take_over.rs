//! One session is at one connection: whoever loads it takes it over.

use serde_json::json;
use testkit::{Gate, says, says_in_pieces, waits};

use crate::{asks, scripted};

#[tokio::test]
async fn after_a_take_over_the_old_connection_is_told_nothing_more() {
    let gate = Gate::new();
    let app = scripted([says("one ").then(waits(&gate)).then(says("two")), says("three")]).await;
    let mut old = app.caller.events().await;
    let mut new = app.caller.events().await;
    let session = old.create().await;
    old.chat("go").await;
    old.until(|event| event.text("content") == "one ").await;
    let loaded = new.load(&session).await;
    let left = old.until_kind("session_unbound").await;
    assert_eq!((left.text("reason"), left.text("sessionId")), ("taken_over", session.as_str()));
    gate.open();
    new.until_kind("complete").await;
    new.ask("more").await;
    assert_eq!(old.rest().await, [], "no event of a session on another connection");
    let cut = loaded["lastSeq"].as_u64().unwrap();
    assert!(new.seen.iter().filter_map(|event| event.seq()).all(|seq| seq > cut));
    assert_eq!(old.switch("debugger").await["errorCode"], "session_not_found", "no default session");
    assert_eq!(new.switch("debugger").await["success"], true);
    old.rest().await;
    old.load(&session).await;
    assert_eq!(new.until_kind("session_unbound").await.text("reason"), "taken_over", "and back");
}

#[tokio::test]
async fn a_load_during_a_run_is_a_cut_without_loss_and_repeats_the_question() {
    let app = scripted([says_in_pieces(&["Let ", "me "]).then(asks("c")), says("Done.")]).await;
    let mut old = app.caller.events().await;
    let session = old.create().await;
    old.chat("go").await;
    let asked = old.until_kind("tool_confirmation_request").await;
    drop(old);
    let mut new = app.caller.events().await;
    let loaded = new.load(&session).await;
    assert_eq!(loaded["status"], "awaiting_interaction");
    assert_eq!(loaded["pendingInteractions"][0]["requestId"], json!(asked.request_id()));
    assert_eq!(loaded["messages"][1]["content"], "Let me ");
    let again = new.until_kind("tool_confirmation_request").await;
    assert_eq!((again.request_id(), again.data()), (asked.request_id(), asked.data()));
    assert!(again.seq() > loaded["lastSeq"].as_u64());
    new.confirm(again.request_id(), json!("approve")).await;
    assert_eq!(new.until_kind("complete").await.text("status"), "finished");
}

#[tokio::test]
async fn closing_a_connection_cancels_nothing() {
    let gate = Gate::new();
    let app = scripted([waits(&gate).then(says("done"))]).await;
    let client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    gate.reached().await;
    drop(client);
    gate.open();
    let client = app.caller.events().await;
    while client.load(&session).await["status"] != "idle" {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.history(&session).await[1]["content"], "done");
}

#[tokio::test]
async fn a_resume_that_finds_a_gap_leaves_the_session_where_it_is() {
    let app = scripted([says("one"), says("two")]).await;
    let mut owner = app.caller.events().await;
    let session = owner.create().await;
    owner.ask("hello").await;
    let mut other = app.caller.events_after(&format!("{session}.999999999"), "").await;
    let resync = other.next().await;
    assert_eq!((resync.kind(), resync.text("reason")), ("resync", "gap"));
    assert_eq!(owner.ask("more").await, "two", "the session is still here");
    assert_eq!(other.rest().await, []);
    other.load(&session).await;
    assert_eq!(owner.until_kind("session_unbound").await.text("reason"), "taken_over");
}

#[tokio::test]
async fn several_sessions_share_a_connection_and_are_told_apart() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let first = client.create().await;
    let second = client.create().await;
    let to_first = json!({ "type": "chat", "content": "a", "sessionId": first });
    client.message(to_first).await;
    client.until_kind("complete").await;
    // A message that names a session makes it the default one only where it binds; it was bound before.
    let to_second = json!({ "type": "chat", "content": "b", "sessionId": second });
    client.message(to_second).await;
    let complete = client.until_kind("complete").await;
    assert_eq!(complete.session(), Some(second.as_str()));
}

#[tokio::test]
async fn a_session_that_comes_back_before_the_client_has_read_is_told_in_order() {
    let app = scripted([says("one"), says("two"), says("three")]).await;
    let mut a = app.caller.events().await;
    let mut b = app.caller.events().await;
    let session = a.create().await;
    a.chat("first").await;
    app.chat(&session).settled().await;
    b.load(&session).await;
    b.ask("second").await;
    a.load(&session).await;
    a.chat("third").await;
    let mut texts = Vec::new();
    while texts.last().is_none_or(|last| last != "three") {
        let event = a.next().await;
        if event.text("role") == "assistant" && !event.is_growing() {
            texts.push(event.text("content").to_owned());
        }
    }
    assert_eq!(texts, ["one", "three"]);
    let left = a.kinds().iter().position(|kind| *kind == "session_unbound").unwrap();
    let first = a.kinds().iter().position(|kind| *kind == "complete").unwrap();
    assert!(first < left, "{:?}", a.kinds());
}
