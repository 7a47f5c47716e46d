//! Questions of a run to a person: the stored question and its answer.

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
