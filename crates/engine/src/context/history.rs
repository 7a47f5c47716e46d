//! One message → model messages. Pure, so that it can be compared in tests.
//!
//! Every call has a result, in call order, right after the step that made it: providers refuse anything else.

use models::{AssistantContent, ModelMessage, UserContent};
use protocol::{
    MessageFacts, Part, PlantedMessage, PlantedPart, Role, ToolCall, ToolPart, ToolState, TurnFacts,
    UiMessage, event::STEERING,
};
use serde_json::{Value, json};

use crate::attachments::{self, Sent};

/// Appends what the message of an agent means to a model, step by step.
pub(crate) fn add(out: &mut Vec<ModelMessage>, message: &UiMessage) {
    let facts = message.facts();
    for step in message.parts.split(|part| matches!(part, Part::StepStart)) {
        add_step(out, step, &facts);
    }
}

/// A message that a client brought along; nothing when there is nothing in it for a model.
pub(crate) fn planted(message: &PlantedMessage<'_>) -> Option<ModelMessage> {
    match message.role {
        Role::System => None,
        Role::User => {
            // Room for just these: there may be ten thousands of messages.
            let mut content = Vec::with_capacity(message.parts().count());
            let mut files =
                attachments::read(message.parts().filter_map(|part| Sent::of_planted(&part)), None)
                    .into_iter();
            content.extend(message.parts().filter_map(|part| match part {
                PlantedPart::Text(text) => Some(UserContent::Text(text.to_owned())),
                PlantedPart::File { .. } => files.next(),
            }));
            (!content.is_empty()).then_some(ModelMessage::User { content })
        }
        Role::Assistant => {
            let texts = || {
                message.parts().filter_map(|part| match part {
                    PlantedPart::Text(text) if !text.is_empty() => Some(text),
                    _ => None,
                })
            };
            let mut content = Vec::with_capacity(texts().count());
            content.extend(texts().map(|text| AssistantContent::Text(text.to_owned())));
            (!content.is_empty()).then_some(ModelMessage::Assistant { content })
        }
    }
}

/// A message of the person, which may have been asked at a moment of which something is known; nothing when there is
/// nothing in it for a model.
pub(crate) fn user(message: &UiMessage, facts: Option<&TurnFacts>) -> Option<ModelMessage> {
    let bound = facts.and_then(|facts| facts.file_tokens);
    let mut files = attachments::read(message.parts.iter().filter_map(Sent::of), bound).into_iter();
    let mut content: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(UserContent::Text(text.clone())),
            Part::File { .. } => files.next(),
            _ => None,
        })
        .collect();
    if content.is_empty() {
        return None;
    }
    if let Some(facts) = facts {
        content.insert(0, UserContent::Facts(facts.text()));
    }
    Some(ModelMessage::User { content })
}

/// What stands between two `step-start` parts of a message with these facts.
pub(crate) fn add_step(out: &mut Vec<ModelMessage>, parts: &[Part], facts: &MessageFacts) {
    let mut content = Vec::new();
    let mut results = Vec::new();
    let mut steered = Vec::new();
    for part in parts {
        match part {
            Part::Text { text, .. } if !text.is_empty() => content.push(AssistantContent::Text(text.clone())),
            Part::Reasoning { text, provider, .. } if !text.is_empty() || provider.is_some() => {
                content.push(AssistantContent::Reasoning { text: text.clone(), provider: provider.clone() });
            }
            // The question of a sub-agent: none of this model's business.
            Part::Tool(tool) if facts.raised_calls.contains_key(&tool.call) => {}
            Part::Data { name, data, .. } if name == STEERING => {
                steered.extend(data.get("text").and_then(Value::as_str).map(str::to_owned));
            }
            Part::Tool(tool) => {
                let provider = tool.provider.clone();
                content.push(AssistantContent::ToolCall { call: call(tool), provider });
                let (mut text, is_error) = result(&tool.state);
                if let Some(edited) = facts.edited_calls.get(&tool.call) {
                    let ran = &edited.input;
                    text.insert_str(0, &format!("The person changed the input before this ran, to: {ran}\n"));
                }
                results.push(ModelMessage::Tool {
                    call: tool.call.clone(),
                    tool: tool.tool.clone(),
                    text,
                    is_error,
                });
            }
            _ => {}
        }
    }
    if content.iter().any(|content| !matches!(content, AssistantContent::Reasoning { .. })) {
        out.push(ModelMessage::Assistant { content });
        out.extend(results);
    }
    out.extend(steered.into_iter().map(|text| ModelMessage::User { content: vec![UserContent::Text(text)] }));
}

fn call(tool: &ToolPart) -> ToolCall {
    // Servers that read the arguments insist on an object; broken text is told in the error instead.
    let input = match (tool.state.input(), &tool.state) {
        (Some(input @ Value::Object(_)), _) => input.clone(),
        (Some(Value::String(text)), state) if !matches!(state, ToolState::OutputError { .. }) => {
            json!({ "input": text })
        }
        _ => json!({}),
    };
    ToolCall { id: tool.call.clone(), name: tool.tool.clone(), input }
}

fn result(state: &ToolState) -> (String, bool) {
    match state {
        ToolState::OutputAvailable { output, preliminary: false, .. } => (text_of(output), false),
        ToolState::OutputError { error_text, .. } => (error_text.clone(), true),
        ToolState::OutputDenied { approval, .. } => {
            let reason = approval.as_ref().and_then(|approval| approval.reason.as_deref());
            let text = match reason {
                Some(reason) => format!("The person did not allow this call. Their reason: {reason}"),
                None => "The person did not allow this call.".to_owned(),
            };
            (text, true)
        }
        ToolState::OutputAvailable { .. }
        | ToolState::InputStreaming { .. }
        | ToolState::InputAvailable { .. }
        | ToolState::ApprovalRequested { .. }
        | ToolState::ApprovalResponded { .. } => {
            ("There is no result yet; the outcome is unknown.".to_owned(), true)
        }
    }
}

fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_messages(message: &UiMessage) -> Vec<ModelMessage> {
        let mut out = Vec::new();
        add(&mut out, message);
        out
    }

    fn message(value: Value) -> UiMessage {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn each_step_is_an_assistant_message_followed_by_its_results() {
        let answer = message(json!({"id": "m", "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm", "state": "done"},
            {"type": "text", "text": "look", "state": "done"},
            {"type": "tool-a", "toolCallId": "1", "state": "output-available", "input": {"x": 1}, "output": {"y": 2}},
            {"type": "tool-b", "toolCallId": "2", "state": "output-error", "input": "{", "errorText": "broken"},
            {"type": "tool-c", "toolCallId": "3", "state": "output-denied", "input": {},
             "approval": {"id": "p", "approved": false, "reason": "no"}},
            {"type": "step-start"},
            {"type": "text", "text": "done", "state": "done"},
        ]}));
        let sent = model_messages(&answer);
        let shape: Vec<_> = sent
            .iter()
            .map(|message| match message {
                ModelMessage::User { .. } => "user".to_owned(),
                ModelMessage::Assistant { content } => format!("assistant {}", content.len()),
                ModelMessage::Tool { call, text, is_error, .. } => format!("{call} {is_error} {text}"),
            })
            .collect();
        assert_eq!(
            shape,
            [
                "assistant 5",
                "1 false {\"y\":2}",
                "2 true broken",
                "3 true The person did not allow this call. Their reason: no",
                "assistant 1"
            ]
        );
    }

    #[test]
    fn what_the_provider_attached_goes_back_where_it_was() {
        let signed = json!({"anthropic": {"signature": "s"}});
        let answer = message(json!({"id": "m", "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm", "state": "done", "providerMetadata": signed},
            {"type": "reasoning", "text": "", "state": "done", "providerMetadata": signed},
            {"type": "reasoning", "text": "", "state": "done"},
            {"type": "tool-a", "toolCallId": "1", "state": "output-available", "input": {}, "output": 1,
             "callProviderMetadata": signed},
        ]}));
        let provider: Option<protocol::ProviderMetadata> = serde_json::from_value(signed).unwrap();
        let reasoning =
            |text: &str| AssistantContent::Reasoning { text: text.to_owned(), provider: provider.clone() };
        let call = ToolCall { id: protocol::ToolCallId::new("1"), name: "a".to_owned(), input: json!({}) };
        let content = vec![
            reasoning("hm"),
            reasoning(""),
            AssistantContent::ToolCall { call, provider: provider.clone() },
        ];
        assert_eq!(model_messages(&answer)[0], ModelMessage::Assistant { content });
    }

    #[test]
    fn a_message_without_content_is_left_out() {
        let empty = message(json!({"id": "m", "role": "assistant", "parts": [{"type": "step-start"}]}));
        assert!(model_messages(&empty).is_empty());
    }
}
