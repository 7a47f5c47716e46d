//! `UIMessage` and its parts: what the client holds, what the history route answers, what is stored.
//!
//! A tool part is in exactly one of the states of the protocol; what cannot happen (an approval without its id,
//! an output without its input) cannot be written.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::{Map, Value};

use crate::{
    id::{ApprovalId, MessageId, ToolCallId},
    json,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UiMessage {
    pub id: MessageId,
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    pub parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text { text: String, state: Option<TextState> },
    Reasoning { id: Option<String>, text: String, state: Option<TextState> },
    File { media_type: String, url: String, filename: Option<String> },
    SourceUrl { source_id: String, url: String, title: Option<String> },
    SourceDocument { source_id: String, media_type: String, title: String, filename: Option<String> },
    StepStart,
    Data { name: String, id: Option<String>, data: Value },
    Tool(ToolPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextState {
    Streaming,
    Done,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolPart {
    pub tool: String,
    pub call: ToolCallId,
    pub state: ToolState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ToolState {
    /// The raw text so far; the readable part of it is what the wire calls `input`.
    InputStreaming {
        raw: String,
    },
    InputAvailable {
        input: Value,
    },
    ApprovalRequested {
        input: Value,
        approval: ApprovalId,
    },
    ApprovalResponded {
        input: Value,
        approval: Approval,
    },
    OutputAvailable {
        input: Value,
        output: Value,
        preliminary: bool,
        approval: Option<Approval>,
    },
    OutputError {
        input: Option<Value>,
        error_text: String,
        approval: Option<Approval>,
    },
    OutputDenied {
        input: Value,
        approval: Option<Approval>,
    },
}

/// The record of a question on a part. `approved` is absent while nobody has answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UiMessage {
    pub fn tool_parts(&self) -> impl DoubleEndedIterator<Item = &ToolPart> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        })
    }

    /// All text of the message, for titles, search and summaries.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for part in &self.parts {
            if let Part::Text { text, .. } = part {
                all.push_str(text);
            }
        }
        all
    }
}

impl ToolState {
    pub fn is_settled(&self) -> bool {
        match self {
            Self::OutputAvailable { preliminary, .. } => !preliminary,
            Self::OutputError { .. } | Self::OutputDenied { .. } => true,
            Self::InputStreaming { .. }
            | Self::InputAvailable { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalResponded { .. } => false,
        }
    }

    pub fn input(&self) -> Option<&Value> {
        match self {
            Self::InputStreaming { .. } => None,
            Self::OutputError { input, .. } => input.as_ref(),
            Self::InputAvailable { input }
            | Self::ApprovalRequested { input, .. }
            | Self::ApprovalResponded { input, .. }
            | Self::OutputAvailable { input, .. }
            | Self::OutputDenied { input, .. } => Some(input),
        }
    }

    pub fn approval(&self) -> Option<Approval> {
        match self {
            Self::ApprovalRequested { approval, .. } => {
                Some(Approval { id: approval.clone(), approved: None, reason: None })
            }
            Self::ApprovalResponded { approval, .. } => Some(approval.clone()),
            Self::OutputAvailable { approval, .. }
            | Self::OutputError { approval, .. }
            | Self::OutputDenied { approval, .. } => approval.clone(),
            Self::InputStreaming { .. } | Self::InputAvailable { .. } => None,
        }
    }
}

/// A part as it stands in JSON: one flat record whose `type` and `state` say which fields count. Fields of newer
/// clients are ignored.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct FlatPart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<ToolCallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    raw_input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preliminary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    data: Option<Value>,
}

/// `null` is a value here, not an absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut flat = FlatPart::default();
        match self.clone() {
            Self::Text { text, state } => {
                "text".clone_into(&mut flat.kind);
                flat.text = Some(text);
                flat.state = state_name(state);
            }
            Self::Reasoning { id, text, state } => {
                "reasoning".clone_into(&mut flat.kind);
                flat.id = id;
                flat.text = Some(text);
                flat.state = state_name(state);
            }
            Self::File { media_type, url, filename } => {
                "file".clone_into(&mut flat.kind);
                flat.media_type = Some(media_type);
                flat.url = Some(url);
                flat.filename = filename;
            }
            Self::SourceUrl { source_id, url, title } => {
                "source-url".clone_into(&mut flat.kind);
                flat.source_id = Some(source_id);
                flat.url = Some(url);
                flat.title = title;
            }
            Self::SourceDocument { source_id, media_type, title, filename } => {
                "source-document".clone_into(&mut flat.kind);
                flat.source_id = Some(source_id);
                flat.media_type = Some(media_type);
                flat.title = Some(title);
                flat.filename = filename;
            }
            Self::StepStart => "step-start".clone_into(&mut flat.kind),
            Self::Data { name, id, data } => {
                flat.kind = format!("data-{name}");
                flat.id = id;
                flat.data = Some(data);
            }
            Self::Tool(tool) => tool.flatten_into(&mut flat),
        }
        if flat.kind.is_empty() {
            return Err(ser::Error::custom("a part without a type"));
        }
        flat.serialize(serializer)
    }
}

impl ToolPart {
    fn flatten_into(self, flat: &mut FlatPart) {
        flat.kind = format!("tool-{}", self.tool);
        flat.tool_call_id = Some(self.call);
        let state = match self.state {
            ToolState::InputStreaming { raw } => {
                flat.input = json::partial(&raw);
                flat.raw_input = (!raw.is_empty()).then_some(Value::String(raw));
                "input-streaming"
            }
            ToolState::InputAvailable { input } => {
                flat.input = Some(input);
                "input-available"
            }
            ToolState::ApprovalRequested { input, approval } => {
                flat.input = Some(input);
                flat.approval = Some(Approval { id: approval, approved: None, reason: None });
                "approval-requested"
            }
            ToolState::ApprovalResponded { input, approval } => {
                flat.input = Some(input);
                flat.approval = Some(approval);
                "approval-responded"
            }
            ToolState::OutputAvailable { input, output, preliminary, approval } => {
                flat.input = Some(input);
                flat.output = Some(output);
                flat.preliminary = preliminary.then_some(true);
                flat.approval = approval;
                "output-available"
            }
            ToolState::OutputError { input, error_text, approval } => {
                flat.input = input;
                flat.error_text = Some(error_text);
                flat.approval = approval;
                "output-error"
            }
            ToolState::OutputDenied { input, approval } => {
                flat.input = Some(input);
                flat.approval = approval;
                "output-denied"
            }
        };
        flat.state = Some(state.to_owned());
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FlatPart::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl TryFrom<FlatPart> for Part {
    type Error = String;

    fn try_from(mut flat: FlatPart) -> Result<Self, String> {
        let kind = std::mem::take(&mut flat.kind);
        Ok(match kind.as_str() {
            "text" => {
                Self::Text { state: text_state(&kind, flat.state)?, text: need(&kind, "text", flat.text)? }
            }
            "reasoning" => Self::Reasoning {
                id: flat.id,
                state: text_state(&kind, flat.state)?,
                text: need(&kind, "text", flat.text)?,
            },
            "file" => Self::File {
                media_type: need(&kind, "mediaType", flat.media_type)?,
                url: need(&kind, "url", flat.url)?,
                filename: flat.filename,
            },
            "source-url" => Self::SourceUrl {
                source_id: need(&kind, "sourceId", flat.source_id)?,
                url: need(&kind, "url", flat.url)?,
                title: flat.title,
            },
            "source-document" => Self::SourceDocument {
                source_id: need(&kind, "sourceId", flat.source_id)?,
                media_type: need(&kind, "mediaType", flat.media_type)?,
                title: need(&kind, "title", flat.title)?,
                filename: flat.filename,
            },
            "step-start" => Self::StepStart,
            "dynamic-tool" => {
                let tool = need(&kind, "toolName", flat.tool_name.take())?;
                Self::Tool(ToolPart::from_flat(&kind, tool, flat)?)
            }
            other => {
                if let Some(name) = other.strip_prefix("data-") {
                    let data = need(&kind, "data", flat.data)?;
                    Self::Data { name: name.to_owned(), id: flat.id, data }
                } else if let Some(tool) = other.strip_prefix("tool-") {
                    Self::Tool(ToolPart::from_flat(&kind, tool.to_owned(), flat)?)
                } else {
                    return Err(format!("a part has the unknown type `{other}`"));
                }
            }
        })
    }
}

impl ToolPart {
    fn from_flat(kind: &str, tool: String, flat: FlatPart) -> Result<Self, String> {
        let input = |input: Option<Value>| need(kind, "input", input);
        let state = match flat.state.as_deref() {
            Some("input-streaming") => ToolState::InputStreaming {
                raw: match flat.raw_input {
                    Some(Value::String(raw)) => raw,
                    _ => flat.input.map(|input| input.to_string()).unwrap_or_default(),
                },
            },
            Some("input-available") => ToolState::InputAvailable { input: input(flat.input)? },
            Some("approval-requested") => ToolState::ApprovalRequested {
                input: input(flat.input)?,
                approval: need(kind, "approval", flat.approval)?.id,
            },
            Some("approval-responded") => ToolState::ApprovalResponded {
                input: input(flat.input)?,
                approval: need(kind, "approval", flat.approval)?,
            },
            Some("output-available") => ToolState::OutputAvailable {
                input: flat.input.unwrap_or(Value::Null),
                output: flat.output.unwrap_or(Value::Null),
                preliminary: flat.preliminary.unwrap_or(false),
                approval: flat.approval,
            },
            Some("output-error") => ToolState::OutputError {
                input: flat.input.or(flat.raw_input),
                error_text: need(kind, "errorText", flat.error_text)?,
                approval: flat.approval,
            },
            Some("output-denied") => {
                ToolState::OutputDenied { input: flat.input.unwrap_or(Value::Null), approval: flat.approval }
            }
            Some(other) => return Err(format!("a `{kind}` part has the unknown state `{other}`")),
            None => return Err(format!("a `{kind}` part needs `state`")),
        };
        Ok(Self { tool, call: need(kind, "toolCallId", flat.tool_call_id)?, state })
    }
}

fn need<T>(kind: &str, field: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("a `{kind}` part needs `{field}`"))
}

fn state_name(state: Option<TextState>) -> Option<String> {
    state.map(|state| match state {
        TextState::Streaming => "streaming".to_owned(),
        TextState::Done => "done".to_owned(),
    })
}

fn text_state(kind: &str, state: Option<String>) -> Result<Option<TextState>, String> {
    match state.as_deref() {
        None => Ok(None),
        Some("streaming") => Ok(Some(TextState::Streaming)),
        Some("done") => Ok(Some(TextState::Done)),
        Some(other) => Err(format!("a `{kind}` part has the unknown state `{other}`")),
    }
}

/// Metadata as an object, for merging; anything else a client put there counts as none.
pub fn metadata_object(metadata: Option<&Value>) -> Map<String, Value> {
    metadata.and_then(Value::as_object).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn round_trip(value: Value) {
        let part: Part = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(part).unwrap(), value);
    }

    #[test]
    fn parts_keep_their_wire_shape() {
        round_trip(json!({"type": "text", "text": "hi", "state": "done"}));
        round_trip(json!({"type": "reasoning", "id": "s0", "text": "hm", "state": "streaming"}));
        round_trip(json!({"type": "file", "mediaType": "image/png", "url": "data:,", "filename": "a.png"}));
        round_trip(json!({"type": "step-start"}));
        round_trip(json!({"type": "data-plan", "id": "p", "data": null}));
        round_trip(
            json!({"type": "tool-x", "toolCallId": "c", "state": "input-available", "input": {"a": 1}}),
        );
        round_trip(json!({"type": "tool-x", "toolCallId": "c", "state": "output-available", "input": {},
            "output": null, "approval": {"id": "apr_1", "approved": true}}));
        round_trip(json!({"type": "tool-x", "toolCallId": "c", "state": "output-denied", "input": {},
            "approval": {"id": "apr_1", "approved": false, "reason": "no"}}));
        round_trip(
            json!({"type": "tool-x", "toolCallId": "c", "state": "output-error", "input": "{", "errorText": "e"}),
        );
    }

    #[test]
    fn bad_parts_say_what_is_missing() {
        let error = serde_json::from_value::<Part>(json!({"type": "text"})).unwrap_err().to_string();
        assert!(error.contains("`text` part needs `text`"), "{error}");
        let error = serde_json::from_value::<Part>(json!({"type": "banana"})).unwrap_err().to_string();
        assert!(error.contains("unknown type `banana`"), "{error}");
    }
}
