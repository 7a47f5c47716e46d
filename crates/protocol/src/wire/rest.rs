//! What the REST routes answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error_code::ErrorCode,
    event::RunEnd,
    id::{MessageId, SessionId},
    interaction::{Interaction, Question},
    source::Timestamp,
    wire::agents::{AgentInfo, FieldProblem},
};

/// RFC 9457, with our stable code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: ErrorCode,
    /// Everything that is wrong with what was sent, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FieldProblem>,
    /// What is stored, when somebody else was first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Box<AgentInfo>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    Idle,
    Running,
    /// The run waits for a person.
    Waiting,
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub id: SessionId,
    pub title: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub message_count: u64,
    pub status: SessionStatus,
    /// How the newest run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<RunEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_leaf: Option<MessageId>,
    /// How many messages wait behind the run; see `GET /api/chat/{id}/queue`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued: u32,
    /// The model the chat goes on with, if somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_source: Option<String>,
    /// Kept at the top of the list by a person.
    #[serde(default)]
    pub pinned: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    pub sessions: Vec<SessionInfo>,
    /// Hand this back as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A question nobody has answered yet, with where it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitingApproval {
    pub chat_id: SessionId,
    pub title: Option<String>,
    pub approval: Interaction,
    /// Absent when the tool does not ask any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// One question, answered or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AskedApproval {
    pub chat_id: SessionId,
    pub approval: Interaction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    pub approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Allow every such call of the session; only where the question offers it.
    #[serde(default)]
    pub always: bool,
    /// What is to run instead of the input that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalList {
    pub approvals: Vec<WaitingApproval>,
}

/// One answer, or one version of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BranchChoice {
    pub message_id: MessageId,
    pub revision: u32,
}

/// A message of the active branch that has siblings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BranchPoint {
    /// The one that is shown.
    pub message_id: MessageId,
    /// Its place among the choices, counted from 0.
    pub at: u32,
    pub choices: Vec<BranchChoice>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchList {
    pub branches: Vec<BranchPoint>,
}

/// What the server says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct About {
    pub version: String,
    /// The model that answers when nobody chooses another.
    pub model: String,
}
