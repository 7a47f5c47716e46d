//! Questions of a run to a person: the stored question, its answer, and what a person allowed for the whole session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    id::{ApprovalId, MessageId, RunId, ToolCallId},
    source::Timestamp,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InteractionStatus {
    Pending,
    Approved,
    Denied,
    /// A new message, a stop or a failure made the question moot.
    Withdrawn,
}

/// A stored question. The call runs with this input, never with the client's copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    pub id: ApprovalId,
    pub run: RunId,
    pub message: MessageId,
    pub tool_call: ToolCallId,
    pub tool: String,
    pub input: Value,
    /// The input as a person changed it; the call ran with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    pub status: InteractionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub asked_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
}

/// A permission for the rest of a session: for all calls of a tool, or for one kind of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub tool: String,
    /// The kind of calls, in the tool's own words: the beginning of a command, a folder. Absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Information for the person before they answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Why the call needs an approval.
    pub why: String,
    /// The permission that "always for this session" would give. Absent when every call needs an approval of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Grant>,
}
