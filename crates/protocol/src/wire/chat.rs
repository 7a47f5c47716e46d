//! The chunks of the UI message stream, limited to the *common profile*: what every `ai` release from 6.0.0 to
//! 7.0.169 accepts, field by field. An optional field is left out, never `null`; there is no way to write one.
//!
//! `tool-approval-response` is the one exception: releases before 7 refuse it, so a surface sends it only when a
//! setting asks for it, but the fold needs it to know that a person approved.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    event::{FinishReason, Seq},
    message::facts::MessageFacts,
    provider::ProviderMetadata,
};

type Text<'a> = Cow<'a, str>;
/// Facts in a chunk. Boxed, so that the chunk of a text delta stays small.
pub type Facts<'a> = Cow<'a, Box<MessageFacts>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk<'a> {
    Start {
        message_id: Text<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Facts<'a>>,
    },
    StartStep,
    FinishStep,
    TextStart {
        id: Text<'a>,
    },
    TextDelta {
        id: Text<'a>,
        delta: Text<'a>,
    },
    TextEnd {
        id: Text<'a>,
    },
    ReasoningStart {
        id: Text<'a>,
    },
    ReasoningDelta {
        id: Text<'a>,
        delta: Text<'a>,
    },
    ReasoningEnd {
        id: Text<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Cow<'a, ProviderMetadata>>,
    },
    ToolInputStart {
        tool_call_id: Text<'a>,
        tool_name: Text<'a>,
    },
    ToolInputDelta {
        tool_call_id: Text<'a>,
        input_text_delta: Text<'a>,
    },
    ToolInputAvailable {
        tool_call_id: Text<'a>,
        tool_name: Text<'a>,
        input: Cow<'a, Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Cow<'a, ProviderMetadata>>,
    },
    ToolInputError {
        tool_call_id: Text<'a>,
        tool_name: Text<'a>,
        input: Cow<'a, Value>,
        error_text: Text<'a>,
    },
    ToolApprovalRequest {
        approval_id: Text<'a>,
        tool_call_id: Text<'a>,
    },
    /// Not in the common profile.
    ToolApprovalResponse {
        approval_id: Text<'a>,
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text<'a>>,
    },
    ToolOutputAvailable {
        tool_call_id: Text<'a>,
        output: Cow<'a, Value>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
    },
    ToolOutputError {
        tool_call_id: Text<'a>,
        error_text: Text<'a>,
    },
    ToolOutputDenied {
        tool_call_id: Text<'a>,
    },
    SourceUrl {
        source_id: Text<'a>,
        url: Text<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Text<'a>>,
    },
    SourceDocument {
        source_id: Text<'a>,
        media_type: Text<'a>,
        title: Text<'a>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<Text<'a>>,
    },
    File {
        url: Text<'a>,
        media_type: Text<'a>,
    },
    MessageMetadata {
        message_metadata: Facts<'a>,
    },
    Finish {
        finish_reason: FinishReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Facts<'a>>,
    },
    Abort,
    Error {
        error_text: Text<'a>,
    },
    /// `data-<name>`.
    #[serde(untagged)]
    Data(DataChunk<'a>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataChunk<'a> {
    #[serde(rename = "type")]
    pub kind: DataKind<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    pub data: Cow<'a, Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

/// The name after `data-` in the type of a data chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct DataKind<'a>(pub Text<'a>);

impl Serialize for DataKind<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data-{}", self.0))
    }
}

impl<'de> Deserialize<'de> for DataKind<'_> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix("data-") {
            Some(name) if !name.is_empty() => Ok(Self(Cow::Owned(name.to_owned()))),
            _ => Err(serde::de::Error::custom(format!("unknown chunk type `{text}`"))),
        }
    }
}

/// The client releases that a stream is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Every `ai` release since 6.0.0.
    #[default]
    Common,
    /// `ai` 7 and newer: also `tool-approval-response`.
    V7,
}

impl Chunk<'_> {
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Data(DataChunk { transient: true, .. }))
    }
}

/// Writes an SSE event: `id:` is the sequence number, `data:` one line of JSON.
pub fn write_sse_event(out: &mut Vec<u8>, seq: Seq, chunk: &Chunk<'_>) -> serde_json::Result<()> {
    out.extend_from_slice(b"id: ");
    let mut digits = [0_u8; 20];
    out.extend_from_slice(decimal(seq, &mut digits));
    out.extend_from_slice(b"\ndata: ");
    serde_json::to_writer(&mut *out, chunk)?;
    out.extend_from_slice(b"\n\n");
    Ok(())
}

/// Writes an SSE event without a number, for chunks that are not in the log and may be repeated.
pub fn write_unnumbered_sse_event(out: &mut Vec<u8>, chunk: &Chunk<'_>) -> serde_json::Result<()> {
    out.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut *out, chunk)?;
    out.extend_from_slice(b"\n\n");
    Ok(())
}

/// The last SSE event of a stream that was not cut off.
pub const DONE_EVENT: &[u8] = b"data: [DONE]\n\n";

fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_sse_event_has_its_number_and_one_line_of_json() {
        let mut out = Vec::new();
        write_sse_event(&mut out, 1204, &Chunk::TextDelta { id: "s0".into(), delta: "a\nb".into() }).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id: 1204\ndata: {\"type\":\"text-delta\",\"id\":\"s0\",\"delta\":\"a\\nb\"}\n\n"
        );
    }

    #[test]
    fn optional_fields_are_left_out_and_names_are_the_protocols() {
        let chunk = Chunk::Start { message_id: "m".into(), message_metadata: None };
        assert_eq!(serde_json::to_value(&chunk).unwrap(), json!({"type": "start", "messageId": "m"}));
        let chunk = Chunk::Data(DataChunk {
            kind: DataKind("plan".into()),
            id: None,
            data: Cow::Owned(json!([1])),
            transient: false,
        });
        let value = serde_json::to_value(&chunk).unwrap();
        assert_eq!(value, json!({"type": "data-plan", "data": [1]}));
        assert_eq!(serde_json::from_value::<Chunk>(value).unwrap(), chunk);
    }

    #[test]
    fn an_unknown_type_is_refused() {
        assert!(serde_json::from_value::<Chunk>(json!({"type": "dance"})).is_err());
    }
}
