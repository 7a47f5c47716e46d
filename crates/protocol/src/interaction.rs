//! Questions of a run to a person: the stored question and its answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    id::{ApprovalId, MessageId, RunId, ToolCallId},
    source::Timestamp,
    user_input::InputAnswers,
};

/// What a person is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// Whether the call may run.
    #[default]
    Approval,
    /// To fill in a form. The answers are the result of the call.
    Input,
}

impl InteractionKind {
    pub fn is_approval(&self) -> bool {
        *self == Self::Approval
    }
}

/// Where the answer to a question came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A client of the session events.
    Events,
    /// A client of the chat routes or of `/api/approvals`.
    Chat,
    /// Nobody: the server withdrew the question.
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InteractionStatus {
    Pending,
    /// Or, for a request for input, answered.
    Approved,
    /// Or, for a request for input, declined.
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
    #[serde(default)]
    pub kind: InteractionKind,
    pub run: RunId,
    pub message: MessageId,
    pub tool_call: ToolCallId,
    pub tool: String,
    pub input: Value,
    /// The input as a person changed it; the call ran with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// The answers to a request for input. The value of a secret field is a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<InputAnswers>,
    pub status: InteractionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub asked_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<AnsweredBy>,
}
