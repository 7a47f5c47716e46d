//! No token, a foreign Host or Origin, another workspace.

use super::*;

#[tokio::test]
async fn a_missing_or_wrong_token_is_refused_everywhere_but_on_health() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).with_auth().start().await;
    let stranger = app.stranger();
    let before = app.rows().await;
    for headers in [
        vec![JSON],
        vec![JSON, ("authorization", "Bearer wrong")],
        vec![JSON, ("authorization", "Bearer ")],
        vec![JSON, ("authorization", "Basic dG9rZW46")],
        vec![JSON, ("cookie", "concertino_80=wrong")],
    ] {
        let answer = stranger.post_raw(body(&message(json!("m"), text("x"))), &headers).await;
        answer.assert_sentence(ErrorCode::Unauthorized);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    for path in ["/api/chat/chat/stream", "/api/chat/chat/messages"] {
        stranger.get(path).await.assert_sentence(ErrorCode::Unauthorized);
    }
    for path in ["/api/sessions", "/api/sessions/chat", "/api/approvals/x", "/api/tools"] {
        stranger.get(path).await.assert_problem(ErrorCode::Unauthorized);
    }
    stranger.delete("/api/sessions/chat").await.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(stranger.get("/health").await.status, 200);
    assert_eq!(app.rows().await, before);
    works(&app).await;
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused() {
    let app = app().await;
    let fine = body(&message(json!("m"), text("x")));
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("host", "not a host"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost:9999"),
        ("origin", "http://localhost.evil.example"),
    ] {
        refuses_with(&app, fine.clone(), &[JSON, (name, value)], ErrorCode::ForbiddenOrigin).await;
        let answer = app.caller.request("GET", "/health", &[(name, value)], "").await;
        answer.assert_problem(ErrorCode::ForbiddenOrigin);
    }
}

#[tokio::test]
async fn what_belongs_to_another_workspace_does_not_exist() {
    let app = TestApp::builder()
        .replies([calls("c", "conf_approve", json!({ "text": "x" })), says("Fine.")])
        .with_auth()
        .start()
        .await;
    let other = app.caller_of("other").await;
    let mut turn = app.send("ask me").await;
    let approval = turn.approvals().await.remove(0);
    let (before, kept) = (app.rows().await, app.main.history().await);

    let theirs = other.chat("chat");
    other.get("/api/chat/chat/messages").await.assert_sentence(ErrorCode::SessionNotFound);
    assert_eq!(other.get("/api/chat/chat/stream").await.status, 204);
    theirs.stop().await.assert_sentence(ErrorCode::SessionNotFound);
    theirs.branch("u1").await.assert_sentence(ErrorCode::SessionNotFound);
    other.get("/api/sessions/chat").await.assert_problem(ErrorCode::SessionNotFound);
    let rename = other.patch_json("/api/sessions/chat", &json!({ "title": "mine" })).await;
    rename.assert_problem(ErrorCode::SessionNotFound);
    other.delete("/api/sessions/chat").await.assert_problem(ErrorCode::SessionNotFound);
    let path = format!("/api/approvals/{approval}");
    other.get(&path).await.assert_problem(ErrorCode::ApprovalNotFound);
    other.post_json(&path, &json!({ "approved": true })).await.assert_problem(ErrorCode::ApprovalNotFound);
    assert_eq!(other.session_ids().await, Vec::<String>::new());
    theirs.post(&turn.answers_body()).await.assert_sentence(ErrorCode::SessionNotFound);

    assert_eq!((app.rows().await, app.main.history().await), (before, kept));
    turn.respond(&approval, true, None).await;
    assert_eq!(turn.text().await, "Fine.");
}

#[tokio::test]
async fn two_workspaces_may_use_the_same_chat_and_message_ids() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).with_auth().start().await;
    let other = app.caller_of("other").await.chat("chat");
    app.send("of the first").await.end().await;
    other.send("of the other").await.end().await;
    assert_eq!(app.main.history().await[0].text(), "of the first");
    assert_eq!(other.history().await[0].text(), "of the other");
}
