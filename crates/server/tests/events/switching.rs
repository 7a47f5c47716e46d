//! What a chosen agent changes: the tools that may run, the fallback when it is gone, and the choice on creation.

use serde_json::{Value, json};
use testkit::{TestApp, calls, models::ModelMessage, says, test_tools::TestTool};

use crate::{ALL, define, ids, scripted, started, tools_of};

#[tokio::test]
async fn a_tool_outside_the_list_is_never_run_and_nobody_is_asked() {
    let danger = TestTool::new("danger", |_, _| async { Ok(json!("boom")) }).that_asks();
    let delegates = calls("d", "sub-agent", json!({ "name": "dynamic", "task": "x" }));
    let builder = TestApp::builder()
        .replies([calls("c", "danger", json!({})), delegates, says("All right.")])
        .tool(danger.any());
    let app = started(builder).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.switch("code_reviewer").await;
    client.ask("go").await;
    assert_eq!(danger.runs(), 0);
    assert!(client.of_kind("tool_confirmation_request").is_empty());
    for call in ["c", "d"] {
        let results = client.of_kind("tool_result");
        let result = results.iter().find(|event| event.text("toolCallId") == call).unwrap();
        assert_eq!(result.text("status"), "error", "{result:?}");
    }
    let request = app.model.requests().pop().unwrap();
    let told = request
        .messages
        .iter()
        .filter(|message| matches!(&***message, ModelMessage::Tool { is_error: true, .. }));
    assert_eq!(told.count(), 2, "the model is told: {:?}", request.messages);
}

#[tokio::test]
async fn the_one_tool_for_sub_agents_is_offered_with_the_agents_own_list() {
    let app = scripted([says("ok")]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.switch("operator").await;
    client.ask("go").await;
    let request = &app.model.requests()[0];
    let mut tools = tools_of(request);
    tools.sort_unstable();
    let mut wanted =
        ["conf_approve", "conf_echo", "read-file", "request-user-input", "shell-command", "sub-agent"];
    wanted.sort_unstable();
    assert_eq!(tools, wanted);
    let tool = request.tools.iter().find(|tool| tool.name == "sub-agent").unwrap();
    assert_eq!(tool.input_schema["properties"]["name"]["enum"], json!(["dynamic"]));
}

#[tokio::test]
async fn a_session_whose_agent_is_gone_falls_back_to_general() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.switch("code_reviewer").await;
    define(&app, "");
    let loaded = client.load(&session).await;
    assert_eq!(loaded["currentAgentId"], "general");
    assert_eq!(loaded["agentFallbackFrom"], "code_reviewer");
    client.ask("hello").await;
    assert_eq!(client.seen.last().unwrap().text("agentId"), "general");
    assert!(!app.model.requests()[0].system.contains("ROLE-REVIEWER"));
    assert_eq!(client.switch("code_reviewer").await["errorCode"], "agent_not_found");
    assert_eq!(client.switch("debugger").await["previousAgentId"], "general");
    assert!(client.load(&session).await["agentFallbackFrom"].is_null());
}

#[tokio::test]
async fn a_new_file_is_seen_by_new_connections_and_by_switches_only() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    define(&app, "[agents.late]\nmainAgentRole = \"LATE\"\n");
    assert_eq!(client.rest().await, [], "connected clients are not told");
    assert_eq!(client.switch("late").await["agentName"], "late");
    let list = app.caller.events().await;
    assert_eq!(ids(&list.agent_list()["agents"]), ["general", "requirement_analyzer", "debugger", "late"]);
}

#[tokio::test]
async fn the_list_is_sent_once_and_no_parameter_chooses_an_agent() {
    let app = scripted([says("one")]).await;
    let mut client =
        app.caller.events_with("?agentId=debugger&agent=debugger&currentAgentId=debugger", &[]).await;
    assert_eq!(client.agent_list()["currentAgentId"], "general");
    client.create().await;
    client.switch("operator").await;
    client.ask("hello").await;
    assert_eq!(client.of_kind("agent_list").len(), 1);
}

#[tokio::test]
async fn the_first_agent_of_a_new_session_is_checked_like_a_switch() {
    let app = scripted([]).await;
    let client = app.caller.events().await;
    let made =
        client.post("/session/create", json!({ "initialAgentId": "debugger", "title": "Mine" })).await.json();
    assert_eq!(made["session"]["currentAgentId"], "debugger");
    assert_eq!(made["session"]["title"], "Mine");
    let before = app.rows().await;
    for (agent, code, text) in [
        ("", "invalid_agent_id", "agentId cannot be empty"),
        ("Agent@1", "invalid_agent_id_format", "agentId contains invalid characters. Allowed: [a-z0-9_-]"),
        ("hacker", "agent_not_found", "Invalid agent ID: hacker"),
    ] {
        let refused = client.post("/session/create", json!({ "initialAgentId": agent })).await;
        let body = refused.json();
        assert_eq!(refused.status, 400, "{agent}: {body}");
        assert_eq!((&body["errorCode"], &body["message"]), (&json!(code), &json!(text)));
        assert_eq!((&body["success"], &body["error"]), (&json!(false), &json!(text)));
        assert_eq!(ids(&body["availableAgents"]), ALL);
    }
    assert_eq!(app.rows().await, before, "nothing was made");
    let wrong: Value = client.post("/session/create", json!({ "initialAgentId": 7 })).await.json();
    assert_eq!(wrong["errorCode"], "invalid_message");
}
