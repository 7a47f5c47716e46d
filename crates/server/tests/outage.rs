//! The store fails: clients hear of it, nothing hangs, nothing is told that is not kept, and the chat comes back.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::json;
use testkit::{
    Gate, Scripted, TestApp,
    protocol::ErrorCode,
    says,
    sse::{SseEvent, SseEvents},
    waits,
};

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_refused_and_can_be_sent_again() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).start().await;
    app.send("first").await.end().await;
    app.break_log();
    let body = json!({ "id": "chat", "messages": [testkit::user("x", "second")] });
    app.main.post(&body).await.assert_sentence(ErrorCode::StoreUnavailable);
    let new = json!({ "id": "new", "messages": [testkit::user("x", "first")] });
    app.main.post(&new).await.assert_sentence(ErrorCode::StoreUnavailable);
    app.mend_log();
    assert_eq!(app.caller.session_ids().await, ["chat"], "nothing is half stored");
    assert_eq!(app.main.post(&body).await.status, 200);
    assert_eq!(app.main.history().await.len(), 4);
}

#[tokio::test]
async fn a_run_whose_end_cannot_be_stored_is_cut_off_and_taken_up_again() {
    let gate = Gate::new();
    let script = [says("Half ").then(waits(&gate)).then(says("an answer.")), says("of it.")];
    let app = TestApp::scripted(script).await;
    app.main.add_user("go");
    let body = app.main.body(json!({}), json!({}));
    let mut events = SseEvents::of(app.main.open(&body).await);
    gate.reached().await;
    app.break_log();
    gate.open();
    let mut all = Vec::new();
    while let Some(frame) = events.next().await {
        all.push(frame);
    }
    assert_eq!(all.pop(), Some(SseEvent::Done));
    let Some(SseEvent::Chunk { json: last, .. }) = all.pop() else { panic!("{all:?}") };
    assert_eq!(last["type"], "error");
    assert!(
        !all.iter().any(|frame| matches!(frame, SseEvent::Chunk { json, .. } if json["type"] == "finish"))
    );
    app.mend_log();

    let again = app.main.post(&body).await;
    assert_eq!(again.status, 200, "the same message again takes the run up: {again:?}");
    let history = app.main.history().await;
    assert_eq!(history.len(), 2);
    assert_eq!(history[1].id.as_str(), "msg_1", "in the same message");
    assert!(history[1].text().ends_with("of it."), "{}", history[1].text());
    assert_eq!(app.main.info().await["status"], "idle");
}
