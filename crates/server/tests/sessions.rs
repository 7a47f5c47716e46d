//! `/api/sessions` and the small routes: list, show, rename, delete, tools, health.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{Gate, Scripted, TestApp, calls, protocol::ErrorCode, says, waits};

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).start().await
}

#[tokio::test]
async fn a_fresh_server_has_no_sessions() {
    let app = app().await;
    assert_eq!(app.get("/api/sessions").await.json(), json!({ "sessions": [] }));
    app.get("/api/sessions/none").await.assert_problem(ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn a_session_tells_where_it_stands() {
    let gate = Gate::new();
    let ask = calls("c", "conf_approve", json!({ "text": "x" }));
    let app = TestApp::scripted([waits(&gate).then(ask), says("Fine.")]).await;
    let mut turn = app.send("hello there").await;
    gate.reached().await;
    let info = app.main.info().await;
    assert_eq!(
        (&info["id"], &info["status"], &info["messageCount"]),
        (&json!("chat"), &json!("running"), &json!(1))
    );
    gate.open();
    turn.end().await;
    let info = app.main.info().await;
    assert_eq!((&info["status"], &info["activeLeaf"]), (&json!("waiting"), &json!("msg_1")));
    app.clock.advance(5_000);
    turn.respond("apr_1", true, None).await;
    turn.end().await;
    let info = app.main.info().await;
    assert_eq!((&info["status"], &info["lastRun"]), (&json!("idle"), &json!("finished")));
    let times = (info["createdAt"].as_i64().unwrap(), info["updatedAt"].as_i64().unwrap());
    assert_eq!(times.1 - times.0, 5_000);
}

#[tokio::test]
async fn sessions_are_listed_newest_first_in_pages() {
    let app = app().await;
    for number in 0..5 {
        app.chat(&format!("c{number}")).send("hi").await.end().await;
        app.clock.advance(1_000);
    }
    app.chat("c1").reload().await;
    let again = app.chat("c1");
    again.add_user("first, already there");
    again.send("again").await.end().await;
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = app.get(&format!("/api/sessions?limit=2{cursor}")).await.json();
        all.extend(page["sessions"].as_array().unwrap().iter().map(|session| session["id"].clone()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(all, [json!("c1"), json!("c4"), json!("c3"), json!("c2"), json!("c0")]);
}

#[tokio::test]
async fn a_session_is_renamed_and_loses_its_title_again() {
    let app = app().await;
    app.send("hello").await.end().await;
    let renamed = app.caller.patch_json("/api/sessions/chat", &json!({ "title": "  Mein Titel  " })).await;
    assert_eq!((renamed.status, &renamed.json()["title"]), (200, &json!("Mein Titel")));
    assert_eq!(app.main.info().await["title"], "Mein Titel");
    for none in [json!({ "title": null }), json!({ "title": "  " })] {
        let renamed = app.caller.patch_json("/api/sessions/chat", &none).await;
        assert_eq!((renamed.status, &renamed.json()["title"]), (200, &Value::Null));
    }
    for wrong in [json!({}), json!({ "title": 1 }), json!({ "title": "x".repeat(201) })] {
        let refused = app.caller.patch_json("/api/sessions/chat", &wrong).await;
        refused.assert_problem(ErrorCode::InvalidMessage);
    }
    let unknown = app.caller.patch_json("/api/sessions/none", &json!({ "title": "x" })).await;
    unknown.assert_problem(ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn a_title_that_was_given_is_kept_by_the_next_message() {
    let app = app().await;
    app.send("hello").await.end().await;
    app.caller.patch_json("/api/sessions/chat", &json!({ "title": "Mine" })).await;
    app.send("more").await.end().await;
    assert_eq!(app.main.info().await["title"], "Mine");
}

#[tokio::test]
async fn ids_with_slashes_work_on_every_route() {
    let app = app().await;
    let body = json!({ "id": "a/b c", "messages": [testkit::user("u", "x")] });
    assert_eq!(app.main.post(&body).await.status, 200);
    for path in ["/api/chat/a%2Fb%20c/messages", "/api/chat/a/b%20c/messages"] {
        assert_eq!(app.get(path).await.json().as_array().unwrap().len(), 2, "{path}");
    }
    for path in ["/api/chat/a%2Fb%20c/stream", "/api/chat/a/b%20c/stream"] {
        assert_eq!(app.get(path).await.status, 204, "{path}");
    }
    assert_eq!(app.get("/api/sessions/a%2Fb%20c").await.status, 200);
    assert_eq!(app.caller.delete("/api/sessions/a%2Fb%20c").await.status, 204);
    assert_eq!(app.caller.session_ids().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_waiting_session_can_be_deleted_with_its_question() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" }))]).await;
    let before = app.rows().await;
    app.send("go").await.end().await;
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    app.get("/api/approvals/apr_1").await.assert_problem(ErrorCode::ApprovalNotFound);
    let late = app.caller.post_json("/api/approvals/apr_1", &json!({ "approved": true })).await;
    late.assert_problem(ErrorCode::ApprovalNotFound);
    assert_eq!(app.rows().await, before);
}

#[tokio::test]
async fn the_tools_are_listed_with_their_schemas() {
    let app = app().await;
    let list = app.get("/api/tools").await.json();
    let names: Vec<_> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["time-now", "update-plan", "test-approval", "conf_echo", "echo"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[tokio::test]
async fn open_streams_are_counted() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("Fine."))]).await;
    let mut turn = app.send("hi").await;
    let second = app.chat("chat").resume().await.unwrap();
    assert_eq!(app.get("/health").await.json()["connections"], 2);
    drop(second);
    assert_eq!(app.get("/health").await.json()["connections"], 1);
    gate.open();
    turn.end().await;
    drop(turn);
    assert_eq!(app.get("/health").await.json()["connections"], 0);
}
