//! Stored messages as `/session/load` returns them: one list of user, assistant and tool items, in order.

use serde_json::{Value, json};

use super::values;
use crate::{
    id::MessageId,
    message::{Part, Role, ToolPart, ToolState, UiMessage, facts::MessageFacts},
    source::Timestamp,
    tool::ToolCall,
};

/// The items of one message. A user's message is one item; an agent's is one for each stretch of text with the calls that
/// follow it, and one for each result.
pub fn items(message: &UiMessage, at: Timestamp) -> Vec<Value> {
    match message.role {
        Role::User => vec![user(message, at)],
        Role::System => Vec::new(),
        Role::Assistant => assistant(message, at),
    }
}

fn user(message: &UiMessage, at: Timestamp) -> Value {
    let mut item = json!({ "id": message.id, "role": "user", "content": message.text(), "timestamp": at });
    let images: Vec<Value> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::File { media_type, url, .. } => Some(json!({ "data": url, "mimeType": media_type })),
            _ => None,
        })
        .collect();
    if !images.is_empty() {
        item["images"] = Value::from(images);
    }
    item
}

fn assistant(message: &UiMessage, at: Timestamp) -> Vec<Value> {
    let facts: MessageFacts = message
        .metadata
        .as_ref()
        .and_then(|facts| serde_json::from_value(facts.clone()).ok())
        .unwrap_or_default();
    let mut items = Vec::new();
    let mut text = String::new();
    let mut calls: Vec<&ToolPart> = Vec::new();
    let mut flush = |text: &mut String, calls: &mut Vec<&ToolPart>| {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut item = json!({
            "id": item_id(&message.id, items.len()), "role": "assistant", "content": std::mem::take(text), "timestamp": at,
        });
        if let Some(agent) = &facts.agent_name {
            item["agentId"] = Value::from(agent.as_str());
        }
        let made: Vec<Value> =
            calls.iter().filter_map(|part| part.state.input().map(|input| call(part, input))).collect();
        if !made.is_empty() {
            item["tool_calls"] = Value::from(made);
        }
        items.push(item);
        items.extend(calls.drain(..).filter_map(|part| result(part, at)));
    };
    for part in &message.parts {
        match part {
            Part::Text { text: more, .. } => {
                if !calls.is_empty() {
                    flush(&mut text, &mut calls);
                }
                text.push_str(more);
            }
            Part::Tool(part) => calls.push(part),
            _ => {}
        }
    }
    flush(&mut text, &mut calls);
    if let (Some(status), Some(Value::Object(last))) = (facts.status, items.last_mut()) {
        last.insert("status".to_owned(), json!(status));
    }
    items
}

/// The first item has the id of its message.
fn item_id(message: &MessageId, index: usize) -> String {
    if index == 0 { message.to_string() } else { format!("{message}:{index}") }
}

fn call(part: &ToolPart, input: &Value) -> Value {
    values::tool_call(&ToolCall { id: part.call.clone(), name: part.tool.clone(), input: input.clone() })
}

fn result(part: &ToolPart, at: Timestamp) -> Option<Value> {
    let (content, status) = match &part.state {
        ToolState::OutputAvailable { output, preliminary: false, .. } => (values::text_of(output), "success"),
        ToolState::OutputError { error_text, .. } => (error_text.clone(), "error"),
        ToolState::OutputDenied { approval, .. } => {
            let reason = approval.as_ref().and_then(|approval| approval.reason.as_deref());
            (values::denied(reason), "error")
        }
        _ => return None,
    };
    Some(json!({
        "id": part.call, "role": "tool", "tool_call_id": part.call, "content": content, "timestamp": at, "status": status,
    }))
}
