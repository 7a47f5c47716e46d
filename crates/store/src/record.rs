//! Records: what callers read from the tables and append to the log.

use protocol::{
    AgentId, ArtifactId, ArtifactInfo, MessageId, MessageRef, PrincipalId, Question, Rule, RunEnd, RunId,
    RunOptions, Seq, SessionId, Timestamp, ToolCallId, TurnFacts, UiMessage, WorkspaceId,
    interaction::Interaction, wire::agents::AgentFields,
};

use serde::{Deserialize, Serialize};

use crate::row::Row;

/// The number of a session inside the store. Clients never see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub i64);

#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    pub key: SessionKey,
    pub workspace: WorkspaceId,
    pub id: SessionId,
    pub title: Option<String>,
    /// Whether a person or a model wrote the title. If not, it is the first words of the session.
    pub is_titled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub message_count: u64,
    pub active_leaf: Option<MessageRef>,
    /// No event was ever sent with a higher number; see [`Append::high_water`].
    pub high_water: Seq,
    pub last_run: Option<LastRun>,
    /// How many messages are queued behind the active run.
    pub queued: u32,
    pub preface: Option<PrefaceRecord>,
    /// The model that the newest run asked for and its provider; later runs of the session use it, too.
    pub chat_model_id: Option<String>,
    pub chat_model_source: Option<String>,
    /// The rules of the session itself: what a person allowed for the rest of it, and the rules they wrote for it.
    pub rules: Vec<Rule>,
    /// The main agent that it was given.
    pub agent: Option<String>,
}

/// The newest run of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastRun {
    /// The message that the run writes.
    pub message: MessageId,
    pub status: RunStatus,
}

impl SessionRecord {
    /// The cursor of a page of sessions that starts after this one.
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated_at: self.updated_at, key: self.key }
    }
}

/// The part of the system prompt that belongs to the session, as it was first sent to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefaceRecord {
    pub agent: String,
    pub text: String,
}

/// The last session of a page; the next page starts after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionCursor {
    pub updated_at: Timestamp,
    pub key: SessionKey,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionPage {
    pub sessions: Vec<SessionRecord>,
    /// Whether more sessions follow.
    pub more: bool,
}

/// A question, and the session it was asked in.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInteraction {
    pub session: SessionId,
    pub interaction: Interaction,
    /// What the person is told. `None` for questions of older versions.
    pub question: Option<Question>,
}

/// A question that nobody has answered, and the session it was asked in.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingInteraction {
    pub session: SessionId,
    pub title: Option<String>,
    pub interaction: Interaction,
    /// What the person is told. `None` for questions of older versions.
    pub question: Option<Question>,
}

/// A message of a branch that has siblings: other answers, or other versions of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    /// Index of the choice that is on the branch.
    pub at: usize,
    /// In the order in which they were created.
    pub choices: Vec<MessageRef>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    pub reference: MessageRef,
    pub parent: Option<MessageRef>,
    pub created_at: Timestamp,
    /// The message as JSON. Clients are sent this text as it is, so it is not parsed here.
    pub body: String,
    /// Facts that are sent to the model before the text of the message.
    pub facts: Option<TurnFacts>,
}

impl MessageRecord {
    pub fn message(&self) -> Result<UiMessage, crate::StoreError> {
        serde_json::from_str(&self.body).map_err(|error| crate::StoreError::Corrupt(error.to_string()))
    }
}

/// A user's message that is queued behind the active run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedMessage {
    pub message: UiMessage,
    pub edits: Option<MessageId>,
    pub after: Option<MessageId>,
    pub options: RunOptions,
}

impl QueuedMessage {
    /// The id that identifies it in the queue: its own, or that of the message it edits.
    pub fn id(&self) -> &MessageId {
        self.edits.as_ref().unwrap_or(&self.message.id)
    }
}

/// The last artifact of a page; the next page starts after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactCursor {
    pub created_at: Timestamp,
    pub id: ArtifactId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactPage {
    pub artifacts: Vec<ArtifactInfo>,
    /// Whether more artifacts follow.
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    Running,
    /// A person must answer first; the run is not in memory.
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
    /// The number of its first event.
    pub first_seq: Seq,
    /// The number of the newest `RunResumed` that followed a pause or an end; 0 if there is none.
    pub last_resume: Seq,
    pub options: RunOptions,
}

/// An active run, and its session.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveRun {
    pub session: SessionKey,
    pub run: RunRecord,
}

/// How often in a row the process ended unexpectedly while a run was active, and how far its recovery had got the last
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryAttempt {
    pub crashes: u32,
    pub stage: RecoveryStage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryStage {
    /// Its recovery has not started.
    #[default]
    NotStarted,
    /// Its log is being read and folded into a message.
    Folding,
    /// The run was resumed.
    Active,
}

/// The frame of a sub-agent: the agent at work on one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// The message it writes.
    pub message: MessageId,
    /// The message that delegated the work, and the call in it.
    pub parent: MessageId,
    pub call: ToolCallId,
    /// The message of its run.
    pub root: MessageId,
    pub chat: SessionId,
    pub task: String,
    pub status: FrameStatus,
    pub first_seq: Seq,
    /// The number of the event that last resumed it after a pause; 0 if it never paused.
    pub last_resume: Seq,
    pub opened_at: Timestamp,
    /// The message as JSON, once the frame was parked or closed.
    pub body: Option<String>,
}

/// The chat under which clients follow a sub-agent: the session it belongs to, and its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgentChat {
    pub session: SessionId,
    pub key: SessionKey,
    pub frame: FrameRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStatus {
    Running,
    Parked,
    Finished,
    Cancelled,
    Failed,
}

/// The session that an append belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionTarget {
    /// Created by this append; a conflict when the workspace has a session with this id.
    New {
        workspace: WorkspaceId,
        id: SessionId,
    },
    Known(SessionKey),
}

/// One transaction of a session: rows for its log, and what the store cannot derive from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    pub target: SessionTarget,
    pub at: Timestamp,
    pub rows: Vec<Row>,
    /// The folded message of every frame that these rows park or close. The caller has it in memory; the store would have
    /// to read the whole frame from the log to fold it again.
    pub messages: Vec<UiMessage>,
    /// The new high-water mark of the session: the caller may send events up to this number before they are stored, and
    /// after a restart numbering continues above it, so that no number is used twice. `None` keeps the mark (0 in a new
    /// session); callers reserve many numbers at a time and set it rarely.
    pub high_water: Option<Seq>,
}

/// An agent that a workspace defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionRecord {
    pub workspace: WorkspaceId,
    pub id: AgentId,
    /// Starts at 1 and increases with every change.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub fields: AgentFields,
}

/// The most rules that a workspace has.
pub const MAX_WORKSPACE_RULES: u32 = 500;

/// A rule of a workspace about which calls run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRecord {
    pub workspace: WorkspaceId,
    pub rule: Rule,
    pub created_at: Timestamp,
    /// Who added it. `None` when it was added with the answer to a question.
    pub principal: Option<PrincipalId>,
}
