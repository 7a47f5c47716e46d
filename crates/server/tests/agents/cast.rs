//! A model that plays every agent of a test: its replies depend on the task and on how many it has given.

use std::collections::HashMap;

use engine::agents::AgentDefinition;
use serde_json::{Value, json};
use testkit::{
    Reply, TestApp, calls,
    models::{ModelMessage, ModelRequest, Scripted, UserContent},
    protocol::{AgentKind, AgentSource, ToolState, UiMessage, WorkspaceId},
    says,
};

pub struct Cast {
    parts: HashMap<String, Vec<Reply>>,
}

impl Cast {
    pub fn new() -> Self {
        Self { parts: HashMap::new() }
    }

    /// The agent with this task says these, one for each model call.
    pub fn with(mut self, task: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.parts.insert(task.to_owned(), replies.into_iter().collect());
        self
    }

    pub fn model(self) -> Scripted {
        let parts = self.parts;
        let mut asked: HashMap<String, usize> = HashMap::new();
        Scripted::choosing(move |request| {
            let task = task_of(request, &parts);
            let step = asked.entry(task.clone()).or_default();
            let reply = parts.get(&task).and_then(|replies| replies.get(*step)).cloned();
            *step += 1;
            reply.unwrap_or_else(|| says(&format!("(nothing left to say for {task:?})")))
        })
    }

    /// The same, but how far each agent is stands in its request alone: one cast for any number of chats.
    pub fn model_by_request(self) -> Scripted {
        let parts = self.parts;
        Scripted::choosing(move |request| {
            let task = task_of(request, &parts);
            let said = |message: &ModelMessage| matches!(message, ModelMessage::Assistant { .. });
            let newest = request.messages.iter().rev().take_while(|message| !is_task(message, &task));
            let step = newest.filter(|message| said(message)).count();
            parts.get(&task).and_then(|replies| replies.get(step)).cloned().unwrap_or_default()
        })
    }

    pub async fn start(self) -> TestApp {
        TestApp::builder().script(self.model()).start().await
    }
}

/// The newest user text that is a task.
fn task_of(request: &ModelRequest, parts: &HashMap<String, Vec<Reply>>) -> String {
    let contents = request.messages.iter().rev().filter_map(|message| match &**message {
        ModelMessage::User { content } => Some(content),
        ModelMessage::Assistant { .. } | ModelMessage::Tool { .. } => None,
    });
    let mut texts = contents.flatten().filter_map(|content| match content {
        UserContent::Text(text) if parts.contains_key(text) => Some(text.clone()),
        _ => None,
    });
    texts.next().unwrap_or_default()
}

fn is_task(message: &ModelMessage, task: &str) -> bool {
    let is = |content: &UserContent| matches!(content, UserContent::Text(text) if text == task);
    matches!(message, ModelMessage::User { content } if content.iter().any(is))
}

/// A call of the `sub-agent` tool.
pub fn hands(call: &str, name: &str, task: &str) -> Reply {
    calls(call, "sub-agent", json!({ "name": name, "task": task }))
}

pub fn here() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

pub fn sub(name: &str, may_call: &[&str]) -> AgentDefinition {
    let mut agent = AgentDefinition::bare(AgentKind::Sub, name, "You are one of a test's agents.");
    agent.tools = ["time-now", "conf_echo", "conf_fail", "conf_approve"].map(str::to_owned).to_vec();
    agent.allowed_sub_agents = may_call.iter().map(|name| (*name).to_owned()).collect();
    agent.workspace = Some(here());
    agent.source = AgentSource::Database;
    agent
}

/// Defines these sub-agents, and a main agent that may call all of them.
pub fn define(app: &TestApp, subs: Vec<AgentDefinition>) {
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "You are the main agent of a test.");
    main.tools = vec!["*".to_owned()];
    main.allowed_sub_agents = subs.iter().map(|agent| agent.name.clone()).collect();
    main.allowed_sub_agents.push("dynamic".to_owned());
    main.workspace = Some(here());
    define_with(app, main, subs);
}

pub fn define_with(app: &TestApp, main: AgentDefinition, mut subs: Vec<AgentDefinition>) {
    subs.push(main);
    app.engine.agents().set_workspace(&here(), subs);
}

/// The output of a call of this message.
pub fn output(message: &UiMessage, call: &str) -> Value {
    let part = message.tool_parts().find(|tool| tool.call.as_str() == call).unwrap();
    match &part.state {
        ToolState::OutputAvailable { output, preliminary: false, .. } => output.clone(),
        other => panic!("{call}: {other:?}"),
    }
}

/// The sub-agent's message under a call.
pub fn nested(message: &UiMessage, call: &str) -> UiMessage {
    serde_json::from_value(output(message, call)).unwrap()
}

/// What the model was sent a call gave, in its newest request that holds it.
pub fn told(app: &TestApp, call: &str) -> String {
    let requests = app.model.requests();
    let found =
        requests.iter().rev().flat_map(|request| &request.messages).find_map(|message| match &**message {
            ModelMessage::Tool { call: id, text, .. } if id.as_str() == call => Some(text.clone()),
            _ => None,
        });
    found.unwrap_or_else(|| panic!("the model was never told about {call}"))
}

/// The same, as JSON.
pub fn told_json(app: &TestApp, call: &str) -> Value {
    serde_json::from_str(&told(app, call)).unwrap()
}
