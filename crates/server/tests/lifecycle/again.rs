//! The same message again joins its run or replays it; it never starts a second one.

use super::*;

#[tokio::test]
async fn the_same_message_again_joins_the_run_that_is_on() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One").then(waits(&gate)).then(says("."))]).await;
    let mut turn = app.send("hello").await;
    turn.until_text("One").await;
    let mut joined = app.chat("chat").send("hello").await;
    gate.open();
    assert_eq!(joined.message().await, turn.message().await);
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn the_same_message_again_replays_a_finished_answer() {
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    let mut turn = app.send("hello").await;
    turn.end().await;
    app.send("on").await.end().await;
    let rows = app.rows().await;
    let mut again = app.chat("chat").send("hello").await;
    assert_eq!(again.message().await, turn.shown());
    assert_eq!((app.rows().await, app.model.requests().len()), (rows, 2));
}

#[tokio::test]
async fn the_same_message_again_replays_the_question_that_waits() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" })), says("Thanks.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let tab = app.chat("chat");
    let mut again = tab.send("go").await;
    assert_eq!(again.message().await, turn.shown());
    again.respond("apr_1", true, None).await;
    assert_eq!(again.text().await, "Thanks.");
}

#[tokio::test]
async fn the_replay_of_a_withdrawn_question_is_what_the_history_has() {
    let app =
        TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" })), says("Never mind.")]).await;
    app.send("go").await.end().await;
    app.send("something else").await.end().await;
    let mut again = app.chat("chat").send("go").await;
    let replayed = again.message().await;
    let kept = app.main.history().await[1].clone();
    let state = |message: &UiMessage| message.tool_parts().next().unwrap().state.clone();
    assert!(matches!(state(&kept), ToolState::OutputDenied { .. }), "{kept:?}");
    assert!(matches!(state(&replayed), ToolState::OutputDenied { .. }), "{replayed:?}");
}

#[tokio::test]
async fn the_replay_of_a_stopped_question_is_what_the_history_has() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" }))]).await;
    app.send("go").await.end().await;
    assert_eq!(app.main.stop().await.json(), json!({ "stopped": true, "status": "cancelled" }));
    let mut again = app.chat("chat").send("go").await;
    assert_eq!(again.end().await, Chunk::Abort);
    assert!(matches!(again.shown().tool_parts().next().unwrap().state, ToolState::OutputDenied { .. }));
}
