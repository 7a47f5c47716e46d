//! Responses of the REST routes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{
    error_code::ErrorCode,
    event::RunEnd,
    id::{MessageId, SessionId},
    interaction::Interaction,
    policy::{GrantScope, Question},
    source::Timestamp,
    wire::agents::{AgentInfo, FieldProblem},
};

/// An RFC 9457 problem with a stable code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: ErrorCode,
    /// All problems of the request, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FieldProblem>,
    /// The stored definition, when somebody else changed it first.
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

/// A session in a list.
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
    /// How many messages are queued behind the run; see `GET /api/chat/{id}/queue`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued: u32,
    /// The model of the chat, if somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_model_source: Option<String>,
    /// The main agent that answers next.
    pub agent_id: String,
    /// The agent that was chosen, if it no longer exists and `agent_id` answers in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_fallback_from: Option<String>,
    /// Whether a person pinned it to the top of the list.
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
    /// Pass this as `cursor` to get the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An unanswered question, with the chat it was asked in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitingApproval {
    pub chat_id: SessionId,
    pub title: Option<String>,
    pub approval: Interaction,
    /// What the person is told. Absent when an older version asked.
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
    /// Allow all such calls from now on, only if the question offers it: in this chat (`true` or `"session"`), or in all
    /// chats of the workspace (`"workspace"`).
    #[serde(default, deserialize_with = "always", skip_serializing_if = "Option::is_none")]
    pub always: Option<GrantScope>,
    /// An input that replaces the one of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// Reads `true` as "for the session".
pub fn always<'de, D: Deserializer<'de>>(from: D) -> Result<Option<GrantScope>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Always {
        Flag(bool),
        Scope(GrantScope),
    }
    Ok(match Option::<Always>::deserialize(from)? {
        None | Some(Always::Flag(false)) => None,
        Some(Always::Flag(true)) => Some(GrantScope::Session),
        Some(Always::Scope(scope)) => Some(scope),
    })
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
    /// The message that is shown.
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

/// Information about the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct About {
    pub version: String,
    /// The default model.
    pub model: String,
}
