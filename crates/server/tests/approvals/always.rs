//! "Always for this session": what it covers, how long it lasts, and where it is not offered.

use serde_json::{Value, json};
use testkit::{
    TestApp, calls, calls_many,
    policy::Need,
    protocol::{ErrorCode, SessionEvent},
    says,
    test_tools::TestTool,
};

use crate::{approval_path, asks};

async fn answer(app: &TestApp, id: &str, body: Value) -> u16 {
    app.caller.post_json(&approval_path(id), &body).await.status
}

/// A tool whose calls are allowed by the folder of their path; without a path it asks every time.
fn by_folder() -> TestTool {
    TestTool::new("write-file", |_, input| async move { Ok(input) }).that_needs(|input| {
        let why = "The test wants to know.".to_owned();
        match input["path"].as_str() {
            None => Need::Approval { why, always: false },
            Some(path) => Need::Write { paths: vec![path.to_owned()], why },
        }
    })
}

#[tokio::test]
async fn a_question_says_why_it_was_asked_and_what_always_would_allow() {
    let app = TestApp::scripted([asks("c", "x")]).await;
    app.send("go").await.end().await;
    let shown = app.get(&approval_path("apr_1")).await.json();
    let question = json!({
        "why": "The call repeats a text after you allowed it.", "always": { "tools": ["conf_approve"] },
    });
    assert_eq!((&shown["chatId"], &shown["question"]), (&json!("chat"), &question));
    assert_eq!(app.get("/api/approvals").await.json()["approvals"][0]["question"], question);
}

#[tokio::test]
async fn after_always_the_session_is_not_asked_about_that_tool_again_and_another_session_is() {
    let replies = [asks("c1", "a"), asks("c2", "b"), says("Done."), asks("c3", "c"), says("More.")];
    let app = TestApp::scripted(replies).await;
    app.send("go").await.end().await;
    assert_eq!(answer(&app, "apr_1", json!({ "approved": true, "always": true })).await, 200);
    app.main.settled().await;
    app.main.reload().await;
    let message = app.main.messages().pop().unwrap();
    assert!(message.text().ends_with("Done."), "the second call was not asked about: {message:?}");
    let grants: Vec<_> = app
        .log("chat")
        .await
        .into_iter()
        .filter_map(|entry| match entry.event {
            SessionEvent::GrantGiven { grant, .. } => Some(grant),
            _ => None,
        })
        .collect();
    assert_eq!(json!(grants), json!([{ "tools": ["conf_approve"] }]));

    let mut turn = app.send("once more").await;
    assert!(turn.message().await.text().ends_with("More."), "nor is the next turn");
    let app = app.restart([asks("c4", "d"), says("Still."), asks("c5", "e")]).await;
    // The ids of the first two messages are taken.
    app.main.add_user("");
    app.main.add_user("");
    app.main.reload().await;
    let mut turn = app.send("after a restart").await;
    assert!(turn.message().await.text().ends_with("Still."), "nor after a restart");
    app.chat("other").send("go").await.end().await;
    assert_eq!(app.chat("other").info().await["status"], "waiting");
}

#[tokio::test]
async fn always_reaches_no_further_than_the_kind_of_call_it_was_given_for() {
    let write = |call: &str, path: &str| calls(call, "write-file", json!({ "path": path }));
    let app = TestApp::builder()
        .replies([write("c1", "src/a.rs"), write("c2", "src/deep/b.rs"), write("c3", "docs/c.md")])
        .tool(by_folder().any())
        .start()
        .await;
    app.send("go").await.end().await;
    let question = app.get(&approval_path("apr_1")).await.json();
    let folder = json!({ "tools": ["write-file", "edit-file", "apply-patch"], "path": "src/**" });
    assert_eq!(question["question"]["always"], folder);
    assert_eq!(answer(&app, "apr_1", json!({ "approved": true, "always": true })).await, 200);
    app.main.settled().await;
    let waiting = app.get("/api/approvals").await.json();
    assert_eq!(waiting["approvals"].as_array().unwrap().len(), 1);
    assert_eq!(waiting["approvals"][0]["approval"]["input"], json!({ "path": "docs/c.md" }));
}

#[tokio::test]
async fn one_always_answers_the_other_questions_it_covers() {
    let two = calls_many([
        ("c1", "conf_approve", json!({ "text": "a" })),
        ("c2", "conf_approve", json!({ "text": "b" })),
    ]);
    let app = TestApp::scripted([two, says("Both.")]).await;
    app.send("go").await.end().await;
    assert_eq!(answer(&app, "apr_1", json!({ "approved": true, "always": true })).await, 200);
    app.main.settled().await;
    assert_eq!(app.get("/api/approvals").await.json()["approvals"], json!([]));
    assert!(app.main.history().await.pop().unwrap().text().ends_with("Both."));
}

#[tokio::test]
async fn what_is_asked_about_every_time_cannot_be_allowed_for_good() {
    let app = TestApp::builder()
        .replies([calls("c", "write-file", json!({})), says("Done.")])
        .tool(by_folder().any())
        .start()
        .await;
    app.send("go").await.end().await;
    let question = app.get(&approval_path("apr_1")).await.json()["question"].clone();
    assert_eq!(question, json!({ "why": "The test wants to know.", "sensitive": true }));
    let refused =
        app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": true, "always": true })).await;
    refused.assert_problem(ErrorCode::InvalidMessage);
    let denied =
        app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": false, "always": true })).await;
    denied.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(app.main.info().await["status"], "waiting", "nothing was answered");
}

#[tokio::test]
async fn an_always_that_comes_after_another_answer_allows_nothing() {
    let app = TestApp::scripted([asks("c", "x"), says("Done.")]).await;
    app.send("go").await.end().await;
    assert_eq!(answer(&app, "apr_1", json!({ "approved": true })).await, 200);
    let late =
        app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": true, "always": true })).await;
    late.assert_problem(ErrorCode::ApprovalSettled);
    assert_eq!(
        answer(&app, "apr_1", json!({ "approved": true })).await,
        200,
        "the same answer again is none"
    );
}
