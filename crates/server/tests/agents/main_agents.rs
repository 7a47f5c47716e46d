//! Main agents of `main-agents.toml` in runs: role, tools, sub-agents and the files they may change reach the model and
//! the tools; a run keeps the definition it began with.

use engine::agents::{FileAgents, main_agents_file};
use serde_json::{Value, json};
use testkit::{Gate, TestApp, calls, models::ModelRequest, says, waits};

use super::cast::{Cast, hands, told, told_json};

fn define(app: &TestApp, text: &str) {
    let agents = app.engine.agents();
    let main_file = main_agents_file::parse(text, agents).unwrap().agents;
    agents.set_files(FileAgents { main_file, ..FileAgents::default() });
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn as_agent(id: &str) -> Value {
    json!({ "agentId": id })
}

const WRITER: &str = "[agents.writer]\ntools = [\"filesystem-create\", \"no-such-tool\"]\n\
    availableSubAgents = [\"dynamic\"]\neditableFileSuffixes = [\".MD\"]\nmainAgentRole = \"You write {{ this }}.\"\n";

#[tokio::test]
async fn the_role_is_literal_and_the_tools_are_those_of_the_list() {
    let app = Cast::new()
        .with(
            "go",
            [calls("c", "read-file", json!({ "path": "a.md" })), hands("d", "research", "x"), says("ok")],
        )
        .start()
        .await;
    define(&app, WRITER);
    app.main.send_with("go", as_agent("writer")).await.end().await;
    let requests = app.model.requests();
    assert!(requests[0].system.starts_with("You write {{ this }}."), "{}", requests[0].system);
    assert_eq!(names(&requests[0]), ["write-file", "sub-agent"]);
    let spec = &requests[0].tools[1].input_schema["properties"]["name"]["enum"];
    assert_eq!(*spec, json!(["dynamic"]));
    assert!(
        told(&app, "c").contains("write-file"),
        "a tool outside of the list is refused: {}",
        told(&app, "c")
    );
    assert_eq!(told_json(&app, "d")["error"]["code"], "not_allowed");
}

#[tokio::test]
async fn an_agent_and_its_sub_agents_change_only_files_with_the_suffixes() {
    let write = |call: &str, path: &str| calls(call, "write-file", json!({ "path": path, "content": "x" }));
    let task = json!({ "name": "dynamic", "task": "sub", "options": { "tools": ["write-file"] } });
    let app = Cast::new()
        .with("go", [write("a", "a.rs"), write("b", "b.md"), calls("c", "sub-agent", task), says("ok")])
        .with("sub", [write("d", "d.rs"), write("e", "e.Md"), says("done")])
        .start()
        .await;
    define(&app, WRITER);
    let allow = json!({ "effect": "allow", "tools": ["write-file"], "path": "**" });
    assert_eq!(app.caller.post_json("/api/rules", &allow).await.status, 201);
    app.main.send_with("go", as_agent("writer")).await.end().await;
    for call in ["a", "d"] {
        assert!(told(&app, call).contains("names end in .md"), "{}", told(&app, call));
    }
    for call in ["b", "e"] {
        assert!(told(&app, call).contains("created"), "{}", told(&app, call));
    }
    let exists = |name: &str| app.workdir().join(name).exists();
    assert_eq!(["a.rs", "b.md", "d.rs", "e.Md"].map(exists), [false, true, false, true]);
}

#[tokio::test]
async fn a_run_keeps_the_definition_that_it_began_with() {
    let gate = Gate::new();
    let app = Cast::new()
        .with("go", [waits(&gate).then(calls("c", "time-now", json!({}))), says("ok")])
        .with("again", [says("ok")])
        .start()
        .await;
    let version = |number: u32, tools: &str| {
        format!("[agents.a]\ntools = [{tools}]\nmainAgentRole = \"You are version {number}.\"\n")
    };
    define(&app, &version(1, "\"time-now\""));
    let mut turn = app.main.send_with("go", as_agent("a")).await;
    while app.model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    define(&app, &version(2, ""));
    gate.open();
    turn.end().await;
    app.main.send_with("again", as_agent("a")).await.end().await;
    let requests = app.model.requests();
    let seen: Vec<_> =
        requests.iter().map(|request| (request.system.contains("version 1"), names(request))).collect();
    assert_eq!(seen, [(true, vec!["time-now"]), (true, vec!["time-now"]), (false, vec![])]);
    assert!(told(&app, "c").contains("20"), "the tool of the first version ran: {}", told(&app, "c"));
}

#[tokio::test]
async fn a_chat_names_the_agent_that_answers_next_and_one_that_is_missing() {
    let app = Cast::new().with("go", [says("ok")]).with("again", [says("ok")]).start().await;
    define(&app, WRITER);
    app.main.send_with("go", as_agent("writer")).await.end().await;
    let shown = async || {
        let one = app.get("/api/sessions/chat").await.json();
        let listed = app.get("/api/sessions").await.json()["sessions"][0].clone();
        let agent = |info: &Value| (info["agentId"].clone(), info["agentFallbackFrom"].clone());
        assert_eq!(agent(&one), agent(&listed));
        agent(&one)
    };
    assert_eq!(shown().await, (json!("writer"), Value::Null));
    define(&app, "");
    assert_eq!(shown().await, (json!("general"), json!("writer")));
    app.main.send("again").await.end().await;
    let again = app.model.requests().pop().unwrap();
    assert!(!again.system.contains("You write"), "the default agent answers: {}", again.system);
    define(&app, WRITER);
    assert_eq!(shown().await, (json!("writer"), Value::Null), "the choice is kept");
}
