//! A conversation that outgrows its model's window: what the model reads is summarised, what the person has stays whole.
//! Over real HTTP against a model server that counts tokens and refuses what is too long.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "compaction/agents.rs"]
mod agents;
#[path = "compaction/asked_for.rs"]
mod asked_for;
#[path = "compaction/interrupted.rs"]
mod interrupted;
#[path = "compaction/long.rs"]
mod long;
#[path = "compaction/refused.rs"]
mod refused;

use serde_json::{Value, json};
use testkit::{
    TestApp,
    models::{ModelSettings, RemoteModel, WireFormat},
    protocol::{Part, UiMessage},
    upstream::{Act, Script, Upstream},
};

/// A model of this server; `window` is what the registry would know of it.
fn model(upstream: &Upstream, window: Option<u64>) -> RemoteModel {
    let mut settings = ModelSettings::new("openai/scripted", upstream.base_url(), "scripted");
    settings.context_window = window;
    settings.limits.attempts = 1;
    RemoteModel::new(WireFormat::OpenAi, settings).unwrap()
}

async fn app(upstream: &Upstream, window: Option<u64>) -> TestApp {
    TestApp::builder().model(model(upstream, window)).start().await
}

fn says(text: &str) -> Act {
    Act::Text { text: text.to_owned() }
}

fn call(tool: &str, input: Value) -> Act {
    Act::Call { tool: tool.to_owned(), input }
}

/// A message of the person: some words, and what the model server will do.
fn asks(words: &str, steps: Vec<Vec<Act>>) -> String {
    let mut script = Script::new(steps);
    script.piece = 4_096;
    format!("{words} {}", script.text())
}

/// A turn with a tool, about 700 tokens of it.
fn ordinary(number: usize, words: &str) -> String {
    let text = format!("turn {number} {}", "some words of a file that is read ".repeat(15));
    asks(words, vec![vec![call("echo", json!({ "text": text }))], vec![says(&format!("That was {number}."))]])
}

fn json_of(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

fn is_summary(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().is_some_and(|system| system.starts_with("You write summaries"))
}

/// The text of every message of the person in a request, with what the server put before it.
fn users(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user");
    messages
        .map(|message| match &message["content"] {
            Value::String(text) => text.clone(),
            parts => parts.to_string(),
        })
        .collect()
}

/// Each call is followed by its result, and no result stands without its call.
#[track_caller]
fn assert_pairs_are_whole(body: &Value) {
    let mut open: Vec<String> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            assert!(!open.is_empty() && open.remove(0) == id, "the result of {id} is out of place");
        } else {
            assert!(open.is_empty(), "no result for {open:?}");
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
        }
    }
    assert!(open.is_empty(), "no result for {open:?}");
}

/// The compactions that stand in a message, as the client has them.
fn compactions(message: &UiMessage) -> Vec<Value> {
    let parts = message.parts.iter();
    parts
        .filter_map(|part| match part {
            Part::Data { name, data, .. } if name == "compaction" => Some(data.clone()),
            _ => None,
        })
        .collect()
}
