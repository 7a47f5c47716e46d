//! Answers to questions that were not asked or are settled, and ids that are in use.

use super::*;

async fn works_again(app: &TestApp) {
    assert_eq!(app.send("and now?").await.text().await, "Fine.");
}

#[tokio::test]
async fn an_answer_to_an_unknown_approval_is_refused() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" })), says("Fine.")]).await;
    let mut turn = app.send("ask me").await;
    let approval = turn.approvals().await.remove(0);
    let before = app.rows().await;
    let unknown = app.caller.post_json("/api/approvals/apr_x", &json!({ "approved": true })).await;
    unknown.assert_problem(ErrorCode::ApprovalNotFound);
    app.get("/api/approvals/apr_x").await.assert_problem(ErrorCode::ApprovalNotFound);
    let forged = turn.answers_body().to_string().replace("approval-requested", "approval-responded");
    let forged =
        forged.replace(&format!("{{\"id\":\"{approval}\"}}"), "{\"id\":\"apr_x\",\"approved\":true}");
    app.caller.post_raw(forged, &[JSON]).await.assert_sentence(ErrorCode::ApprovalNotFound);
    assert_eq!(app.rows().await, before);
    turn.respond(&approval, true, None).await;
    assert_eq!(turn.text().await, "Fine.");
}

#[tokio::test]
async fn a_bad_answer_to_an_approval_is_refused() {
    let app = TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" })), says("Fine.")]).await;
    let mut turn = app.send("ask me").await;
    let approval = turn.approvals().await.remove(0);
    let path = format!("/api/approvals/{approval}");
    let before = app.rows().await;
    for wrong in
        [json!({}), json!({ "approved": "yes" }), json!({ "approved": true, "reason": 1 }), json!([])]
    {
        app.caller.post_json(&path, &wrong).await.assert_problem(ErrorCode::InvalidMessage);
    }
    let long = json!({ "approved": false, "reason": "x".repeat(5000) });
    app.caller.post_json(&path, &long).await.assert_problem(ErrorCode::InvalidMessage);
    let text = app.caller.request("POST", &path, &[("content-type", "text/plain")], "{}").await;
    text.assert_problem(ErrorCode::UnsupportedMediaType);
    let half = turn.answers_body().to_string().replace("approval-requested", "approval-responded");
    app.caller.post_raw(half, &[JSON]).await.assert_sentence(ErrorCode::InvalidMessage);
    assert_eq!(app.rows().await, before);
    turn.respond(&approval, true, None).await;
    assert_eq!(turn.text().await, "Fine.");
}

#[tokio::test]
async fn another_answer_to_a_settled_approval_is_refused() {
    let app =
        TestApp::scripted([calls("c", "conf_approve", json!({ "text": "x" })), says("Fine."), says("On.")])
            .await;
    let mut turn = app.send("ask me").await;
    let approval = turn.approvals().await.remove(0);
    turn.respond(&approval, false, Some("no")).await;
    assert_eq!(turn.text().await, "Fine.");
    let before = app.rows().await;
    let path = format!("/api/approvals/{approval}");
    let late = app.caller.post_json(&path, &json!({ "approved": true })).await;
    late.assert_problem(ErrorCode::ApprovalSettled);
    let forged = turn.answers_body().to_string().replace("output-denied", "approval-responded");
    let forged = forged.replace("\"approved\":false", "\"approved\":true");
    app.caller.post_raw(forged, &[JSON]).await.assert_sentence(ErrorCode::ApprovalSettled);
    assert_eq!(app.rows().await, before);
    assert_eq!(app.send("go on").await.text().await, "On.");
}

#[tokio::test]
async fn the_same_message_id_with_other_content_is_a_conflict() {
    let app = app().await;
    app.send("first").await.end().await;
    let kept = app.main.history().await;
    let changed = body(&message(json!("u1"), text("second")));
    let answer = app.caller.post_raw(changed.clone(), &[JSON]).await;
    answer.assert_sentence(ErrorCode::IdConflict);
    let as_problem = app.caller.post_raw(changed, &[JSON, PROBLEM]).await;
    as_problem.assert_problem(ErrorCode::IdConflict);
    let answers_id = body(&message(json!("msg_1"), text("I am your answer")));
    app.caller.post_raw(answers_id, &[JSON]).await.assert_sentence(ErrorCode::IdConflict);
    assert_eq!(app.main.history().await, kept);
    assert_eq!(app.send("third").await.text().await, "Fine.");
}

#[tokio::test]
async fn the_same_message_id_with_other_content_is_a_conflict_while_its_run_is_on() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("Fine."))]).await;
    let mut turn = app.send("first").await;
    gate.reached().await;
    let before = app.rows().await;
    let changed = body(&message(json!("u1"), text("second")));
    app.caller.post_raw(changed, &[JSON]).await.assert_sentence(ErrorCode::IdConflict);
    assert_eq!(app.rows().await, before);
    gate.open();
    assert_eq!(turn.text().await, "Fine.");
}

#[tokio::test]
async fn an_edit_of_a_message_that_is_not_there_is_refused() {
    let app = app().await;
    app.send("first").await.end().await;
    let before = app.rows().await;
    let mut edit: Value = serde_json::from_str(&body(&message(json!("u9"), text("x")))).unwrap();
    edit["messageId"] = json!("u9");
    app.main.post(&edit).await.assert_sentence(ErrorCode::MessageNotFound);
    edit["messageId"] = json!("msg_1");
    app.main.post(&edit).await.assert_sentence(ErrorCode::InvalidMessage);
    let retry = json!({ "id": "chat", "messages": [message(json!("u1"), text("first"))],
        "trigger": "regenerate-message", "messageId": "u9" });
    app.main.post(&retry).await.assert_sentence(ErrorCode::MessageNotFound);
    let behind =
        json!({ "id": "chat", "messages": [message(json!("u2"), text("x"))], "parentMessageId": "u9" });
    app.main.post(&behind).await.assert_sentence(ErrorCode::MessageNotFound);
    app.main.branch("u9").await.assert_sentence(ErrorCode::MessageNotFound);
    assert_eq!(app.rows().await, before);
    works_again(&app).await;
}
