//! What the tables hold, as values.

use protocol::{
    AgentId, ArtifactInfo, Grant, MessageId, MessageRef, RunEnd, RunId, RunOptions, Seq, SessionId,
    Timestamp, ToolCallId, TurnFacts, UiMessage, WorkspaceId, interaction::Interaction,
    wire::agents::AgentFields,
};

use serde::{Deserialize, Serialize};

use crate::row::Row;

/// A session inside the store; never leaves the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub i64);

#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    pub key: SessionKey,
    pub workspace: WorkspaceId,
    pub id: SessionId,
    pub title: Option<String>,
    /// Whether a person or a model wrote the title; else it is the session's first words.
    pub is_titled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub message_count: u64,
    pub active_leaf: Option<MessageRef>,
    /// No event was ever told under a higher number.
    pub high_water: Seq,
    /// The message of the newest run, and where that run stands.
    pub last_run: Option<(MessageId, RunStatus)>,
    /// How many messages wait behind the run.
    pub queued: u32,
    pub preface: Option<PrefaceRecord>,
    /// The model that the newest run was to use, and where from: what the session goes on with.
    pub chat_model_id: Option<String>,
    pub chat_model_source: Option<String>,
    /// What a person allowed for the rest of the session.
    pub grants: Vec<Grant>,
}

/// What the system prompt says about the session, as it was first told to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefaceRecord {
    pub agent: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionPage {
    pub sessions: Vec<SessionRecord>,
    pub more: bool,
}

/// A question that waits, with where it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub session: SessionId,
    pub title: Option<String>,
    pub interaction: Interaction,
}

/// A message of a branch that has siblings: other answers, or other versions of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    /// Which of the choices is on the branch.
    pub at: usize,
    /// In the order they were made.
    pub choices: Vec<MessageRef>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    pub reference: MessageRef,
    pub parent: Option<MessageRef>,
    pub created_at: Timestamp,
    /// The message as JSON, ready to be sent.
    pub body: String,
    /// What a model is told before the words of the message.
    pub facts: Option<TurnFacts>,
}

impl MessageRecord {
    pub fn message(&self) -> Result<UiMessage, crate::StoreError> {
        serde_json::from_str(&self.body).map_err(|error| crate::StoreError::Corrupt(error.to_string()))
    }
}

/// A message that waits behind the run that is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedMessage {
    pub message: UiMessage,
    pub edits: Option<MessageId>,
    pub after: Option<MessageId>,
    pub options: RunOptions,
}

impl QueuedMessage {
    /// What it is known by: its own id, or that of the message it edits.
    pub fn id(&self) -> &MessageId {
        self.edits.as_ref().unwrap_or(&self.message.id)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactPage {
    pub artifacts: Vec<ArtifactInfo>,
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    Running,
    /// Waits for a person.
    Parked,
    Ended(RunEnd),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    pub id: RunId,
    /// The message the run writes.
    pub message: MessageId,
    /// The user message it answers.
    pub answers: MessageRef,
    pub status: RunStatus,
    /// Its first event.
    pub first_seq: Seq,
    /// The `RunResumed` of its newest pause or end that was followed by more, 0 if it never paused.
    pub last_resume: Seq,
    pub options: RunOptions,
}

/// How often in a row the process ended unexpectedly while a run was active, and how far its recovery had come then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryAttempt {
    pub crashes: u32,
    pub stage: RecoveryStage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryStage {
    /// Not taken up yet.
    #[default]
    Waiting,
    /// Its log is being read and folded.
    Folding,
    Active,
}

/// A sub-agent's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// The message it writes.
    pub message: MessageId,
    /// The message that delegated, and the call in it.
    pub parent: MessageId,
    pub call: ToolCallId,
    /// The message of its run.
    pub root: MessageId,
    pub chat: SessionId,
    pub task: String,
    pub status: FrameStatus,
    pub first_seq: Seq,
    /// Where it last went on after a pause, 0 if it never paused.
    pub last_resume: Seq,
    pub opened_at: Timestamp,
    /// The message as JSON, once it paused or ended.
    pub body: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStatus {
    Running,
    Parked,
    Finished,
    Cancelled,
    Failed,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SessionTarget {
    /// Made by this append; joining an existing one of that id is a conflict.
    New {
        workspace: WorkspaceId,
        id: SessionId,
    },
    Known(SessionKey),
}

/// One transaction of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    pub target: SessionTarget,
    pub at: Timestamp,
    pub rows: Vec<Row>,
    /// The folded message of each frame that these rows park or close.
    pub messages: Vec<UiMessage>,
    /// Where the session's mark goes; `None` leaves it where it is, 0 for a new session.
    pub high_water: Option<Seq>,
}

/// An agent that a workspace defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionRecord {
    pub workspace: WorkspaceId,
    pub id: AgentId,
    /// Counts the changes, from 1.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub fields: AgentFields,
}
