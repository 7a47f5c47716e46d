//! The life of a run: stop, resume, retry, edit, branch, a busy chat, the same message again, an imported history, a restart.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "lifecycle/again.rs"]
mod again;
#[path = "lifecycle/branches.rs"]
mod branches;
#[path = "lifecycle/busy.rs"]
mod busy;
#[path = "lifecycle/clock.rs"]
mod clock;
#[path = "lifecycle/delete.rs"]
mod delete;
#[path = "lifecycle/planted.rs"]
mod planted;
#[path = "lifecycle/queue.rs"]
mod queue;
#[path = "lifecycle/restart.rs"]
mod restart;
#[path = "lifecycle/resume.rs"]
mod resume;
#[path = "lifecycle/stop.rs"]
mod stop;

use serde_json::{Value, json};
use testkit::{
    Chat, Gate, Scripted, TestApp, call_in_pieces, calls, calls_many,
    faults::{Effect, Faults, Method, When},
    models::{AssistantContent, ModelMessage, ModelRequest, UserContent},
    protocol::{Chunk, ErrorCode, Part, Role, ToolState, UiMessage},
    reasons, says,
    test_tools::{TestTool, ToolGate, endless, gated},
    waits,
};

/// What the model was sent, one line for each message.
fn sent(request: &ModelRequest) -> Vec<String> {
    let line = |message: &ModelMessage| match message {
        ModelMessage::User { content } => {
            let texts = content.iter().map(|content| match content {
                UserContent::Text(text) => text.clone(),
                UserContent::Facts(_) => String::new(),
                UserContent::Attached(text) => text.clone(),
                UserContent::File { media_type, .. } => format!("[{media_type}]"),
            });
            format!("user: {}", texts.collect::<String>())
        }
        ModelMessage::Assistant { content } => {
            let texts = content.iter().map(|content| match content {
                AssistantContent::Text(text) => text.clone(),
                AssistantContent::Reasoning { .. } => String::new(),
                AssistantContent::ToolCall { call, .. } => format!("[{} {}]", call.name, call.input),
            });
            format!("assistant: {}", texts.collect::<String>())
        }
        ModelMessage::Tool { text, is_error, .. } => {
            format!("tool{}: {text}", if *is_error { " failed" } else { "" })
        }
    };
    request.messages.iter().map(|message| line(message)).collect()
}

fn last_sent(app: &TestApp) -> Vec<String> {
    sent(app.model.requests().last().unwrap())
}

fn shown(messages: &[UiMessage]) -> Vec<String> {
    let name = |message: &UiMessage| format!("{} {}", message.id, message.text());
    messages.iter().map(name).collect()
}
