//! Limits and rights: how many connections, tickets, principals.

use serde_json::json;
use testkit::{TestApp, says, server::ConnectionLimits};

use crate::started;

async fn refused(app: &TestApp, path: &str) -> (u16, String) {
    let answer = app.stranger().get(path).await;
    (answer.status, answer.json()["errorCode"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn too_many_connections_are_refused_until_one_is_closed() {
    let limits = ConnectionLimits { all: 3, per_token: 2 };
    let app =
        started(TestApp::builder().with_auth().server(|server| server.event_connections = limits)).await;
    let other = app.caller_of("other").await;
    let first = app.caller.events().await;
    let _second = app.caller.events().await;
    let refused = app.caller.get("/events").await;
    assert_eq!(
        (refused.status, &refused.json()["errorCode"]),
        (429, &json!("too_many_connections")),
        "of this token"
    );
    let third = other.events().await;
    assert_eq!(other.get("/events").await.status, 429, "in all");
    let health = app.stranger().get("/health").await.json();
    assert_eq!(health["connections"], 3);
    drop(first);
    let _again = app.caller.events().await;
    drop(third);
    assert_eq!(app.stranger().get("/health").await.json()["connections"], 2);
}

#[tokio::test]
async fn every_route_but_health_needs_a_token() {
    let app = started(TestApp::builder().with_auth()).await;
    for path in [
        "/events",
        "/session/list",
        "/session/rollback-points?sessionId=x",
        "/events?ticket=tkt_guess",
        "/events?ticket=",
    ] {
        assert_eq!(refused(&app, path).await, (401, "unauthorized".to_owned()), "{path}");
    }
    for path in ["/message", "/session/create", "/session/load", "/events/ticket", "/context/compress"] {
        let answer = app.stranger().post_json(path, &json!({ "type": "heartbeat" })).await;
        assert_eq!((answer.status, &answer.json()["errorCode"]), (401, &json!("unauthorized")), "{path}");
        assert_eq!(answer.json()["error"], answer.json()["message"]);
    }
    assert_eq!(app.stranger().delete("/session/x").await.status, 401);
    let health = app.stranger().get("/health").await;
    assert_eq!((health.status, health.json()), (200, json!({ "status": "ok", "connections": 0 })));
}

#[tokio::test]
async fn a_ticket_is_good_for_one_connection_of_its_principal() {
    let app = started(TestApp::builder().with_auth().replies([says("one")])).await;
    let other = app.caller_of("other").await;
    let made = app.caller.request("POST", "/events/ticket", &[], "").await.json();
    assert_eq!((&made["success"], &made["expiresInMs"]), (&json!(true), &json!(30_000)));
    let ticket = made["ticket"].as_str().unwrap();
    let mut by_ticket = app.stranger().events_with(&format!("?ticket={ticket}"), &[]).await;
    assert_eq!(
        refused(&app, &format!("/events?ticket={ticket}")).await,
        (401, "unauthorized".to_owned()),
        "used"
    );
    // The connection belongs to the principal that got the ticket.
    by_ticket.caller = app.caller.clone();
    let session = by_ticket.create().await;
    assert_eq!(by_ticket.ask("hello").await, "one");
    by_ticket.caller = other.clone();
    let stolen = by_ticket.post("/session/create", json!({})).await;
    assert_eq!((stolen.status, &stolen.json()["errorCode"]), (404, &json!("connection_not_found")));
    let mut stranger = other.events().await;
    let loaded = stranger.post("/session/load", json!({ "sessionId": session })).await;
    assert_eq!((loaded.status, &loaded.json()["errorCode"]), (404, &json!("session_not_found")));
    assert_eq!(stranger.rest().await, []);
    assert_eq!(other.get("/session/list").await.json()["total"], 0);
}

#[tokio::test]
async fn a_session_of_another_workspace_looks_as_if_there_were_none() {
    let app = started(TestApp::builder().with_auth().replies([says("one")])).await;
    let mut owner = app.caller.events().await;
    let session = owner.create().await;
    owner.ask("hello").await;
    let last = owner.seen.last().unwrap().id.clone().unwrap();
    let other = app.caller_of("other").await;
    let mut stranger = other.events_after(&last, "").await;
    let resync = stranger.next().await;
    assert_eq!((resync.kind(), resync.text("reason")), ("resync", "unknown"));
    assert_eq!(stranger.agent_list()["currentAgentId"], "general");
    for (path, body) in [
        ("/message", json!({ "type": "abort", "sessionId": session })),
        ("/message", json!({ "type": "chat", "content": "x", "sessionId": session })),
        ("/session/load", json!({ "sessionId": session })),
        ("/context/compress", json!({ "sessionId": session })),
    ] {
        let answer = stranger.post(path, body.clone()).await;
        assert_eq!(
            (answer.status, &answer.json()["errorCode"]),
            (404, &json!("session_not_found")),
            "{path} {body}"
        );
    }
    let points = other.get(&format!("/session/rollback-points?sessionId={session}")).await;
    assert_eq!(points.status, 404);
    assert_eq!(other.delete(&format!("/session/{session}")).await.json()["deleted"], false);
    assert_eq!(owner.rest().await, [], "the owner keeps it and is not disturbed");
    assert_eq!(stranger.rest().await, []);
}

#[tokio::test]
async fn an_idle_connection_sends_heartbeats() {
    let short = std::time::Duration::from_millis(20);
    let app = started(TestApp::builder().server(|server| server.heartbeat = short)).await;
    let mut client = app.caller.events().await;
    client.rest().await;
    assert!(client.heartbeats >= 2, "{}", client.heartbeats);
    assert_eq!(client.message(json!({ "type": "heartbeat" })).await, json!({ "success": true }));
}
