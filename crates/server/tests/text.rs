//! Plain conversation: what is streamed, what is stored, what the model is sent.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    FixedClock, TestApp,
    models::{ModelMessage, UserContent},
    protocol::{Chunk, FinishReason, Usage},
    reasons, says, says_in_pieces,
};

#[tokio::test]
async fn a_text_answer_is_streamed_as_it_comes() {
    let app = TestApp::scripted([says_in_pieces(&["Hello", ", ", "you."])]).await;
    insta::assert_snapshot!(app.send("hi").await.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Hello"
    text-delta s0 ", "
    text-delta s0 "you."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn the_start_says_who_answers() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let mut turn = app.send("hi").await;
    let Some(Chunk::Start { message_id, message_metadata }) = turn.next_chunk().await else { panic!() };
    assert_eq!(message_id, "msg_1");
    assert_eq!(
        Value::Object(message_metadata.unwrap().to_map()),
        json!({
            "agent": { "kind": "main", "name": "general", "displayName": "General", "depth": 0, "path": ["general"] },
            "agentName": "general",
            "model": "scripted/script",
            "createdAt": FixedClock::START,
        })
    );
}

#[tokio::test]
async fn the_stored_message_has_all_that_is_known_of_it() {
    let usage = Usage { input_tokens: 12, output_tokens: 3, total_tokens: 15, ..Usage::default() };
    let app = TestApp::scripted([reasons("Hm.").then(says("Hi.")).uses(usage)]).await;
    app.send("hi").await.end().await;
    let history: Vec<Value> = app.main.history().await.iter().map(|message| json!(message)).collect();
    assert_eq!(
        history,
        [
            json!({ "id": "u1", "role": "user", "parts": [{ "type": "text", "text": "hi" }] }),
            json!({ "id": "msg_1", "role": "assistant",
                "metadata": {
                    "agent": { "kind": "main", "name": "general", "displayName": "General", "depth": 0, "path": ["general"] },
                    "agentName": "general",
                    "model": "scripted/script",
                    "createdAt": FixedClock::START,
                    "status": "finished",
                    "finishReason": "stop",
                    "usage": { "inputTokens": 12, "outputTokens": 3, "totalTokens": 15, "cachedInputTokens": 0,
                        "reasoningTokens": 0 },
                    "contextTokens": 15,
                },
                "parts": [
                    { "type": "step-start" },
                    { "type": "reasoning", "id": "s0", "text": "Hm.", "state": "done" },
                    { "type": "text", "text": "Hi.", "state": "done" },
                ] }),
        ]
    );
}

#[tokio::test]
async fn a_conversation_is_sent_to_the_model_as_it_was_had() {
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    app.send("first").await.end().await;
    app.send("second").await.end().await;
    let request = app.model.requests().pop().unwrap();
    assert!(!request.system.is_empty());
    assert!(request.tools.iter().any(|tool| tool.name == "time-now"));
    let roles: Vec<_> = request
        .messages
        .iter()
        .map(|message| match &**message {
            ModelMessage::User { .. } => "user",
            ModelMessage::Assistant { .. } => "assistant",
            ModelMessage::Tool { .. } => "tool",
        })
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let first = app.model.requests().remove(0);
    assert_eq!(first.system, request.system, "stable, so that provider caches hit");
}

#[tokio::test]
async fn files_of_the_user_reach_the_model_and_the_history() {
    let app = TestApp::scripted([says("A picture.")]).await;
    let parts = json!([
        { "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "filename": "a.png" },
        { "type": "text", "text": "what is this?" },
    ]);
    let message = json!({ "id": "m", "role": "user", "metadata": { "mine": [1] }, "parts": parts });
    let body = json!({ "id": "chat", "messages": [message] });
    assert_eq!(app.main.post(&body).await.status, 200);
    let request = app.model.requests().remove(0);
    let ModelMessage::User { content } = &*request.messages[0] else { panic!() };
    assert!(matches!(content[0], UserContent::Facts(_)));
    assert_eq!(
        content[1],
        UserContent::File {
            media_type: "image/png".to_owned(),
            url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC".to_owned(),
            filename: Some("a.png".to_owned()),
        }
    );
    assert_eq!(json!(app.main.history().await[0]), message);
}

#[tokio::test]
async fn the_models_own_reason_is_told() {
    for (reason, name) in [
        (FinishReason::Length, "length"),
        (FinishReason::ContentFilter, "content-filter"),
        (FinishReason::Other, "other"),
    ] {
        let app = TestApp::scripted([says("So").finishes(reason)]).await;
        let mut turn = app.send("hi").await;
        let end = turn.end().await;
        assert!(matches!(end, Chunk::Finish { finish_reason, .. } if finish_reason == reason), "{end:?}");
        assert_eq!(turn.shown().metadata.unwrap()["finishReason"], name);
    }
}

#[tokio::test]
async fn text_of_every_kind_survives_the_way() {
    let odd = "quote \" back \\ line\u{2028} tab\t newline\n\ndata: x\r\n会话 🦀 </script>";
    let app = TestApp::scripted([says(odd)]).await;
    assert_eq!(app.send(odd).await.text().await, odd);
    assert_eq!(app.main.history().await[0].text(), odd);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn unknown_fields_of_the_body_are_ignored() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let fields = json!({ "model": "gpt", "webSearch": true, "projectId": "p", "trigger": "dance" });
    assert_eq!(app.main.send_with("hi", fields).await.text().await, "Hi.");
}

#[tokio::test]
async fn chats_do_not_see_each_other() {
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    app.chat("a").send("to a").await.end().await;
    app.chat("b").send("to b").await.end().await;
    assert_eq!(app.model.requests()[1].messages.len(), 1);
    assert_eq!(app.chat("a").history().await[0].text(), "to a");
}
