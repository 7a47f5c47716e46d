//! A tool that is revoked while its question is pending.

use serde_json::json;
use testkit::{
    TestApp, calls,
    engine::agents::AgentDefinition,
    protocol::{AgentKind, WorkspaceId},
    says,
    test_tools::TestTool,
};

use crate::told;

fn agent_with(app: &TestApp, tools: &[&str]) {
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "You are the main agent of a test.");
    main.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    main.workspace = Some(WorkspaceId::default_workspace());
    app.engine.agents().set_workspace(&WorkspaceId::default_workspace(), vec![main]);
}

#[tokio::test]
async fn a_tool_that_was_revoked_between_question_and_answer_does_not_run() {
    let delete = TestTool::new("delete", |_, input| async move { Ok(input) }).that_asks();
    let replies = [calls("c", "delete", json!({ "all": true })), says("Then not.")];
    let app = TestApp::builder().replies(replies).tool(delete.any()).start().await;
    agent_with(&app, &["delete", "time-now"]);
    let mut turn = app.send("clean up").await;
    let question = turn.next_approval().await;
    agent_with(&app, &["time-now"]);
    question.approve().await;
    assert_eq!(turn.text().await, "Then not.");
    assert_eq!(delete.runs(), 0, "it was revoked");
    let told = told(&app).join(" ");
    assert!(told.contains("\"delete\" was revoked") && told.contains("not run"), "{told}");
}
