//! `UIMessage` and its parts, as the client holds them, the history route returns them and the store keeps them.
//!
//! A tool part is in exactly one of the states of the protocol; what cannot happen (an approval without its id,
//! an output without its input) cannot be written.

pub mod facts;
mod flat;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    id::{ApprovalId, MessageId, ToolCallId},
    provider::ProviderMetadata,
};

/// A message of a user or an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UiMessage {
    pub id: MessageId,
    pub role: Role,
    /// Of a user's message free JSON of the client; of an agent's message [`facts::MessageFacts`].
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
    Text {
        text: String,
        state: Option<TextState>,
    },
    Reasoning {
        id: Option<String>,
        text: String,
        state: Option<TextState>,
        provider: Option<ProviderMetadata>,
    },
    File {
        media_type: String,
        url: String,
        filename: Option<String>,
    },
    SourceUrl {
        source_id: String,
        url: String,
        title: Option<String>,
    },
    SourceDocument {
        source_id: String,
        media_type: String,
        title: String,
        filename: Option<String>,
    },
    StepStart,
    Data {
        name: String,
        id: Option<String>,
        data: Value,
    },
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
    /// Data that the provider wants back with the call.
    pub provider: Option<ProviderMetadata>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ToolState {
    /// The raw text so far; its readable part is `input` on the wire.
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

/// The approval of a call. `approved` is absent while nobody has answered.
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
