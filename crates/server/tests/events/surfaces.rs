//! One session on both surfaces: what is done on one is seen on the other, with the same ids.

use serde_json::{Value, json};
use testkit::{
    Chat, EventsClient, Gate, TestApp,
    protocol::{Chunk, Part, ToolState, UiMessage, message::Approval},
    says, waits,
};

use crate::{asks, scripted, tools_of};

/// The texts of a history on the chat surface and on this one, which must agree.
pub async fn agreed(app: &TestApp, client: &EventsClient, session: &str) -> Vec<String> {
    let mut chat: Vec<UiMessage> = app.chat(session).history().await;
    // A run that was stopped before its first word has a message on the chat surface and no item on this one.
    chat.retain(|message| !message.text().is_empty() || message.tool_parts().next().is_some());
    let events = client.history(session).await;
    let of_chat: Vec<String> = chat.iter().map(UiMessage::text).collect();
    let mut of_events: Vec<(String, String)> = Vec::new();
    for item in events.iter().filter(|item| item["role"] != "tool") {
        let id = item["id"].as_str().unwrap().split(':').next().unwrap().to_owned();
        let text = item["content"].as_str().unwrap();
        match of_events.last_mut().filter(|(last, _)| *last == id) {
            Some((_, all)) => all.push_str(text),
            None => of_events.push((id, text.to_owned())),
        }
    }
    let ids: Vec<&str> = chat.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(of_events.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ids, "the same ids");
    assert_eq!(of_events.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), of_chat, "the same texts");
    let calls = |item: &Value| item["tool_calls"].as_array().cloned().unwrap_or_default();
    let of_events: Vec<Value> = events.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
    let of_chat =
        chat.iter().flat_map(UiMessage::tool_parts).map(|tool| json!(tool.call)).collect::<Vec<_>>();
    assert_eq!(of_events, of_chat, "the same calls");
    chat.iter().map(UiMessage::text).collect()
}

#[tokio::test]
async fn the_agent_chosen_here_answers_on_the_chat_surface() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.switch("code_reviewer").await;
    let mut turn = app.chat(&session).send("hello").await;
    assert_eq!(turn.text().await, "one");
    let requests = app.model.requests();
    assert!(requests[0].system.contains("ROLE-REVIEWER"));
    assert_eq!(tools_of(&requests[0]), ["read-file"]);
    let complete = client.until_kind("complete").await;
    assert_eq!(complete.text("agentId"), "code_reviewer");
    let user = client.seen.iter().find(|event| event.text("role") == "user").unwrap();
    assert_eq!((user.text("origin"), user.text("content")), ("chat", "hello"));
    assert_eq!(agreed(&app, &client, &session).await, ["hello", "one"]);
}

#[tokio::test]
async fn an_agent_named_on_the_chat_surface_is_told_here_and_stays() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    app.chat(&session).send_with("hello", json!({ "agentId": "debugger" })).await.end().await;
    let switched = client.until_kind("agent_switched").await;
    assert_eq!((switched.text("previousAgentId"), switched.text("currentAgentId")), ("general", "debugger"));
    client.until_kind("complete").await;
    client.ask("more").await;
    assert_eq!(client.seen.last().unwrap().text("agentId"), "debugger");
    let chat = app.chat(&session);
    chat.reload().await;
    let refused = chat.post(&chat.body_of("x", json!({ "agentId": "hacker" }))).await;
    assert_eq!((refused.status, refused.header("x-error-code")), (404, "agent_not_found"), "{refused:?}");
    assert_eq!(client.load(&session).await["currentAgentId"], "debugger");
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn a_run_of_the_chat_surface_is_seen_here_with_the_same_ids() {
    let app = scripted([says("one"), says("Two.")]).await;
    app.send("hello").await.end().await;
    let mut client = app.caller.events().await;
    client.load("chat").await;
    let mut turn = app.send("more").await;
    turn.end().await;
    let complete = client.until_kind("complete").await;
    let Chunk::Start { message_id, .. } = &turn.chunks[0] else { panic!("{:?}", turn.chunks) };
    let said = client.seen.iter().rev().find(|event| event.text("role") == "assistant").unwrap();
    assert_eq!((said.text("messageId"), said.text("content")), (&**message_id, "Two."));
    let user = client.seen.iter().find(|event| event.text("role") == "user").unwrap();
    assert_eq!(user.text("messageId"), turn.user.as_ref().unwrap().as_str());
    assert!(client.seen[2..].iter().all(|event| event.run() == complete.run()));
    assert_eq!(agreed(&app, &client, "chat").await, ["hello", "one", "more", "Two."]);
}

#[tokio::test]
async fn a_run_started_here_is_streamed_on_the_chat_surface() {
    let gate = Gate::new();
    let app = scripted([says("One ").then(waits(&gate)).then(says("two."))]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    assert!(app.chat(&session).resume().await.is_none(), "no run is active");
    client.chat("go").await;
    gate.reached().await;
    let chat = app.chat(&session);
    chat.reload().await;
    let busy = app.chat(&session);
    busy.reload().await;
    let refused = busy.post(&busy.body_of("me too", json!({}))).await;
    assert_eq!((refused.status, refused.header("x-error-code")), (409, "session_busy"), "{refused:?}");
    let mut turn = chat.resume().await.unwrap();
    gate.open();
    assert_eq!(turn.text().await, "One two.");
    client.until_kind("complete").await;
    assert!(chat.resume().await.is_none());
    let said = client.seen.iter().rev().find(|event| event.text("role") == "assistant").unwrap();
    assert_eq!(said.text("messageId"), turn.shown().id.as_str());
    agreed(&app, &client, &session).await;
}

#[tokio::test]
async fn a_question_of_the_chat_surface_is_answered_here() {
    let app = scripted([says("one"), asks("c"), says("Done.")]).await;
    app.send("hello").await.end().await;
    let mut client = app.caller.events().await;
    client.load("chat").await;
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let asked = client.until_kind("tool_confirmation_request").await;
    assert_eq!(asked.request_id(), approval, "the same id");
    assert_eq!(client.confirm(&approval, json!("approve")).await.status, 200);
    let resolved = client.until_kind("interaction_resolved").await;
    assert_eq!((resolved.text("by"), resolved.text("outcome")), ("events", "answered"));
    assert_eq!(client.until_kind("complete").await.run(), asked.run(), "the same run goes on");
    let late =
        app.caller.post_json(&format!("/api/approvals/{approval}"), &json!({ "approved": false })).await;
    assert_eq!(late.status, 409, "the first answer wins: {late:?}");
    agreed(&app, &client, "chat").await;
}

/// Answers the only question of the last message as the stock client does.
async fn respond(chat: &Chat, approved: bool) {
    chat.reload().await;
    let last = chat.messages().last().unwrap().id.clone();
    chat.set_messages(|messages| {
        for part in &mut messages.last_mut().unwrap().parts {
            if let Part::Tool(tool) = part
                && let ToolState::ApprovalRequested { input, approval } = tool.state.clone()
            {
                let approval = Approval { id: approval, approved: Some(approved), reason: None };
                tool.state = ToolState::ApprovalResponded { input, approval };
            }
        }
    });
    let body = chat.body(json!({ "trigger": "submit-message", "messageId": last }), json!({}));
    chat.open_turn(&body).await.end().await;
}

#[tokio::test]
async fn a_question_asked_here_is_answered_on_the_chat_surface() {
    for (approved, status) in [(true, "success"), (false, "error")] {
        let app = scripted([asks("c"), says("Done.")]).await;
        let mut client = app.caller.events().await;
        let session = client.create().await;
        let run = client.chat("go").await;
        let asked = client.until_kind("tool_confirmation_request").await;
        let chat = app.chat(&session);
        chat.settled().await;
        respond(&chat, approved).await;
        let resolved = client.until_kind("interaction_resolved").await;
        assert_eq!((resolved.text("by"), resolved.text("requestId")), ("chat", asked.request_id()));
        assert_eq!(client.until_kind("tool_result").await.text("status"), status);
        let complete = client.until_kind("complete").await;
        assert_eq!(
            (complete.run(), complete.text("status")),
            (Some(run.as_str()), "finished"),
            "a denial goes on"
        );
        let late = client.confirm(asked.request_id(), json!("approve")).await;
        assert_eq!(late.status, 409);
        agreed(&app, &client, &session).await;
    }
}

#[tokio::test]
async fn a_new_message_of_the_chat_surface_withdraws_the_question() {
    let app = scripted([asks("c"), says("All right.")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    let run = client.chat("go").await;
    let asked = client.until_kind("tool_confirmation_request").await;
    let chat = app.chat(&session);
    chat.settled().await;
    let busy = client.send(json!({ "type": "chat", "content": "other" })).await;
    assert_eq!(
        (busy.status, &busy.json()["errorCode"]),
        (409, &json!("session_busy")),
        "not on this surface"
    );
    chat.reload().await;
    assert_eq!(chat.send("never mind").await.text().await, "All right.");
    let resolved = client.until_kind("interaction_resolved").await;
    assert_eq!((resolved.text("outcome"), resolved.text("by")), ("aborted", "chat"));
    assert_eq!(resolved.text("requestId"), asked.request_id());
    assert_eq!(client.until_kind("tool_result").await.text("status"), "error");
    let complete = client.until_kind("complete").await;
    assert_eq!((complete.run(), complete.text("status")), (Some(run.as_str()), "rejected"));
    let next = client.until_kind("complete").await;
    assert_ne!(next.run(), Some(run.as_str()));
    assert_eq!(next.text("status"), "finished");
    agreed(&app, &client, &session).await;
}

#[tokio::test]
async fn a_run_is_stopped_from_the_other_surface() {
    let gate = Gate::new();
    let app = scripted([says("Half").then(waits(&gate)), waits(&gate)]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    gate.reached().await;
    assert_eq!(app.chat(&session).stop().await.json()["stopped"], true);
    assert_eq!(client.until_kind("complete").await.text("status"), "cancelled");
    let chat = app.chat(&session);
    chat.reload().await;
    let mut turn = chat.send("again").await;
    client.until(|event| event.text("role") == "user" && event.text("content") == "again").await;
    assert_eq!(client.abort().await["aborted"], true);
    assert!(matches!(turn.end().await, Chunk::Abort { .. }));
    assert_eq!(client.until_kind("complete").await.text("status"), "cancelled");
}

#[tokio::test]
async fn an_answer_continued_on_the_chat_surface_is_told_here() {
    let gate = Gate::new();
    let app = scripted([says("Once upon").then(waits(&gate)), says(" a time.")]).await;
    let mut client = app.caller.events().await;
    let mut turn = app.send("a story").await;
    client.load("chat").await;
    gate.reached().await;
    app.main.stop().await;
    turn.end().await;
    assert_eq!(client.until_kind("complete").await.text("status"), "cancelled");
    app.main.resend_last().await.end().await;
    let told = client.rest().await;
    assert!(told.iter().any(|event| event.kind() == "complete"), "the continuation is told: {told:?}");
}
