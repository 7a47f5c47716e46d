//! Who may call the server, from which host and origin, and what its answers must not reveal.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "security/cors.rs"]
mod cors;

use serde_json::json;
use testkit::{
    Caller, Scripted, TestApp, fails,
    models::ModelError,
    protocol::{ErrorCode, UiMessage},
    says,
};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).with_auth().start().await
}

#[tokio::test]
async fn the_sign_in_link_sets_a_cookie_that_counts_as_the_token() {
    let app = app().await;
    let stranger = app.stranger();
    let token = app.caller.token().unwrap();
    let link = stranger.get(&format!("/?token={token}")).await;
    assert_eq!((link.status, link.header("location")), (303, "/"));
    let cookie = link.header("set-cookie");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    let pair = cookie.split(';').next().unwrap();
    let with_cookie = stranger.request("GET", "/api/sessions", &[("cookie", pair)], "").await;
    assert_eq!(with_cookie.status, 200);
    let other = format!("theme=dark; {pair}; x=y");
    assert_eq!(stranger.request("GET", "/api/sessions", &[("cookie", &other)], "").await.status, 200);
    let page = stranger.request("GET", "/", &[("cookie", pair)], "").await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains(token), "the page does not show the token");
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
}

#[tokio::test]
async fn a_wrong_link_signs_nobody_in() {
    let app = app().await;
    for path in ["/?token=wrong", "/?token=", "/"] {
        let page = app.stranger().get(path).await;
        assert_eq!((page.status, page.header("set-cookie")), (401, ""), "{path}");
    }
}

#[tokio::test]
async fn a_removed_token_is_worth_nothing() {
    let app = app().await;
    let caller = app.caller_of("other").await;
    assert_eq!(caller.get("/api/sessions").await.status, 200);
    use testkit::{protocol::Clock, store::Tokens};
    for token in app.store.tokens().await.unwrap().iter().filter(|token| !token.is_owner) {
        assert!(app.store.revoke_token(token.id, app.clock.now()).await.unwrap());
    }
    caller.get("/api/sessions").await.assert_problem(ErrorCode::Unauthorized);
}

#[tokio::test]
async fn health_needs_no_token_and_tells_nothing() {
    let app = app().await;
    let health = app.stranger().get("/health").await;
    assert_eq!((health.status, health.json()), (200, json!({ "status": "ok", "connections": 0 })));
}

#[tokio::test]
async fn loopback_names_and_listed_hosts_are_known() {
    let app =
        TestApp::builder().server(|settings| settings.hosts = vec!["box.example".to_owned()]).start().await;
    for host in ["localhost", "LOCALHOST:4860", "127.0.0.1:4860", "[::1]:4860", "127.8.8.8", "box.example:80"]
    {
        let answer = app.caller.request("GET", "/health", &[("host", host)], "").await;
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_refused() {
    let app = app().await;
    let listening = app.over_http().await;
    let answer = listening.raw("GET /health HTTP/1.0\r\n\r\n").await.read_all().await;
    assert!(answer.contains(" 403 ") && answer.contains("forbidden_origin"), "{answer}");
}

#[tokio::test]
async fn pages_of_listed_origins_may_call_and_are_told_so() {
    let origin = "https://app.example";
    let app = TestApp::builder()
        .server(|settings| settings.origins = vec![origin.to_owned()])
        .with_auth()
        .start()
        .await;
    let preflight = app.stranger().request("OPTIONS", "/api/chat", &[("origin", origin)], "").await;
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, origin));
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
    let refused = app.stranger().request("GET", "/api/sessions", &[("origin", origin)], "").await;
    refused.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(refused.header("access-control-allow-origin"), origin, "so that the page can read the error");
    let foreign = app.caller.request("OPTIONS", "/api/chat", &[("origin", "https://evil.example")], "").await;
    foreign.assert_sentence(ErrorCode::ForbiddenOrigin);
    assert_eq!(foreign.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_page_of_this_server_may_call() {
    let app = app().await;
    let own = [("host", "localhost:4860"), ("origin", "http://localhost:4860")];
    assert_eq!(app.caller.request("GET", "/api/sessions", &own, "").await.status, 200);
}

#[tokio::test]
async fn a_failure_of_the_model_shows_no_inner_workings() {
    let app = TestApp::scripted([fails(ModelError::Unauthorized)]).await;
    let mut turn = app.send("hi").await;
    turn.end().await;
    let all = format!("{:?}{}", turn.chunks, json!(turn.shown()));
    for word in ["panicked", "src/", "Bearer", "http://"] {
        assert!(!all.contains(word), "{all}");
    }
}

/// Everything one caller can see of a chat.
async fn seen(caller: &Caller, id: &str) -> (Vec<String>, Vec<UiMessage>) {
    (caller.session_ids().await, caller.chat(id).history().await)
}

#[tokio::test]
async fn workspaces_share_ids_but_nothing_else() {
    let app = app().await;
    let (one, two) = (app.caller_of("one").await, app.caller_of("two").await);
    one.chat("same").send("of one").await.end().await;
    two.chat("same").send("of two").await.end().await;
    assert_eq!(two.delete("/api/sessions/same").await.status, 204);
    let (sessions, history) = seen(&one, "same").await;
    assert_eq!((sessions, history[0].text().as_str()), (vec!["same".to_owned()], "of one"));
    assert_eq!(app.caller.session_ids().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_forged_workspace_in_the_body_changes_nothing() {
    let app = app().await;
    let other = app.caller_of("other").await;
    let body = json!({ "id": "c", "messages": [testkit::user("u", "x")], "workspace": "default",
        "workspaceId": "default" });
    assert_eq!(other.post_raw(body.to_string(), &[JSON]).await.status, 200);
    assert_eq!(app.caller.session_ids().await, Vec::<String>::new());
    assert_eq!(other.session_ids().await, ["c"]);
}
