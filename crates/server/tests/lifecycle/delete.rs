//! A chat that is deleted while a run is active or a message is queued.

use super::*;

#[tokio::test]
async fn a_deleted_chat_stops_and_leaves_nothing() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("Half").then(waits(&gate)), says("New.")]).await;
    let before = app.rows().await;
    let mut turn = app.send("go").await;
    turn.until_text("Half").await;
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    assert_eq!(turn.end().await, Chunk::Abort);
    assert_eq!(app.rows().await, before);
    app.get("/api/chat/chat/messages").await.assert_sentence(ErrorCode::SessionNotFound);
    app.caller.delete("/api/sessions/chat").await.assert_problem(ErrorCode::SessionNotFound);
    let tab = app.chat("chat");
    assert_eq!(tab.send("again").await.text().await, "New.", "the id may be used again");
    tab.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_deleted_chat_takes_the_messages_that_wait_with_it() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate), says("Never.")]).await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    let body = json!({ "id": "chat", "messages": [testkit::user("w", "later")], "whenBusy": "queue" });
    let queued = app.main.open(&body).await;
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    let gone = testkit::HttpResponse::of(queued).await;
    assert!(gone.body.contains("There is no such chat."), "{gone:?}");
    assert_eq!(turn.end().await, Chunk::Abort);
    assert_eq!(app.caller.session_ids().await, Vec::<String>::new());
}
