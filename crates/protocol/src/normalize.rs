//! Prepares the message of a parked run for storage, by the requirement document's table of tool part states. When a run
//! has ended every call is settled, and nothing has to change.

use crate::{
    json,
    message::{Part, TextState, ToolPart, ToolState, UiMessage},
};

/// Replaces states that only make sense while a run is active.
///
/// | state | stored |
/// |---|---|
/// | `input-streaming` without readable input | nothing: the model's stream broke off |
/// | `input-streaming` with input | the call, as `input-available` |
/// | preliminary output | the call, as `input-available`: the snapshot is not a result |
/// | everything else | as it is |
pub fn normalize(mut message: UiMessage) -> UiMessage {
    message.parts.retain_mut(|part| match part {
        Part::Tool(tool) => keep_tool(tool),
        Part::Text { state, .. } | Part::Reasoning { state, .. } => {
            if state.is_some() {
                *state = Some(TextState::Done);
            }
            true
        }
        _ => true,
    });
    message
}

fn keep_tool(tool: &mut ToolPart) -> bool {
    match &mut tool.state {
        ToolState::InputStreaming { raw } => match json::partial(raw) {
            Some(input) => {
                tool.state = ToolState::InputAvailable { input };
                true
            }
            None => false,
        },
        ToolState::OutputAvailable { input, preliminary: true, .. } => {
            tool.state = ToolState::InputAvailable { input: input.take() };
            true
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn kept(part: Value) -> Vec<Value> {
        let message = json!({"id": "m", "role": "assistant", "parts": [part]});
        let message = normalize(serde_json::from_value(message).unwrap());
        message.parts.iter().map(|part| serde_json::to_value(part).unwrap()).collect()
    }

    #[test]
    fn tool_parts_are_kept_by_the_table() {
        let part = |state: &str| json!({"type": "tool-x", "toolCallId": "c", "state": state});
        assert_eq!(kept(part("input-streaming")), Vec::<Value>::new());
        let mut streaming = part("input-streaming");
        streaming["rawInput"] = json!("{\"a\":1");
        let mut available = part("input-available");
        available["input"] = json!({"a": 1});
        assert_eq!(kept(streaming), [available.clone()]);
        assert_eq!(kept(available.clone()), [available.clone()]);
        let mut progress = part("output-available");
        progress["input"] = json!({"a": 1});
        progress["output"] = json!("half");
        progress["preliminary"] = json!(true);
        assert_eq!(kept(progress.clone()), [available]);
        progress.as_object_mut().unwrap().remove("preliminary");
        assert_eq!(kept(progress.clone()), [progress]);
        for state in ["approval-requested", "approval-responded"] {
            let mut asked = part(state);
            asked["input"] = json!({});
            asked["approval"] = json!({"id": "apr_1"});
            assert_eq!(kept(asked.clone()), [asked]);
        }
        let mut failed = part("output-error");
        failed["errorText"] = json!("no");
        assert_eq!(kept(failed.clone()), [failed]);
    }
}
