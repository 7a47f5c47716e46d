//! Background sub-agents: started, sent messages, awaited, stopped, and reported before the last words of the caller.

use engine::agents::AgentDefinition;
use serde_json::{Value, json};
use testkit::{Gate, Reply, TestApp, calls, protocol::AgentKind, says, waits};

use super::cast::{Cast, define_with, here, nested, sub, told_json};

fn spawn(call: &str, name: &str, task: &str) -> Reply {
    calls(call, "spawn-agent", json!({ "name": name, "task": task }))
}

fn define(app: &TestApp) {
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.tools = vec!["*".to_owned()];
    main.groups = vec!["agent".to_owned()];
    main.allowed_sub_agents = vec!["a".to_owned()];
    main.workspace = Some(here());
    define_with(app, main, vec![sub("a", &[])]);
}

#[tokio::test]
async fn what_ends_in_the_background_is_reported_before_the_caller_ends() {
    let gate = Gate::new();
    let app = Cast::new()
        .with("go", [spawn("c", "a", "slow"), says("meanwhile "), says("it said so")])
        .with("slow", [waits(&gate).then(says("slow and steady"))])
        .start()
        .await;
    define(&app);
    let mut turn = app.send("go").await;
    turn.until_text("meanwhile ").await;
    gate.open();
    let message = turn.message().await;
    assert!(message.text().ends_with("it said so"), "{message:?}");
    assert_eq!(told_json(&app, "c")["status"], "running");
    assert_eq!(nested(&message, "c").text(), "slow and steady");
    let last = app.model.requests().pop().unwrap();
    assert!(format!("{:?}", last.messages).contains("slow and steady"), "{last:?}");
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

fn agent_id(message: &testkit::models::ModelRequest) -> String {
    let text = format!("{:?}", message.messages);
    let at = text.find("sub_").unwrap();
    text[at..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// A main agent that starts one in the background and then does something with it.
async fn started_then(act: fn(&str) -> Reply, slow: Reply) -> (TestApp, Gate) {
    let gate = Gate::new();
    let held = gate.clone();
    let script = testkit::Scripted::choosing(move |request| {
        let text = format!("{:?}", request.messages);
        let main = text.contains("Text(\"go\")");
        match (main, text.matches("Tool {").count()) {
            (true, 0) => spawn("c", "a", "slow"),
            (true, 1) => act(&agent_id(request)),
            (true, _) => says("done"),
            (false, _) if text.contains("hurry") => says("hurried"),
            (false, _) => waits(&held).then(slow.clone()),
        }
    });
    let app = TestApp::builder().script(script).start().await;
    define(&app);
    (app, gate)
}

#[tokio::test]
async fn waiting_gives_the_report_once() {
    let wait = |id: &str| calls("w", "wait-agent", json!({ "agentIds": [id] }));
    let (app, gate) = started_then(wait, says("ready")).await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    gate.open();
    turn.end().await;
    let waited = told_json(&app, "w");
    assert_eq!((&waited["status"], &waited["result"]["summary"]), (&json!("ended"), &json!("ready")));
    let told = app
        .model
        .requests()
        .iter()
        .filter(|request| format!("{:?}", request.messages).contains("have ended"))
        .count();
    assert_eq!(told, 0, "what was waited for is not reported again");
}

#[tokio::test]
async fn waiting_ends_after_its_time_and_the_result_says_so() {
    let wait = |id: &str| calls("w", "wait-agent", json!({ "agentIds": [id], "timeoutMs": 20 }));
    let (app, gate) = started_then(wait, says("late")).await;
    let mut turn = app.send("go").await;
    turn.until_text("done").await;
    assert_eq!(told_json(&app, "w")["status"], "running");
    gate.open();
    turn.end().await;
}

#[tokio::test]
async fn an_agent_in_the_background_can_be_stopped_by_its_caller_only() {
    let abort = |id: &str| calls("w", "abort-agent", json!({ "agentId": id }));
    let (app, _gate) = started_then(abort, says("never")).await;
    let message = app.send("go").await.message().await;
    assert_eq!(told_json(&app, "w")["status"], "aborted");
    assert!(message.text().ends_with("done"));

    let stranger = |_: &str| calls("w", "abort-agent", json!({ "agentId": "sub_nobody" }));
    let (app, gate) = started_then(stranger, says("fine")).await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    gate.open();
    turn.end().await;
    let refused: Value = told_json(&app, "w");
    assert_eq!(refused["error"]["code"], "not_found", "{refused}");
}

#[tokio::test]
async fn what_is_sent_to_an_agent_in_the_background_is_heard() {
    let send = |id: &str| calls("w", "send-input", json!({ "agentId": id, "message": "hurry" }));
    let (app, gate) = started_then(send, calls("x", "conf_echo", json!({ "text": "e" }))).await;
    let mut turn = app.send("go").await;
    turn.until_text("done").await;
    gate.open();
    let message = turn.message().await;
    assert!(nested(&message, "c").text().ends_with("hurried"), "{message:?}");
}
