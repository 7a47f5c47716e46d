//! The result of a sub-agent as its caller's model reads it. The person sees the sub-agent's message itself.

use protocol::{Part, UiMessage};
use serde_json::{Value, json};

use crate::run::frame::Frame;

/// The longest summary, in characters.
const MAX_SUMMARY: usize = 50_000;

/// The text after the last tool call.
pub(crate) fn summary(message: &UiMessage) -> String {
    let after =
        message.parts.iter().rposition(|part| matches!(part, Part::Tool(_))).map_or(0, |place| place + 1);
    let mut text = String::new();
    for part in message.parts.get(after..).unwrap_or_default() {
        if let Part::Text { text: more, .. } = part {
            text.push_str(more);
        }
    }
    text
}

/// Whether the sub-agent called tools.
pub(crate) fn has_calls(message: &UiMessage) -> bool {
    message.tool_parts().next().is_some()
}

/// The result as text: the summary, or else the structured answer.
pub(crate) fn said(frame: &Frame) -> String {
    let said = summary(frame.message());
    match &frame.facts().structured_output {
        Some(output) if said.trim().is_empty() => output.to_string(),
        _ => said,
    }
}

pub(crate) fn result(frame: &Frame, agent_id: &str) -> Value {
    let message = frame.message();
    let structured = &frame.facts().structured_output;
    let (summary, cut) = shorten(said(frame).trim());
    let mut result = json!({
        "ok": true,
        "agentId": agent_id,
        "messageId": message.id,
        "summary": summary,
        "usage": frame.usage(),
        "artifacts": artifacts(message),
    });
    if cut {
        result["truncated"] = json!(true);
    }
    if let Some(limit) = frame.facts().limit {
        result["limit"] = json!(limit);
    }
    if let Some(output) = structured {
        result["response_metadata"] = json!({ "structured_output": output });
    }
    result
}

fn shorten(text: &str) -> (String, bool) {
    match text.char_indices().nth(MAX_SUMMARY) {
        Some((end, _)) => (format!("{}…", &text[..end]), true),
        None => (text.to_owned(), false),
    }
}

/// The files that its tools made, from the references in their outputs.
fn artifacts(message: &UiMessage) -> Vec<Value> {
    let mut found = Vec::new();
    for part in message.tool_parts() {
        if let protocol::ToolState::OutputAvailable { output, .. } = &part.state {
            match output.get("artifacts") {
                Some(Value::Array(artifacts)) => found.extend(artifacts.iter().cloned()),
                _ => found.extend(output.get("artifact").cloned()),
            }
        }
    }
    found.truncate(64);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(parts: Value) -> UiMessage {
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    #[test]
    fn the_summary_is_what_was_said_after_the_last_call() {
        let call = json!({"type": "tool-x", "toolCallId": "c", "state": "output-available", "input": {}, "output": 1});
        let said =
            message(json!([{"type": "text", "text": "looking"}, call, {"type": "text", "text": "found"}]));
        assert_eq!(summary(&said), "found");
        let silent = message(json!([{"type": "text", "text": "looking"}, call]));
        assert_eq!((summary(&silent), has_calls(&silent)), (String::new(), true));
    }

    #[test]
    fn a_long_summary_is_cut_at_a_character() {
        let (text, cut) = shorten(&"ü".repeat(MAX_SUMMARY + 1));
        assert!(cut && text.chars().count() == MAX_SUMMARY + 1 && text.ends_with('…'));
    }
}
