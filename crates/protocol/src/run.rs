//! Options of a run that a request sends with the message. All are optional and stored with the run; unknown fields are
//! ignored.

use serde::{Deserialize, Serialize};

use crate::id::MessageId;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RunOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// IANA name of the person's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The message that the new one follows; the end of the active branch when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_message_id: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent_stream: Option<SubAgentStream>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<WhenBusy>,
    /// The surface that the message came from.
    #[serde(skip_serializing_if = "Origin::is_chat")]
    pub origin: Origin,
    /// The client's own name for its request, sent back with the first events of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Calls that would be asked about run; sensitive ones are asked about all the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub yolo: bool,
}

/// A surface that messages and answers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    #[default]
    Chat,
    Events,
}

impl Origin {
    pub fn is_chat(&self) -> bool {
        *self == Self::Chat
    }
}

/// How a client receives the output of sub-agents at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SubAgentStream {
    Chunks,
    Text,
}

/// What happens to a message that arrives while a run is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WhenBusy {
    /// It is refused with 409.
    #[default]
    Reject,
    /// It runs after the active run has ended.
    Queue,
    /// The active run is stopped first.
    Interrupt,
}
