//! The parts of a message as JSON: how each is written and read back.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::{Approval, Part, TextState, ToolPart, ToolState};
use crate::{id::ToolCallId, json, provider::ProviderMetadata};

/// A part in JSON: one flat record whose `type` and `state` determine which fields apply. Unknown fields are ignored.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct FlatPart<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    input: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    raw_input: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    output: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preliminary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Cow<'a, Approval>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    data: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_metadata: Option<Cow<'a, ProviderMetadata>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_provider_metadata: Option<Cow<'a, ProviderMetadata>>,
}

/// `null` is a value here, not an absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'static, Value>>, D::Error> {
    Value::deserialize(deserializer).map(|value| Some(Cow::Owned(value)))
}

fn text(text: &str) -> Option<Cow<'_, str>> {
    Some(Cow::Borrowed(text))
}

fn value(value: &Value) -> Option<Cow<'_, Value>> {
    Some(Cow::Borrowed(value))
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flat = match self {
            Self::Text { text: said, state } => FlatPart {
                kind: "text".into(),
                text: text(said),
                state: state_name(*state),
                ..Default::default()
            },
            Self::Reasoning { id, text: said, state, provider } => FlatPart {
                kind: "reasoning".into(),
                id: id.as_deref().and_then(text),
                text: text(said),
                state: state_name(*state),
                provider_metadata: provider.as_ref().map(Cow::Borrowed),
                ..Default::default()
            },
            Self::File { media_type, url, filename } => FlatPart {
                kind: "file".into(),
                media_type: text(media_type),
                url: text(url),
                filename: filename.as_deref().and_then(text),
                ..Default::default()
            },
            Self::SourceUrl { source_id, url, title } => FlatPart {
                kind: "source-url".into(),
                source_id: text(source_id),
                url: text(url),
                title: title.as_deref().and_then(text),
                ..Default::default()
            },
            Self::SourceDocument { source_id, media_type, title, filename } => FlatPart {
                kind: "source-document".into(),
                source_id: text(source_id),
                media_type: text(media_type),
                title: text(title),
                filename: filename.as_deref().and_then(text),
                ..Default::default()
            },
            Self::StepStart => FlatPart { kind: "step-start".into(), ..Default::default() },
            Self::Data { name, id, data } => FlatPart {
                kind: format!("data-{name}").into(),
                id: id.as_deref().and_then(text),
                data: value(data),
                ..Default::default()
            },
            Self::Tool(tool) => tool.flat(),
        };
        flat.serialize(serializer)
    }
}

impl ToolPart {
    fn flat(&self) -> FlatPart<'_> {
        let flat = FlatPart {
            kind: format!("tool-{}", self.tool).into(),
            tool_call_id: text(self.call.as_str()),
            input: self.state.input().and_then(value),
            call_provider_metadata: self.provider.as_ref().map(Cow::Borrowed),
            ..Default::default()
        };
        let record = |approval: &Option<Approval>| approval.clone().map(Cow::Owned);
        match &self.state {
            ToolState::InputStreaming { raw } => FlatPart {
                state: text("input-streaming"),
                input: json::partial(raw).map(Cow::Owned),
                raw_input: (!raw.is_empty()).then(|| Cow::Owned(Value::String(raw.clone()))),
                ..flat
            },
            ToolState::InputAvailable { .. } => FlatPart { state: text("input-available"), ..flat },
            ToolState::ApprovalRequested { approval, .. } => FlatPart {
                state: text("approval-requested"),
                approval: Some(Cow::Owned(Approval { id: approval.clone(), approved: None, reason: None })),
                ..flat
            },
            ToolState::ApprovalResponded { approval, .. } => FlatPart {
                state: text("approval-responded"),
                approval: Some(Cow::Borrowed(approval)),
                ..flat
            },
            ToolState::OutputAvailable { output, preliminary, approval, .. } => FlatPart {
                state: text("output-available"),
                output: value(output),
                preliminary: preliminary.then_some(true),
                approval: record(approval),
                ..flat
            },
            ToolState::OutputError { error_text, approval, .. } => FlatPart {
                state: text("output-error"),
                error_text: text(error_text),
                approval: record(approval),
                ..flat
            },
            ToolState::OutputDenied { approval, .. } => {
                FlatPart { state: text("output-denied"), approval: record(approval), ..flat }
            }
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FlatPart::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl TryFrom<FlatPart<'_>> for Part {
    type Error = String;

    fn try_from(mut flat: FlatPart<'_>) -> Result<Self, String> {
        let kind = std::mem::take(&mut flat.kind);
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        Ok(match &*kind {
            "text" => Self::Text {
                state: text_state(&kind, flat.state)?,
                text: need(&kind, "text", owned(flat.text))?,
            },
            "reasoning" => Self::Reasoning {
                id: owned(flat.id),
                state: text_state(&kind, flat.state)?,
                text: need(&kind, "text", owned(flat.text))?,
                provider: flat.provider_metadata.map(Cow::into_owned),
            },
            "file" => Self::File {
                media_type: need(&kind, "mediaType", owned(flat.media_type))?,
                url: need(&kind, "url", owned(flat.url))?,
                filename: owned(flat.filename),
            },
            "source-url" => Self::SourceUrl {
                source_id: need(&kind, "sourceId", owned(flat.source_id))?,
                url: need(&kind, "url", owned(flat.url))?,
                title: owned(flat.title),
            },
            "source-document" => Self::SourceDocument {
                source_id: need(&kind, "sourceId", owned(flat.source_id))?,
                media_type: need(&kind, "mediaType", owned(flat.media_type))?,
                title: need(&kind, "title", owned(flat.title))?,
                filename: owned(flat.filename),
            },
            "step-start" => Self::StepStart,
            "dynamic-tool" => {
                let tool = need(&kind, "toolName", owned(flat.tool_name.take()))?;
                Self::Tool(ToolPart::from_flat(&kind, tool, flat)?)
            }
            other => {
                if let Some(name) = other.strip_prefix("data-") {
                    let data = need(&kind, "data", flat.data)?.into_owned();
                    Self::Data { name: name.to_owned(), id: owned(flat.id), data }
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
    fn from_flat(kind: &str, tool: String, flat: FlatPart<'_>) -> Result<Self, String> {
        let plain = |value: Option<Cow<'_, Value>>| value.map(Cow::into_owned);
        let input = |input: Option<Cow<'_, Value>>| need(kind, "input", plain(input));
        let record = flat.approval.map(Cow::into_owned);
        let state = match flat.state.as_deref() {
            Some("input-streaming") => ToolState::InputStreaming {
                raw: match plain(flat.raw_input) {
                    Some(Value::String(raw)) => raw,
                    _ => flat.input.map(|input| input.to_string()).unwrap_or_default(),
                },
            },
            Some("input-available") => ToolState::InputAvailable { input: input(flat.input)? },
            Some("approval-requested") => ToolState::ApprovalRequested {
                input: input(flat.input)?,
                approval: need(kind, "approval", record)?.id,
            },
            Some("approval-responded") => ToolState::ApprovalResponded {
                input: input(flat.input)?,
                approval: need(kind, "approval", record)?,
            },
            Some("output-available") => ToolState::OutputAvailable {
                input: plain(flat.input).unwrap_or(Value::Null),
                output: plain(flat.output).unwrap_or(Value::Null),
                preliminary: flat.preliminary.unwrap_or(false),
                approval: record,
            },
            Some("output-error") => ToolState::OutputError {
                input: plain(flat.input.or(flat.raw_input)),
                error_text: need(kind, "errorText", flat.error_text)?.into_owned(),
                approval: record,
            },
            Some("output-denied") => {
                ToolState::OutputDenied { input: plain(flat.input).unwrap_or(Value::Null), approval: record }
            }
            Some(other) => return Err(format!("a `{kind}` part has the unknown state `{other}`")),
            None => return Err(format!("a `{kind}` part needs `state`")),
        };
        let call = need(kind, "toolCallId", flat.tool_call_id)?;
        let provider = flat.call_provider_metadata.map(Cow::into_owned);
        Ok(Self { tool, call: ToolCallId::new(&*call), state, provider })
    }
}

fn need<T>(kind: &str, field: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("a `{kind}` part needs `{field}`"))
}

fn state_name(state: Option<TextState>) -> Option<Cow<'static, str>> {
    state.map(|state| match state {
        TextState::Streaming => Cow::Borrowed("streaming"),
        TextState::Done => Cow::Borrowed("done"),
    })
}

fn text_state(kind: &str, state: Option<Cow<'_, str>>) -> Result<Option<TextState>, String> {
    match state.as_deref() {
        None => Ok(None),
        Some("streaming") => Ok(Some(TextState::Streaming)),
        Some("done") => Ok(Some(TextState::Done)),
        Some(other) => Err(format!("a `{kind}` part has the unknown state `{other}`")),
    }
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
