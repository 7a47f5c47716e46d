//! What a front end does with messages: it finds, answers and compares them.

use protocol::{ToolState, UiMessage};
use serde_json::{Value, json};

use crate::load::Kind;

/// The message with the answers of the person in it; `None` when there is nothing to answer.
pub fn answer(message: &UiMessage, kind: Kind) -> Option<Value> {
    let mut answered = json!(message);
    let mut changed = false;
    for part in answered["parts"].as_array_mut()? {
        match (part["state"].as_str(), kind.approves()) {
            (Some("approval-requested"), Some(approved)) => {
                part["state"] = json!("approval-responded");
                part["approval"]["approved"] = json!(approved);
                if !approved {
                    part["approval"]["reason"] = json!("not today");
                }
                changed = true;
            }
            (Some("input-available"), _) if part["type"] == "tool-conf_client" => {
                part["state"] = json!("output-available");
                part["output"] = json!({ "answer": "yes" });
                changed = true;
            }
            _ => {}
        }
    }
    changed.then_some(answered)
}

/// Whether the message waits for somebody.
pub fn still_asks(message: &UiMessage) -> bool {
    message.tool_parts().any(|tool| {
        matches!(tool.state, ToolState::ApprovalRequested { .. } | ToolState::InputAvailable { .. })
    })
}

/// The answer that follows a user's message in a history.
pub fn answer_to(history: &[Value], user: &str) -> Option<UiMessage> {
    let place = history.iter().position(|message| message["id"] == user)?;
    let answer = history.get(place + 1).filter(|message| message["role"] == "assistant")?;
    serde_json::from_value(answer.clone()).ok()
}

/// A message without what only one side knows: who approved what is not told to every client.
pub fn comparable(message: &UiMessage) -> Value {
    let mut message = json!(message);
    for part in message["parts"].as_array_mut().into_iter().flatten() {
        if let Some(part) = part.as_object_mut() {
            part.remove("approval");
        }
    }
    message
}
