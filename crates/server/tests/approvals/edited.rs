//! A person changes the input before allowing the call: what runs, what is shown, what the model is sent.

use serde_json::json;
use testkit::{
    TestApp, Turn,
    protocol::{Chunk, ErrorCode, ToolState},
    says,
};

use crate::{approval_path, asks, told};

async fn edited(turn: &Turn, app: &TestApp) {
    let body = json!({ "approved": true, "input": { "text": "keep it" } });
    let answer = app.caller.post_json(&approval_path("apr_1"), &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["input"], json!({ "text": "delete it" }), "what was asked stays on record");
    assert_eq!(answer.json()["edited"], json!({ "text": "keep it" }));
    assert!(!turn.chunks.is_empty());
}

#[tokio::test]
async fn the_edited_input_runs_and_the_message_says_that_it_was_edited() {
    let app = TestApp::scripted([asks("c", "delete it"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    edited(&turn, &app).await;
    app.main.settled().await;
    let message = app.main.history().await.pop().unwrap();
    let part = message.tool_parts().next().unwrap();
    let ToolState::OutputAvailable { input, output, .. } = &part.state else { panic!("{part:?}") };
    assert_eq!((input, output), (&json!({ "text": "delete it" }), &json!({ "echoed": "keep it" })));
    let metadata = message.metadata.clone().unwrap();
    assert_eq!(metadata["editedCalls"], json!({ "c": { "input": { "text": "keep it" } } }));
    let note = r#"The person changed the input before this ran, to: {"text":"keep it"}"#;
    assert_eq!(told(&app), [format!("{note}\n{}", r#"{"echoed":"keep it"}"#)]);

    // A client that reads the message again is told the same way: metadata, which every release takes.
    let mut again = app.chat("chat").send("go").await;
    again.end().await;
    let is_edit = |chunk: &Chunk<'_>| matches!(chunk, Chunk::MessageMetadata { message_metadata } if !message_metadata.edited_calls.is_empty());
    assert!(again.chunks.iter().any(is_edit));
    assert_eq!(again.shown().metadata, message.metadata);
}

#[tokio::test]
async fn an_edited_input_survives_a_restart_between_the_answer_and_the_call() {
    let app = TestApp::scripted([asks("c1", "delete it")]).await;
    let turn = app.send("go").await;
    let mut turn = turn;
    turn.end().await;
    let app = app.restart([says("Done.")]).await;
    edited(&turn, &app).await;
    app.main.settled().await;
    assert_eq!(app.main.history().await.pop().unwrap().text(), "Done.");
}

#[tokio::test]
async fn an_edited_input_must_fit_the_tool() {
    let app = TestApp::scripted([asks("c", "delete it"), says("Done.")]).await;
    app.send("go").await.end().await;
    for (input, named) in
        [(json!({}), "text"), (json!({ "text": 1 }), "text"), (json!({ "text": "a", "more": 1 }), "more")]
    {
        let body = json!({ "approved": true, "input": input });
        let refused = app.caller.post_json(&approval_path("apr_1"), &body).await;
        refused.assert_problem(ErrorCode::InvalidMessage);
        assert!(refused.json()["detail"].as_str().unwrap().contains(named), "{refused:?}");
    }
    let long = json!({ "approved": true, "input": { "text": "x".repeat(300_000) } });
    app.caller.post_json(&approval_path("apr_1"), &long).await.assert_problem(ErrorCode::InvalidMessage);
    let denied = json!({ "approved": false, "input": { "text": "a" } });
    app.caller.post_json(&approval_path("apr_1"), &denied).await.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(app.main.info().await["status"], "waiting", "nothing ran");
}

#[tokio::test]
async fn the_same_input_is_no_edit_and_another_one_comes_too_late() {
    let app = TestApp::scripted([asks("c", "delete it"), says("Done.")]).await;
    app.send("go").await.end().await;
    let same = json!({ "approved": true, "input": { "text": "delete it" } });
    let answer = app.caller.post_json(&approval_path("apr_1"), &same).await;
    assert_eq!((answer.status, answer.json().get("edited").cloned()), (200, None));
    let other = json!({ "approved": true, "input": { "text": "other" } });
    app.caller.post_json(&approval_path("apr_1"), &other).await.assert_problem(ErrorCode::ApprovalSettled);
    app.main.settled().await;
    assert!(app.main.history().await.pop().unwrap().metadata.unwrap().get("editedCalls").is_none());
}
