//! Bodies and queries: what is refused with which code, and that a refusal disturbs no stream.

use serde_json::{Value, json};
use testkit::{TestApp, says};

use crate::{scripted, started};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Path, headers, body, and the status and code of the refusal.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, u16, &'a str);

#[tokio::test]
async fn bodies_that_are_refused() {
    let app = started(TestApp::builder().server(|server| server.max_body_bytes = 1_000)).await;
    let mut client = app.caller.events().await;
    client.create().await;
    let long = format!("{{\"type\":\"heartbeat\",\"x\":\"{}\"}}", "a".repeat(2_000));
    let cases: [Case<'_>; 13] = [
        ("/message", &[], "{\"type\":\"heartbeat\"}", 415, "unsupported_media_type"),
        (
            "/message",
            &[("content-type", "text/plain")],
            "{\"type\":\"heartbeat\"}",
            415,
            "unsupported_media_type",
        ),
        ("/session/load", &[("content-type", "text/plain")], "{}", 415, "unsupported_media_type"),
        ("/message", &[JSON], "{\"type\":", 400, "invalid_json"),
        ("/message", &[JSON], "", 400, "invalid_json"),
        ("/message", &[JSON], "[]", 400, "invalid_message"),
        ("/message", &[JSON], "\"chat\"", 400, "invalid_message"),
        ("/message", &[JSON], "{}", 400, "invalid_message"),
        ("/message", &[JSON], "{\"type\":7}", 400, "invalid_message"),
        ("/message", &[JSON], "{\"type\":\"hello\"}", 400, "unknown_message_type"),
        ("/message", &[JSON], "{\"type\":\"chat\",\"content\":7}", 400, "invalid_message"),
        ("/session/load", &[JSON], "{}", 400, "invalid_message"),
        ("/message", &[JSON], &long, 413, "body_too_large"),
    ];
    for (path, headers, body, status, code) in cases {
        let answer = app.caller.request("POST", path, headers, body.to_owned()).await;
        assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
        let json = answer.json();
        assert_eq!((&json["success"], &json["errorCode"]), (&json!(false), &json!(code)), "{path} {body}");
        assert_eq!(json["error"], json["message"]);
        assert!(json["message"].as_str().is_some_and(|message| !message.is_empty()));
    }
    assert_eq!(client.rest().await, [], "none of these is an event");
}

#[tokio::test]
async fn fields_of_the_wrong_type_are_refused_and_unknown_ones_ignored() {
    let app = scripted([says("one")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    for body in [
        json!({ "type": "chat" }),
        json!({ "type": "chat", "content": "" }),
        json!({ "type": "chat", "content": " \n" }),
        json!({ "type": "chat", "content": "x", "yoloMode": "yes" }),
        json!({ "type": "chat", "content": "x", "images": "none" }),
        json!({ "type": "chat", "content": "x", "sessionId": 7 }),
        json!({ "type": "chat", "content": "x", "requestId": 7 }),
        json!({ "type": "chat", "content": "x", "requestId": "" }),
        json!({ "type": "abort", "sessionId": [] }),
        json!({ "type": "rollback" }),
        json!({ "type": "rollback", "rollback": { "messageIndex": -1 } }),
        json!({ "type": "rollback", "rollback": { "messageIndex": 0, "rollbackFiles": 1 } }),
        json!({ "type": "rollback", "rollback": { "messageIndex": 0, "rollbackFiles": true, "selectedFiles": "a" } }),
        json!({ "type": "rollback", "rollback": { "messageIndex": 0, "rollbackFiles": true, "selectedFiles": [7] } }),
        json!({ "type": "tool_confirmation_response", "response": "approve" }),
    ] {
        let answer = client.send(body.clone()).await;
        assert_eq!(
            (answer.status, &answer.json()["errorCode"]),
            (400, &json!("invalid_message")),
            "{body}: {answer:?}"
        );
    }
    assert_eq!(client.rest().await, []);
    let known = json!({ "type": "chat", "content": "hi", "sessionId": session, "colour": "red", "nested": { "a": [1] } });
    assert_eq!(client.message(known).await["success"], true);
    client.until_kind("complete").await;
}

#[tokio::test]
async fn checks_run_in_their_order() {
    let app = scripted([]).await;
    let code = async |body: Value| app.caller.post_json("/message", &body).await.json()["errorCode"].clone();
    let far = "conn_closed";
    assert_eq!(code(json!({ "type": "nothing", "connectionId": 7 })).await, "unknown_message_type");
    assert_eq!(code(json!({ "type": "chat", "content": 7, "connectionId": far })).await, "invalid_message");
    assert_eq!(
        code(json!({ "type": "chat", "content": "x", "connectionId": far, "sessionId": "ses_no" })).await,
        "connection_not_found"
    );
    assert_eq!(code(json!({ "type": "chat", "content": "x" })).await, "no_active_connection");
    assert_eq!(code(json!({ "type": "switch_agent", "agentId": "" })).await, "no_active_connection");
    assert_eq!(code(json!({ "type": "switch_agent", "agentId": 7 })).await, "invalid_message");
    assert_eq!(code(json!({ "type": "heartbeat" })).await, Value::Null, "accepted at any time");
}

#[tokio::test]
async fn paths_and_methods() {
    let app = scripted([]).await;
    assert_eq!(app.caller.get("/message").await.status, 405);
    assert_eq!(app.caller.post_json("/events", &json!({})).await.status, 405);
    assert_eq!(app.caller.get("/session/nothing/here").await.status, 404);
    assert_eq!(app.caller.delete("/session/create").await.status, 405);
    assert_eq!(app.caller.delete("/session/nobody").await.json()["deleted"], false);
    let foreign = [("origin", "https://evil.example"), JSON];
    let answer = app.caller.request("POST", "/message", &foreign, "not json").await;
    assert_eq!((answer.status, &answer.json()["errorCode"]), (403, &json!("origin_forbidden")));
}

#[tokio::test]
async fn the_list_has_pages_and_finds_words() {
    let app = scripted([says("about violins"), says("about cellos")]).await;
    let mut client = app.caller.events().await;
    let first = client.create().await;
    client.ask("strings").await;
    app.clock.advance(1_000);
    let second = client.create().await;
    client.ask("more strings").await;
    let list = async |query: &str| app.caller.get(&format!("/session/list{query}")).await.json();
    let all = list("").await;
    let ids = |list: &Value| -> Vec<String> {
        let sessions = list["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&all), [second.clone(), first.clone()], "newest first");
    assert_eq!(
        (&all["page"], &all["pageSize"], &all["total"], &all["hasMore"]),
        (&json!(0), &json!(20), &json!(2), &json!(false))
    );
    let item = &all["sessions"][0];
    assert!(item["messages"].is_null() && item["lastSeq"].is_null() && item["pendingInteractions"].is_null());
    assert_eq!(
        (&item["status"], &item["currentAgentId"], &item["messageCount"]),
        (&json!("idle"), &json!("general"), &json!(2))
    );
    let page = list("?page=1&pageSize=1").await;
    assert_eq!((ids(&page), &page["hasMore"]), (vec![first.clone()], &json!(false)));
    assert_eq!(list("?page=0&pageSize=1").await["hasMore"], true);
    let junk = list("?page=x&pageSize=-3").await;
    assert_eq!((&junk["page"], &junk["pageSize"]), (&json!(0), &json!(20)));
    assert_eq!(list("?pageSize=100000").await["pageSize"], 200);
    assert_eq!(list("?pageSize=0").await["pageSize"], 1);
    let found = list("?q=cellos").await;
    assert_eq!((ids(&found), &found["searchQuery"]), (vec![second], &json!("cellos")));
    assert_eq!(list("?q=trombones").await["total"], 0);
}
