//! The events surface (`GET /events`, `POST /message`, `/session/…`) over the real router and a scripted model.
//!
//! Tests named `seed_<number>` check the example or the rule of that number in the requirement "session-level main agent
//! selection over SSE".

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod events {
    pub mod bodies;
    pub mod busy;
    pub mod images;
    pub mod interleavings;
    pub mod limits;
    pub mod replay;
    pub mod rollback;
    pub mod seed_3;
    pub mod seed_4;
    pub mod surfaces;
    pub mod switching;
    pub mod take_over;
    pub mod yolo;
}

use engine::agents::{FileAgents, main_agents_file};
use serde_json::{Value, json};
use testkit::{Builder, Reply, TestApp, calls, models::ModelRequest};

/// The agents that a person has defined, as in the examples of the requirement.
const AGENTS: &str = r#"
[agents.code_reviewer]
tools = ["read-file"]
mainAgentRole = "ROLE-REVIEWER: you review {{ code }}."
[agents.code_reviewer.basicInfo]
name = "Code Reviewer"
description = "代码审查专家"

[agents.operator]
tools = ["read-file", "conf_approve", "conf_echo", "shell-command", "request-user-input"]
availableSubAgents = ["dynamic"]
mainAgentRole = "ROLE-OPERATOR: you run commands."
[agents.operator.basicInfo]
name = "Operator"
description = "Runs commands"
"#;

/// Replaces the agents of the file.
fn define(app: &TestApp, text: &str) {
    let agents = app.engine.agents();
    let main_file = main_agents_file::parse(text, agents).unwrap().agents;
    agents.set_files(FileAgents { main_file, ..FileAgents::default() });
}

/// An app with [`AGENTS`] and these replies of the model.
async fn scripted(replies: impl IntoIterator<Item = Reply>) -> TestApp {
    started(TestApp::builder().replies(replies)).await
}

async fn started(builder: Builder) -> TestApp {
    let app = builder.start().await;
    define(&app, AGENTS);
    app
}

/// A call that a person is asked about.
fn asks(call: &str) -> Reply {
    calls(call, "conf_approve", json!({ "text": "delete it" }))
}

fn tools_of(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The ids of a list of agents.
fn ids(agents: &Value) -> Vec<&str> {
    agents.as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap()).collect()
}

const ALL: [&str; 5] = ["general", "requirement_analyzer", "debugger", "code_reviewer", "operator"];
