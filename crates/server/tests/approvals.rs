//! Questions to a person: asked once, answered once, run with the stored input, never with the client's copy.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    Gate, Reply, TestApp, Turn, calls, calls_many,
    models::ModelMessage,
    protocol::{Chunk, ErrorCode, ToolState, WorkspaceId, wire::chat::Profile},
    says,
    test_tools::{TestTool, ToolGate, gated},
    waits,
};

mod approvals {
    pub mod always;
    pub mod edited;
    pub mod exact;
    pub mod refused;
    pub mod revoked;
}

fn asks(call: &str, text: &str) -> Reply {
    calls(call, "conf_approve", json!({ "text": text }))
}

fn approval_path(id: &str) -> String {
    format!("/api/approvals/{id}")
}

/// The results the model was sent in its newest request.
fn told(app: &TestApp) -> Vec<String> {
    let request = app.model.requests().pop().unwrap();
    let results = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::Tool { text, .. } => Some(text.clone()),
        _ => None,
    });
    results.collect()
}

/// The body that the stock client posts, with another text put in the place of one.
fn altered(turn: &Turn, from: &str, to: &str) -> Value {
    let body = turn.answers_body().to_string();
    assert!(body.contains(from), "{from} is not in {body}");
    serde_json::from_str(&body.replace(from, to)).unwrap()
}

#[tokio::test]
async fn an_approved_call_runs_and_the_answer_goes_on_in_the_same_message() {
    let app = TestApp::scripted([says("May I? ").then(asks("c", "delete it")), says("Done.")]).await;
    let mut turn = app.send("clean up").await;
    turn.next_approval().await.approve().await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "May I? "
    text-end s0
    tool-input-start c conf_approve
    tool-input-delta c {"text":"delete it"}
    tool-input-available c conf_approve {"text":"delete it"}
    tool-approval-request apr_1 c
    finish-step
    finish tool-calls
    ---
    start msg_1
    tool-output-available c {"echoed":"delete it"}
    start-step
    text-start s1
    text-delta s1 "Done."
    text-end s1
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(told(&app), [r#"{"echoed":"delete it"}"#]);
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_is_told_why() {
    let tool = TestTool::new("danger", |_, _| async { Ok(json!("boom")) }).that_asks();
    let app = TestApp::builder()
        .replies([calls("c", "danger", json!({})), says("Left as it was.")])
        .tool(tool.any())
        .start()
        .await;
    let mut turn = app.send("clean up").await;
    turn.next_approval().await.deny("keep it").await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start c danger
    tool-input-delta c {}
    tool-input-available c danger {}
    tool-approval-request apr_1 c
    finish-step
    finish tool-calls
    ---
    start msg_1
    tool-output-denied c
    start-step
    text-start s0
    text-delta s0 "Left as it was."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    assert_eq!(tool.runs(), 0);
    assert_eq!(told(&app), ["The person did not allow this call. Their reason: keep it"]);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn calls_that_need_no_approval_run_before_the_question() {
    let both = calls_many([
        ("ask", "conf_approve", json!({ "text": "a" })),
        ("run", "conf_echo", json!({ "text": "b" })),
    ]);
    let app = TestApp::scripted([both, says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start ask conf_approve
    tool-input-delta ask {"text":"a"}
    tool-input-start run conf_echo
    tool-input-delta run {"text":"b"}
    tool-input-available ask conf_approve {"text":"a"}
    tool-input-available run conf_echo {"text":"b"}
    tool-output-available run {"echoed":"b"}
    tool-approval-request apr_1 ask
    finish-step
    finish tool-calls
    ---
    start msg_1
    tool-output-available ask {"echoed":"a"}
    start-step
    text-start s0
    text-delta s0 "Done."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    assert_eq!(told(&app), [r#"{"echoed":"a"}"#, r#"{"echoed":"b"}"#], "in call order");
}

#[tokio::test]
async fn several_questions_of_a_step_are_answered_with_one_post() {
    let three = calls_many([
        ("a", "conf_approve", json!({ "text": "1" })),
        ("b", "conf_approve", json!({ "text": "2" })),
        ("c", "conf_approve", json!({ "text": "3" })),
    ]);
    let app = TestApp::scripted([three, says("Done.")]).await;
    let mut turn = app.send("go").await;
    let questions = turn.approvals().await;
    assert_eq!(questions, ["apr_1", "apr_2", "apr_3"]);
    turn.respond("apr_2", false, Some("not this")).await;
    turn.respond("apr_3", true, None).await;
    assert_eq!(app.model.requests().len(), 1, "the client posts after the last answer");
    turn.respond("apr_1", true, None).await;
    assert_eq!(turn.text().await, "Done.");
    assert_eq!(
        told(&app),
        [
            r#"{"echoed":"1"}"#,
            "The person did not allow this call. Their reason: not this",
            r#"{"echoed":"3"}"#
        ]
    );
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_run_may_ask_again_in_a_later_step() {
    let app = TestApp::scripted([asks("a", "1"), asks("b", "2"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    turn.next_approval().await.deny("enough").await;
    assert_eq!(turn.text().await, "Done.");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_question_can_be_looked_at_and_answered_over_its_own_route() {
    let gate = Gate::new();
    let app = TestApp::scripted([asks("c", "x"), waits(&gate).then(says("Done."))]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let shown = app.get(&approval_path("apr_1")).await.json();
    assert_eq!(shown["chatId"], "chat");
    assert_eq!(shown["approval"]["tool"], "conf_approve");
    assert_eq!(shown["approval"]["input"], json!({ "text": "x" }));
    assert_eq!(shown["approval"]["status"], "pending");
    let answer = json!({ "approved": false, "reason": "later" });
    let answered = app.caller.post_json(&approval_path("apr_1"), &answer).await.json();
    assert_eq!((&answered["status"], &answered["reason"]), (&json!("denied"), &json!("later")));
    gate.reached().await;
    let mut resumed = app.chat("chat").resume().await.unwrap();
    gate.open();
    assert_eq!(resumed.text().await, "Done.");
}

#[tokio::test]
async fn a_second_question_can_be_answered_while_the_first_call_already_runs() {
    let gate = ToolGate::new();
    let slow = gated("slow", &gate).that_asks();
    let both = calls_many([("a", "slow", json!({ "n": 1 })), ("b", "conf_approve", json!({ "text": "2" }))]);
    let app = TestApp::builder().replies([both, says("Done.")]).tool(slow.any()).start().await;
    app.send("go").await.end().await;
    let yes = json!({ "approved": true });
    assert_eq!(app.caller.post_json(&approval_path("apr_1"), &yes).await.status, 200);
    gate.reached().await;
    let second = app.caller.post_json(&approval_path("apr_2"), &yes).await;
    gate.open();
    assert_eq!(second.status, 200, "answers are taken at any time: {second:?}");
    while app.main.info().await["status"] != "idle" {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.main.history().await.pop().unwrap().text(), "Done.");
}

#[tokio::test]
async fn a_new_message_withdraws_the_question_and_runs() {
    let tool = TestTool::new("danger", |_, _| async { Ok(json!("boom")) }).that_asks();
    let app = TestApp::builder()
        .replies([calls("c", "danger", json!({})), says("All right.")])
        .tool(tool.any())
        .start()
        .await;
    let mut turn = app.send("go").await;
    turn.end().await;
    assert_eq!(app.main.info().await["status"], "waiting");
    assert_eq!(app.send("never mind").await.text().await, "All right.");
    assert!(told(&app)[0].starts_with("The person did not allow this call."), "{:?}", told(&app));
    let kept = app.main.history().await;
    let state = kept[1].tool_parts().next().unwrap().state.clone();
    assert!(matches!(state, ToolState::OutputDenied { .. }), "{state:?}");
    assert_eq!(app.get(&approval_path("apr_1")).await.json()["approval"]["status"], "withdrawn");
    let late = app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": true })).await;
    late.assert_problem(ErrorCode::ApprovalSettled);
    assert_eq!(tool.runs(), 0);
}

#[tokio::test]
async fn an_edit_a_retry_a_branch_and_a_stop_withdraw_the_question_too() {
    for way in ["edit", "retry", "branch", "stop"] {
        let app = TestApp::scripted([says("Hi."), asks("c", "x"), says("Other.")]).await;
        app.send("first").await.end().await;
        app.send("second").await.end().await;
        match way {
            "edit" => drop(app.main.edit("u2", "better").await.end().await),
            "retry" => drop(app.main.regenerate().await.end().await),
            "branch" => assert_eq!(app.main.branch("msg_1").await.status, 200),
            _ => assert_eq!(app.main.stop().await.json(), json!({ "stopped": true, "status": "cancelled" })),
        }
        let status = app.get(&approval_path("apr_1")).await.json()["approval"]["status"].clone();
        assert_eq!(status, "withdrawn", "{way}");
        assert_eq!(app.main.info().await["status"], "idle", "{way}");
    }
}

#[tokio::test]
async fn a_waiting_run_holds_nothing_in_memory() {
    let app = TestApp::scripted([asks("c", "x")]).await;
    app.send("go").await.end().await;
    while app.engine.load(&WorkspaceId::default_workspace()).live_sessions > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.model.live(), 0);
    assert!(app.main.resume().await.is_none());
}

#[tokio::test]
async fn handing_a_waiting_message_back_without_an_answer_is_refused() {
    let app = TestApp::scripted([asks("c", "x"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let before = app.rows().await;
    app.main.post(&turn.answers_body()).await.assert_sentence(ErrorCode::NothingToContinue);
    assert_eq!(app.rows().await, before);
}

#[tokio::test]
async fn a_tool_of_the_front_end_gets_its_output_from_the_client() {
    let ask = calls("c", "conf_client", json!({ "question": "how many?" }));
    let app = TestApp::scripted([says("One moment. ").then(ask), says("Seven it is.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    assert_eq!(app.main.info().await["status"], "waiting");
    turn.add_output("c", json!(7)).await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "One moment. "
    text-end s0
    tool-input-start c conf_client
    tool-input-delta c {"question":"how many?"}
    tool-input-available c conf_client {"question":"how many?"}
    finish-step
    finish tool-calls
    ---
    start msg_1
    start-step
    text-start s1
    text-delta s1 "Seven it is."
    text-end s1
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    assert_eq!(told(&app), ["7"]);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_forged_output_of_a_server_tool_is_not_believed() {
    let both = calls_many([
        ("a", "conf_approve", json!({ "text": "1" })),
        ("c", "conf_client", json!({ "question": "?" })),
    ]);
    let app = TestApp::scripted([both, says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut body = turn.answers_body();
    let parts = body["messages"][1]["parts"].as_array_mut().unwrap();
    for part in parts.iter_mut().filter(|part| part["toolCallId"].is_string()) {
        part["state"] = json!("output-available");
        part["output"] = json!("forged");
    }
    let answer = app.main.post(&body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(app.main.info().await["status"], "waiting", "the approval is still open");
    assert_eq!(app.model.requests().len(), 1);
    assert_eq!(app.get(&approval_path("apr_1")).await.json()["approval"]["status"], "pending");
}

#[tokio::test]
async fn the_newer_profile_tells_that_a_person_answered() {
    let app = TestApp::builder().replies([asks("c", "x"), says("Done.")]).profile(Profile::V7).start().await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    turn.end().await;
    let mut again = app.chat("chat").send("go").await;
    again.end().await;
    let told =
        again.chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolApprovalResponse { approved: true, .. }));
    assert!(told, "a replay can say it");
    assert_eq!(again.shown(), app.main.history().await[1]);
}
