//! A server that crashes in the middle of an agent tree: finished branches are kept, the others are resumed.

use serde_json::json;
use testkit::{
    Gate, TestApp, calls, fails,
    models::ModelError,
    protocol::ToolState,
    says,
    store::FrameStatus,
    test_tools::{ToolGate, gated},
    waits,
};

use super::cast::{Cast, nested};

#[tokio::test]
async fn after_a_restart_finished_sub_agents_are_not_asked_again_and_others_go_on_in_their_message() {
    let delegate =
        |call: &str, task: &str| calls(call, "conf_delegate", json!({ "agent": task, "task": task }));
    let shut = Gate::new();
    let app = Cast::new()
        .with("go", [delegate("c1", "done").then(delegate("c2", "cut"))])
        .with("done", [says("finished before")])
        .with("cut", [says("half ").then(waits(&shut))])
        .start()
        .await;
    let mut turn = app.send("go").await;
    shut.reached().await;
    turn.until(|chunk| serde_json::to_string(chunk).unwrap().contains("finished before")).await;
    let before = app.frames("chat").await;
    let app = app.restart([says("and the rest"), says("all back")]).await;
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    assert_eq!(nested(&message, "c1").text(), "finished before");
    let cut = nested(&message, "c2");
    assert_eq!(cut.text(), "half and the rest");
    assert!(before.iter().any(|frame| frame.message == cut.id), "the id stays");
    assert!(message.text().ends_with("all back"));
    assert_eq!(app.model.requests().len(), 2);
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn a_sub_agent_that_had_failed_before_a_restart_has_failed_after_it() {
    let delegate =
        |call: &str, task: &str| calls(call, "conf_delegate", json!({ "agent": task, "task": task }));
    let shut = Gate::new();
    let refused = ModelError::Refused { status: 400, message: "unwell".to_owned() };
    let app = Cast::new()
        .with("go", [delegate("c1", "cut").then(delegate("c2", "wrong"))])
        .with("cut", [says("half ").then(waits(&shut))])
        .with("wrong", [fails(refused)])
        .start()
        .await;
    let _turn = app.send("go").await;
    shut.reached().await;
    // It has ended, but its result is not told before that of the call in front of it.
    while !app.frames("chat").await.iter().any(|frame| frame.status == FrameStatus::Failed) {
        tokio::task::yield_now().await;
    }
    let app = app.restart([says("and the rest"), says("all back")]).await;
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    let states: Vec<_> = message.tool_parts().map(|tool| tool.state.clone()).collect();
    assert!(
        matches!(&states[1], ToolState::OutputError { error_text, .. } if error_text.contains("unwell")),
        "{states:?}"
    );
    assert!(message.text().ends_with("all back"));
}

#[tokio::test]
async fn after_a_crash_a_call_of_a_sub_agent_with_a_side_effect_is_not_made_again() {
    // The gate stays shut: the call of the first process never continues.
    let gate = ToolGate::new();
    let write = gated("write", &gate).with_side_effect();
    let script = Cast::new()
        .with("go", [calls("c1", "conf_delegate", json!({ "agent": "writer", "task": "sub" }))])
        .with("sub", [calls("w", "write", json!({ "n": 1 }))])
        .model();
    let app = TestApp::builder().script(script).tool(write.any()).start().await;
    let _turn = app.send("go").await;
    gate.reached().await;
    let app = app.restart([says("I do not know whether it was written."), says("all back")]).await;
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    assert_eq!(write.runs(), 1);
    let sub_agent = nested(&message, "c1");
    let states: Vec<_> = sub_agent.tool_parts().map(|tool| tool.state.clone()).collect();
    assert!(
        matches!(&states[..], [ToolState::OutputError { error_text, .. }] if error_text.contains("unknown")),
        "{states:?}"
    );
    assert!(message.text().ends_with("all back"));
}
