//! The contents of a transcript's files. Fields that do not apply are left out; times are milliseconds since 1970.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    artifact::Artifact,
    event::{FrameEnd, RunEnd},
    facts::TurnFacts,
    id::{ApprovalId, MessageId, MessageRef, RunId, SessionId, ToolCallId},
    message::{Part, Role, UiMessage},
    run::RunOptions,
    source::Timestamp,
};

/// A session with its sub-agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    pub session: SessionFile,
    pub lines: Vec<Line>,
    /// The sub-agents that its messages called, in the order they started.
    pub agents: Vec<Agent>,
}

/// `session.json` of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionFile {
    /// The version of this layout.
    pub version: u32,
    pub id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the title was given; otherwise it is the first words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_user_rename: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pin: bool,
    /// The times of its first and last message.
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub message_count: u64,
    /// The message that the conversation continues from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_leaf: Option<MessageRef>,
    /// The part of the system prompt that belongs to the session, and the agent whose prompt it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_preface: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preface_agent: Option<String>,
    /// The main agent that the session was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl SessionFile {
    pub const VERSION: u32 = 1;
}

/// A sub-agent: a conversation of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    pub file: AgentFile,
    /// Its task and its answer.
    pub lines: Vec<Line>,
    pub agents: Vec<Agent>,
}

/// `session.json` of a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFile {
    pub id: SessionId,
    pub title: String,
    pub task: String,
    pub agent_type: String,
    pub created_at: Timestamp,
    /// The message that delegated to it, and the call in it.
    pub parent_message_id: MessageId,
    pub parent_tool_call_id: ToolCallId,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// A copy of the context that its caller passed with the task.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub context: Value,
}

/// One line of `messages.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub id: MessageId,
    /// How many times it was edited.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revision: u32,
    /// The message it follows; none for the first.
    pub parent_message_id: Option<MessageId>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parent_revision: u32,
    pub role: Role,
    pub message_kind: MessageKind,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    pub created_at: Timestamp,
    /// Facts that the model read before the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<TurnFacts>>,
    /// Whether a client sent it with the first request of the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    /// The run that wrote it; only for a main agent's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunLine>,
    /// How an agent's message ended; absent while it waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<FrameEnd>,
    /// When it ended or started to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Questions that were withdrawn, not denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<ApprovalId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Normal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunLine {
    pub id: RunId,
    #[serde(default)]
    pub options: RunOptions,
    /// Absent while it waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
}

impl Line {
    /// A line with nothing but the message.
    pub(super) fn bare(message: UiMessage, parent: Option<MessageRef>, created_at: Timestamp) -> Self {
        let (parent_message_id, parent_revision) = match parent {
            Some(parent) => (Some(parent.id), parent.revision),
            None => (None, 0),
        };
        Self {
            id: message.id,
            revision: 0,
            parent_message_id,
            parent_revision,
            role: message.role,
            message_kind: MessageKind::Normal,
            parts: message.parts,
            metadata: message.metadata,
            created_at,
            facts: None,
            planted: false,
            run: None,
            end: None,
            ended_at: None,
            artifacts: Vec::new(),
            withdrawn: Vec::new(),
        }
    }

    /// The message itself.
    pub fn message(&self) -> UiMessage {
        UiMessage {
            id: self.id.clone(),
            role: self.role,
            metadata: self.metadata.clone(),
            parts: self.parts.clone(),
        }
    }

    pub fn parent(&self) -> Option<MessageRef> {
        let id = self.parent_message_id.clone()?;
        Some(MessageRef { id, revision: self.parent_revision })
    }
}

impl AgentFile {
    /// The sub-agent's task, as the first message of its conversation.
    pub(super) fn task_line(&self, answer: &MessageId) -> Line {
        let message = UiMessage {
            id: MessageId::new(format!("{answer}-task")),
            role: Role::User,
            metadata: None,
            parts: vec![Part::Text { text: self.task.clone(), state: None }],
        };
        Line::bare(message, None, self.created_at)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
