//! Something a run asks a person: the ledger row behind an approval, its answer, and what a person allowed for good.

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

/// One row of the ledger. The input that will run is this one, never the client's copy.
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
    /// What a person made of the input; this is what ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    pub status: InteractionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub asked_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
}

/// What a person allowed for the rest of a session: every call of a tool, or of one kind of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub tool: String,
    /// The kind of calls, in the tool's own words: the beginning of a command, a folder. Absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// What a person should know before they answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Why they are asked.
    pub why: String,
    /// What "always for this session" would allow. Absent: this is asked about every time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Grant>,
}
