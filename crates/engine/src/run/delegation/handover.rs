//! The context that a sub-agent gets with its task: a copy, made once per delegation and stored with the event that opens
//! its frame. The caller's own conversation is never shared.

use models::{AssistantContent, ModelMessage, UserContent};
use serde_json::{Value, json};

use super::{hub::preview, request::DelegationRequest};
use crate::run::context::AgentContext;

/// Events a context holds.
const EVENTS: usize = 4;

/// `delegation_context`: the validated input, what happened lately, and what the agent may rely on.
pub(crate) fn context(caller: &AgentContext, request: &DelegationRequest) -> Value {
    let input = json!({ "name": request.agent.name, "task": request.task, "context": request.context });
    let mut events: Vec<Value> = caller
        .tree
        .hub
        .take(&request.agent.name)
        .into_iter()
        .map(|note| {
            json!({ "id": note.id, "role": "assistant", "name": note.from, "preview": note.text,
                    "timestamp": note.at })
        })
        .collect();
    if events.is_empty() {
        events.extend(last_said(caller));
    }
    let events = events.split_off(events.len().saturating_sub(EVENTS));
    json!({
        "input_preview": preview(&input.to_string()),
        "input_payload": input,
        "recent_events": events,
        "long_term_refs": { "provider": null, "available": false },
        "workspace_pointers": [],
        "safety_flags": { "max_depth": caller.position.max_depth, "depth": caller.position.depth + 1,
                          "max_steps": request.agent.max_steps },
        "supervisor": caller.agent.definition.name,
        "subagent": request.agent.name,
    })
}

/// What of it the sub-agent reads beside the task; nothing when there is nothing to tell.
pub(crate) fn text(context: &Value) -> Option<String> {
    let mut text = String::new();
    if let Some(given) = context.pointer("/input_payload/context").filter(|given| !given.is_null()) {
        text.push_str(&format!("Context:\n{given}"));
    }
    let events = context.get("recent_events").and_then(Value::as_array);
    let from_others = events.into_iter().flatten().filter(|event| event["role"] == "assistant");
    let lines: Vec<String> = from_others
        .map(|event| {
            let name = event["name"].as_str().unwrap_or_default();
            format!("- {name}: {}", event["preview"].as_str().unwrap_or_default())
        })
        .collect();
    if !lines.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&format!("What other agents reported lately:\n{}", lines.join("\n")));
    }
    (!text.is_empty()).then_some(text)
}

/// The newest message of the conversation, as an event.
fn last_said(caller: &AgentContext) -> Option<Value> {
    let (role, text) = caller.history.messages().iter().rev().find_map(|message| match &**message {
        ModelMessage::User { content } => content.iter().find_map(|content| match content {
            UserContent::Text(text) => Some(("user", text.clone())),
            UserContent::Attached(_) | UserContent::File { .. } | UserContent::Facts(_) => None,
        }),
        ModelMessage::Assistant { content } => content.iter().find_map(|content| match content {
            AssistantContent::Text(text) => Some(("conversation", text.clone())),
            AssistantContent::Reasoning { .. } | AssistantContent::ToolCall { .. } => None,
        }),
        ModelMessage::Tool { tool, .. } => Some(("tool", format!("[tool_result:{tool}]"))),
    })?;
    Some(
        json!({ "id": caller.position.message, "role": role, "name": caller.agent.definition.name, "preview": preview(&text),
                 "timestamp": caller.services.clock.now() }),
    )
}
