//! Ids, paths and queries of wrong shape.

use super::*;

#[tokio::test]
async fn a_chat_id_of_wrong_shape_or_length_is_refused() {
    let app = app().await;
    for id in [String::new(), "x".repeat(201), "a\u{0}b".into(), "a\nb".into(), "会".repeat(67)] {
        let body = json!({ "id": id, "messages": [message(json!("m"), text("x"))] });
        refuses(&app, body.to_string(), ErrorCode::InvalidId).await;
    }
    for path in ["stream", "messages"] {
        let answer = app.get(&format!("/api/chat/{}/{path}", "x".repeat(201))).await;
        answer.assert_sentence(ErrorCode::InvalidId);
    }
    app.get("/api/chat/a%00b/messages").await.assert_sentence(ErrorCode::InvalidId);
    app.get(&format!("/api/sessions/{}", "x".repeat(201))).await.assert_problem(ErrorCode::InvalidId);
}

#[tokio::test]
async fn ids_at_the_limit_and_of_any_characters_are_taken() {
    let app = app().await;
    for id in ["x".repeat(200), "a/b ü 会话 %2F?#".into(), "..".into(), "../../etc".into()] {
        let body = json!({ "id": id, "messages": [message(json!("ü/ 消息"), text("x"))] });
        let answer = app.caller.post_raw(body.to_string(), &[JSON]).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(app.caller.session_ids().await.contains(&id));
    }
}

#[tokio::test]
async fn a_message_id_of_wrong_shape_or_length_is_refused() {
    let app = app().await;
    for id in [String::new(), "x".repeat(201), "a\u{7f}b".into(), "a\tb".into()] {
        refuses(&app, body(&message(json!(id), text("x"))), ErrorCode::InvalidId).await;
        let named = json!({ "id": "chat", "messages": [message(json!("m"), text("x"))], "messageId": id });
        refuses(&app, named.to_string(), ErrorCode::InvalidId).await;
        let parent =
            json!({ "id": "chat", "messages": [message(json!("m"), text("x"))], "parentMessageId": id });
        refuses(&app, parent.to_string(), ErrorCode::InvalidId).await;
        let earlier = message(json!(id), text("before"));
        let planted = json!({ "id": "chat", "messages": [earlier, message(json!("m"), text("x"))] });
        refuses(&app, planted.to_string(), ErrorCode::InvalidId).await;
    }
}

#[tokio::test]
async fn a_path_that_is_not_text_is_refused_with_a_code() {
    let app = app().await;
    app.get("/api/chat/%FF/messages").await.assert_sentence(ErrorCode::InvalidMessage);
    app.get("/api/sessions/%FF").await.assert_problem(ErrorCode::InvalidMessage);
    app.get("/api/approvals/%FF").await.assert_problem(ErrorCode::InvalidMessage);
}

#[tokio::test]
async fn a_query_of_wrong_shape_is_refused_with_a_code() {
    let app = app().await;
    for query in
        ["limit=0", "limit=201", "limit=many", "limit=-1", "limit=1001", "cursor=nonsense", "limit=1&limit=2"]
    {
        app.get(&format!("/api/sessions?{query}")).await.assert_problem(ErrorCode::InvalidMessage);
    }
    works(&app).await;
    for query in ["limit=many", "limit=-1", "limit=1&limit=2"] {
        let answer = app.get(&format!("/api/chat/chat/messages?{query}")).await;
        answer.assert_sentence(ErrorCode::InvalidMessage);
    }
    app.get("/api/chat/chat/messages?before=nothing").await.assert_sentence(ErrorCode::MessageNotFound);
    app.get("/api/chat/chat/messages?before=").await.assert_sentence(ErrorCode::InvalidId);
}

#[tokio::test]
async fn the_link_to_the_next_page_escapes_the_message_id() {
    let app = app().await;
    for id in ["first", "a-b.c_d~ ü/&=%消"] {
        let body = json!({ "id": "chat", "messages": [message(json!(id), text("x"))] });
        assert_eq!(app.caller.post_raw(body.to_string(), &[JSON]).await.status, 200);
    }
    let link = app.get("/api/chat/chat/messages?limit=2").await.header("link").to_owned();
    let escaped = "a-b.c_d~%20%C3%BC%2F%26%3D%25%E6%B6%88";
    assert_eq!(link, format!("</api/chat/chat/messages?before={escaped}&limit=2>; rel=\"next\""));
    let next = app.get(&format!("/api/chat/chat/messages?before={escaped}&limit=2")).await.json();
    assert_eq!(next[0]["id"], "first");
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_refused() {
    let app = app().await;
    app.get("/api/nothing").await.assert_problem(ErrorCode::NotFound);
    app.get("/nothing").await.assert_problem(ErrorCode::NotFound);
    app.get("/api/chat/chat/dance").await.assert_sentence(ErrorCode::NotFound);
    app.get("/api/chat/chat").await.assert_sentence(ErrorCode::NotFound);
    app.get("/api/chat").await.assert_sentence(ErrorCode::MethodNotAllowed);
    app.get("/api/chat/chat/stop").await.assert_sentence(ErrorCode::MethodNotAllowed);
    app.caller.delete("/api/sessions").await.assert_problem(ErrorCode::MethodNotAllowed);
}
