//! How much memory the content of an event needs, about. It bounds what is kept in memory; nobody is billed by it.

use serde_json::Value;

use super::{SessionEvent, ToolOutcome};
use crate::message::{Part, UiMessage};

impl SessionEvent {
    /// The bytes of its texts and values; 0 for events that are small by nature.
    pub fn approximate_bytes(&self) -> usize {
        match self {
            Self::SegmentDelta { delta, .. } | Self::ToolInputDelta { delta, .. } => delta.len(),
            Self::HistoryPlanted { messages } => messages.bytes(),
            Self::MessageAccepted { message, .. } | Self::MessageQueued { message, .. } => {
                of_message(message)
            }
            Self::PrefaceWritten { text, .. } | Self::AgentSteered { text, .. } => text.len(),
            Self::ToolRequested { call, .. } => of_value(&call.input),
            Self::ToolRejected { input, error, .. } => of_value(input) + error.len(),
            Self::ToolProgress { output, .. } => of_value(output),
            Self::ToolSettled { outcome, .. } => match outcome {
                ToolOutcome::Done { output } => of_value(output),
                ToolOutcome::Failed { message } => message.len(),
                ToolOutcome::Denied { reason } => reason.as_ref().map_or(0, String::len),
            },
            Self::DataPushed { data, .. } => of_value(data),
            Self::ApprovalAsked { call, question, .. } => {
                of_value(&call.input) + question.as_ref().map_or(0, |question| question.why.len())
            }
            Self::InputEdited { input, .. } => of_value(input),
            _ => 0,
        }
    }
}

fn of_message(message: &UiMessage) -> usize {
    let of_part = |part: &Part| match part {
        Part::Text { text, .. } | Part::Reasoning { text, .. } => text.len(),
        Part::File { url, .. } => url.len(),
        Part::Data { data, .. } => of_value(data),
        Part::SourceUrl { .. } | Part::SourceDocument { .. } | Part::StepStart | Part::Tool(_) => 0,
    };
    message.parts.iter().map(of_part).sum()
}

/// The texts of a value, and a little for everything else.
fn of_value(value: &Value) -> usize {
    const SCALAR: usize = 8;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => SCALAR,
        Value::String(text) => text.len() + SCALAR,
        Value::Array(items) => items.iter().map(of_value).sum::<usize>() + SCALAR,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + of_value(value)).sum::<usize>() + SCALAR
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        event::SegmentKind,
        id::{MessageId, ToolCallId},
    };

    #[test]
    fn texts_count_wherever_they_are() {
        let message = MessageId::new("m");
        let text = "x".repeat(1000);
        let delta = SessionEvent::SegmentDelta {
            message: message.clone(),
            segment: 0,
            kind: SegmentKind::Text,
            delta: text.clone(),
        };
        assert_eq!(delta.approximate_bytes(), 1000);
        let output = json!({ "lines": [text, { "again": text }], "n": 1 });
        let call = ToolCallId::new("c");
        let settled = SessionEvent::ToolSettled {
            message: message.clone(),
            call,
            outcome: ToolOutcome::Done { output },
        };
        assert!((2000..2100).contains(&settled.approximate_bytes()));
        assert_eq!(SessionEvent::StepStarted { message }.approximate_bytes(), 0);
    }
}
