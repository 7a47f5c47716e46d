//! Compaction on request: `/compact` as a message, and the route.

use serde_json::{Value, json};
use testkit::{
    Scripted, TestApp, calls,
    models::{ModelMessage, ModelRequest, Purpose},
    says,
};

use super::compactions;

fn script() -> Scripted {
    Scripted::choosing(|request| match request.purpose {
        Purpose::Summary => says(&format!("In short. {}", wish(request))),
        _ if format!("{:?}", request.messages).ends_with("Text(\"ask me\")] }]") => {
            calls("q", "conf_approve", json!({ "text": "may I" }))
        }
        _ => says("Yes."),
    })
}

fn wish(request: &ModelRequest) -> &'static str {
    if format!("{:?}", request.messages).contains("keep the names") { "With names." } else { "" }
}

fn sent(app: &TestApp) -> Vec<ModelRequest> {
    app.model.requests().into_iter().filter(|request| request.purpose == Purpose::Answer).collect()
}

#[tokio::test]
async fn the_command_summarises_everything_but_the_newest_turn_and_is_itself_not_for_the_model() {
    let app = TestApp::builder().script(script()).start().await;
    for text in ["one", "two", "three"] {
        app.send(text).await.end().await;
    }
    let mut turn = app.send("/compact keep the names").await;
    let message = turn.message().await;
    assert!(message.text().contains("is summarised"), "{}", message.text());
    let done = compactions(&message);
    assert_eq!((&done[0]["status"], &done[0]["trigger"]), (&json!("done"), &json!("command")));
    assert_eq!(done[0]["summary"], "In short. With names.");
    assert_eq!(done[0]["keep"]["messageId"], "u3");
    app.main.assert_history_is_what_the_tab_shows().await;

    app.send("four").await.end().await;
    let last = sent(&app).pop().unwrap();
    let text = format!("{:?}", last.messages);
    assert!(
        text.contains("In short. With names.") && text.contains("three") && text.contains("four"),
        "{text}"
    );
    assert!(
        !text.contains("\"one\"") && !text.contains("/compact") && !text.contains("is summarised"),
        "{text}"
    );
    let roles: Vec<bool> =
        last.messages.iter().map(|message| matches!(**message, ModelMessage::User { .. })).collect();
    assert_eq!(roles, [true, false, true]);
}

#[tokio::test]
async fn with_nothing_to_summarise_it_says_so_and_asks_no_model() {
    let app = TestApp::builder().script(script()).start().await;
    app.send("one").await.end().await;
    let mut turn = app.send("/compact").await;
    assert!(turn.text().await.contains("nothing to summarise"));
    assert_eq!(app.model.requests().len(), 1);
    for text in ["two", "three", "/compact"] {
        app.send(text).await.end().await;
    }
    let again = app.send("/compact").await.text().await;
    assert!(
        again.contains("nothing to summarise") && again.contains("summarised already"),
        "the model does not read the summarised messages any more: {again}"
    );
    assert!(app.send("what does /compact do?").await.text().await.contains("Yes."), "that is for the model");
}

#[tokio::test]
async fn a_question_that_waits_is_not_withdrawn_by_it() {
    let app = TestApp::builder().script(script()).start().await;
    app.send("one").await.end().await;
    app.send("two").await.end().await;
    let mut turn = app.send("ask me").await;
    let asked = turn.approvals().await;
    let body = json!({ "id": "chat", "messages": [testkit::user("c1", "/compact")] });
    let answer = app.main.post(&body).await;
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.body.contains("Answer it first"), "{answer:?}");
    let answer = app.caller.post_json("/api/chat/chat/compact", &json!({})).await;
    assert_eq!(answer.status, 409, "{answer:?}");
    turn.respond(&asked[0], true, None).await;
    assert_eq!(turn.text().await, "Yes.");
    assert_eq!(app.caller.post_json("/api/chat/chat/compact", &json!({})).await.status, 200);
}

#[tokio::test]
async fn the_route_does_the_same_and_answers_with_what_came_of_it() {
    let app = TestApp::builder().script(script()).start().await;
    for text in ["one", "two", "three"] {
        app.send(text).await.end().await;
    }
    let answer =
        app.caller.post_json("/api/chat/chat/compact", &json!({ "instructions": "keep the names" })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let said: Value = answer.json();
    assert_eq!(said["compacted"], true);
    assert_eq!(said["compaction"]["summary"], "In short. With names.");
    let history = app.main.history().await;
    assert_eq!(said["messageId"], json!(history.last().unwrap().id));
    assert_eq!(history.len(), 8, "the command and its answer are part of the chat");
    assert_eq!(history[6].text(), "/compact keep the names");

    let again: Value = app.caller.post_json("/api/chat/chat/compact", &json!({})).await.json();
    assert_eq!(again["compacted"], false, "{again}");
    assert_eq!(app.caller.post_json("/api/chat/nobody/compact", &json!({})).await.status, 404);
    let long = json!({ "instructions": "x".repeat(100_000) });
    assert_eq!(app.caller.post_json("/api/chat/chat/compact", &long).await.status, 400);
    assert_eq!(app.get("/api/chat/chat/compact").await.status, 405);
}

#[tokio::test]
async fn the_answer_to_the_command_can_be_had_anew_and_the_branch_before_it_reads_everything() {
    let app = TestApp::builder().script(script()).start().await;
    for text in ["one", "two", "three", "/compact"] {
        app.send(text).await.end().await;
    }
    let mut again = app.main.regenerate().await;
    assert_eq!(compactions(&again.message().await)[0]["status"], "done");
    app.main.edit("u2", "another two").await.end().await;
    let text = format!("{:?}", sent(&app).pop().unwrap().messages);
    assert!(text.contains("one") && text.contains("another two") && !text.contains("In short"), "{text}");
}
