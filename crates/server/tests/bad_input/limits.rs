//! Messages and bodies that are too long, too many or too late.

use super::*;

#[tokio::test]
async fn a_new_message_of_ten_megabytes_of_text_is_refused_with_the_bound() {
    let app = app().await;
    let long = "x".repeat(10 << 20);
    let answer = refuses(&app, body(&message(json!("m"), text(&long))), ErrorCode::MessageTooLarge).await;
    assert!(answer.body.contains("1048576"), "{}", answer.body);
    let just_right = "x".repeat(1 << 20);
    let answer = app.caller.post_raw(body(&message(json!("ok"), text(&just_right))), &[JSON]).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn ten_megabytes_in_a_data_part_are_refused_too() {
    let app = app().await;
    let parts =
        json!([{ "type": "text", "text": "look" }, { "type": "data-x", "data": "x".repeat(10 << 20) }]);
    refuses(&app, body(&message(json!("m"), parts)), ErrorCode::MessageTooLarge).await;
}

#[tokio::test]
async fn too_much_metadata_is_refused() {
    let app = app().await;
    let mut user = message(json!("m"), text("x"));
    user["metadata"] = json!({ "note": "x".repeat(70_000) });
    refuses(&app, body(&user), ErrorCode::MessageTooLarge).await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_announced_or_not() {
    let app = TestApp::builder()
        .script(Scripted::choosing(|_| says("Fine.")))
        .server(|settings| settings.max_body_bytes = 2 << 20)
        .start()
        .await;
    let long = body(&message(json!("m"), text(&"x".repeat(3 << 20))));
    let answer = refuses(&app, long.clone(), ErrorCode::BodyTooLarge).await;
    assert!(answer.body.contains("2097152"), "the bound is in the error: {}", answer.body);
    let length = long.len().to_string();
    refuses_with(&app, long, &[JSON, ("content-length", &length)], ErrorCode::BodyTooLarge).await;
    // What is announced is refused before anything of it has come.
    let listening = app.over_http().await;
    let announced = listening.half_a_request("/api/chat", "", 3 << 20).await;
    let answer = tokio::time::timeout(Duration::from_secs(30), announced.read_all()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_new_message_of_ten_thousand_parts_is_refused_with_the_bound() {
    let app = app().await;
    let parts: Vec<_> = (0..10_000).map(|n| json!({ "type": "text", "text": n.to_string() })).collect();
    let answer = refuses(&app, body(&message(json!("m"), json!(parts))), ErrorCode::MessageTooLarge).await;
    assert!(answer.body.contains("1000"), "{}", answer.body);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let app = TestApp::builder()
        .script(Scripted::choosing(|_| says("Fine.")))
        .server(|settings| settings.limits.body_time = Duration::from_millis(20))
        .start()
        .await;
    let listening = app.over_http().await;
    let half = listening.half_a_request("/api/chat", "{\"id\":", 100).await;
    let answer = tokio::time::timeout(Duration::from_secs(30), half.read_all()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("x-error-code: request_timeout"), "{answer}");
    works(&app).await;
}

#[tokio::test]
async fn an_unknown_agent_or_an_endless_option_is_refused() {
    let app = app().await;
    let user = message(json!("m"), text("x"));
    let body = json!({ "id": "chat", "messages": [user], "agentId": "nobody" });
    let answer = app.main.post(&body).await;
    assert_eq!((answer.status, answer.body.as_str()), (404, "Invalid agent ID: nobody"));
    let body = json!({ "id": "chat", "messages": [user], "projectId": "x".repeat(201) });
    refuses(&app, body.to_string(), ErrorCode::InvalidMessage).await;
}
