//! The interface between the engine and a store: one trait per noun, together [`Store`].
//!
//! A backend is a folder with one file per trait (`sqlite/`). All backends pass the same tests (`tests/conformance.rs`).
//! What a backend does to be fast stays behind these traits: callers need to know nothing about it.

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{
    AgentId, ApprovalId, ArtifactId, ArtifactInfo, MessageId, MessageRef, RuleId, Seq, SessionId,
    WorkspaceId, event::LogEntry, interaction::Interaction,
};

use crate::{
    access::{SignIns, Tokens},
    file_changes::FileChanges,
    record::{
        ActiveRun, Append, ArtifactCursor, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord,
        MessageRecord, PendingInteraction, QueuedMessage, RecoveryAttempt, RecoveryStage, RuleRecord,
        RunRecord, SessionCursor, SessionInteraction, SessionKey, SessionPage, SessionRecord, SubAgentChat,
    },
    usage::{UsageQuery, UsageSum},
};

/// Everything that the engine stores.
pub trait Store:
    Sessions
    + SessionIndex
    + Messages
    + Runs
    + Recovery
    + Frames
    + Interactions
    + Queue
    + Log
    + Artifacts
    + FileChanges
    + UsageReports
    + Tokens
    + SignIns
    + Definitions
    + Rules
    + Health
    + Send
    + Sync
{
}

impl<T> Store for T where
    T: Sessions
        + SessionIndex
        + Messages
        + Runs
        + Recovery
        + Frames
        + Interactions
        + Queue
        + Log
        + Artifacts
        + FileChanges
        + UsageReports
        + Tokens
        + SignIns
        + Definitions
        + Rules
        + Health
        + Send
        + Sync
{
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The request does not fit what is stored: the approval was answered, the id is taken, the session was deleted.
    #[error("the record was changed by someone else")]
    Conflict,
    #[error("the database is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the database is damaged: {0}")]
    Corrupt(String),
}

/// Whether the store works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Why the newest commit failed; `None` when it succeeded.
    pub failing: Option<String>,
    /// Damage that was found since the start, one line each.
    pub damage: Vec<String>,
}

#[async_trait]
pub trait Health {
    async fn health(&self) -> StoreHealth;
}

#[async_trait]
pub trait Sessions {
    /// Finds a session by the id that its client chose.
    async fn session(
        &self,
        workspace: &WorkspaceId,
        id: &SessionId,
    ) -> Result<Option<SessionRecord>, StoreError>;

    async fn session_by_key(&self, key: SessionKey) -> Result<Option<SessionRecord>, StoreError>;

    /// Lists the sessions of a workspace, newest first. `before` is the last session of the previous page.
    async fn sessions(
        &self,
        workspace: &WorkspaceId,
        before: Option<SessionCursor>,
        limit: u32,
    ) -> Result<SessionPage, StoreError>;

    /// Returns the newest leaf at or below this message. A conflict when there is no such message.
    async fn newest_leaf(&self, key: SessionKey, at: &MessageRef) -> Result<MessageRef, StoreError>;

    /// Deletes a session with everything that belongs to it.
    async fn delete_session(&self, key: SessionKey) -> Result<(), StoreError>;
}

/// How a person finds sessions again: pins, search, unanswered questions, branches.
#[async_trait]
pub trait SessionIndex {
    /// Lists sessions of a workspace, newest first, leaving out the first `skip`.
    async fn sessions_from(
        &self,
        workspace: &WorkspaceId,
        skip: u64,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError>;

    async fn session_count(&self, workspace: &WorkspaceId) -> Result<u64, StoreError>;

    /// Returns which of these sessions are pinned.
    async fn pinned(&self, keys: &[SessionKey]) -> Result<Vec<SessionKey>, StoreError>;

    /// Lists the pinned sessions of a workspace, the last pinned first.
    async fn pinned_sessions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError>;

    /// Finds sessions whose title or messages contain this text, newest first. A backend may leave out the text of old
    /// sessions and of long histories that have not been read since they were planted.
    async fn search_sessions(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError>;

    /// Lists questions that nobody has answered, oldest first.
    async fn pending_interactions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<PendingInteraction>, StoreError>;

    /// Lists the messages of the branch that ends at `leaf` that have siblings, oldest first.
    async fn branch_points(&self, key: SessionKey, leaf: &MessageRef)
    -> Result<Vec<BranchPoint>, StoreError>;
}

#[async_trait]
pub trait Messages {
    /// Returns the newest revision of a message.
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError>;

    /// Returns the last `limit` messages of the branch that ends at `leaf`, oldest first.
    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError>;

    /// Returns the messages after `stop` of the branch that ends at `leaf`, oldest first; the whole branch when `stop` is
    /// not on it. A caller that has read the branch before reads only what is new.
    async fn branch_after(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        stop: Option<&MessageRef>,
    ) -> Result<Vec<MessageRecord>, StoreError>;
}

#[async_trait]
pub trait Runs {
    /// Finds the run that writes this message, or whose sub-agent does.
    async fn run_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Option<RunRecord>, StoreError>;

    /// Finds the newest run that answers this user message.
    async fn run_answering(
        &self,
        key: SessionKey,
        user: &MessageRef,
    ) -> Result<Option<RunRecord>, StoreError>;

    /// Finds the newest run that began with or before this event.
    async fn run_at(&self, key: SessionKey, seq: Seq) -> Result<Option<RunRecord>, StoreError>;

    /// Lists the active runs. At the start these are the runs that the last process left, which recovery resumes.
    async fn active_runs(&self) -> Result<Vec<ActiveRun>, StoreError>;
}

/// What recovery must know about crashes of earlier processes. A *unit* is what recovery resumes in a session: the active
/// run, named by its message, or, when there is none, the queued message that is next.
#[async_trait]
pub trait Recovery {
    /// Called once at the start, before anything is resumed. If the last process did not end cleanly, counts one more crash
    /// for every unit. A unit that has `alone_from` crashes already is counted only if it was being recovered at the time,
    /// since such units are recovered one at a time.
    async fn begin_recovery(&self, alone_from: u32) -> Result<(), StoreError>;

    async fn recovery_attempt(
        &self,
        key: SessionKey,
        unit: &MessageId,
    ) -> Result<RecoveryAttempt, StoreError>;

    /// Stores how far the recovery of a unit that has crashes has got, durably.
    async fn note_recovery(
        &self,
        key: SessionKey,
        unit: &MessageId,
        stage: RecoveryStage,
    ) -> Result<(), StoreError>;

    /// Resets the crashes of a unit to 0.
    async fn forget_recovery(&self, key: SessionKey, unit: &MessageId) -> Result<(), StoreError>;

    /// Stores that the process was asked to end, so that the next start counts no crash.
    async fn note_clean_end(&self) -> Result<(), StoreError>;
}

/// Frames of sub-agents. The frame of a main agent is its run.
#[async_trait]
pub trait Frames {
    /// Lists the sub-agents of the runs that write these messages, in the order in which they were started.
    async fn frames_of_runs(
        &self,
        key: SessionKey,
        roots: Vec<MessageId>,
    ) -> Result<Vec<FrameRecord>, StoreError>;

    /// Finds the sub-agent that clients follow under this chat id, and its session.
    async fn frame_of_chat(
        &self,
        workspace: &WorkspaceId,
        chat: &SessionId,
    ) -> Result<Option<SubAgentChat>, StoreError>;
}

#[async_trait]
pub trait Interactions {
    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
    ) -> Result<Option<SessionInteraction>, StoreError>;

    /// Lists all questions of the run that writes this message and of its sub-agents, in the order in which they were
    /// asked.
    async fn interactions_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Vec<Interaction>, StoreError>;
}

#[async_trait]
pub trait Queue {
    /// Lists the queued messages of a session in queue order.
    async fn queued(&self, key: SessionKey) -> Result<Vec<QueuedMessage>, StoreError>;

    /// Lists the sessions that have queued messages, for recovery.
    async fn sessions_with_queue(&self) -> Result<Vec<SessionKey>, StoreError>;
}

/// Artifacts: files that agents made. Their names and types are derived from the log; the bytes are stored beside it.
#[async_trait]
pub trait Artifacts {
    /// Writes a file. When this returns, the file survives a crash. An event that refers to it must follow, or the file is
    /// swept at the next start.
    async fn put_file(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
        bytes: Vec<u8>,
    ) -> Result<(), StoreError>;

    /// Begins a file that the caller writes piece by piece. It must be finished before an event refers to it.
    async fn begin_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError>;

    /// Finishes a file that was begun. When this returns, the file survives a crash.
    async fn finish_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<(), StoreError>;

    /// Removes a file that was begun and is not wanted.
    async fn discard_file(&self, workspace: &WorkspaceId, id: &ArtifactId);

    async fn open_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError>;

    /// Removes files of earlier processes that no event refers to; returns how many.
    async fn sweep_files(&self) -> Result<usize, StoreError>;

    async fn artifact(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactInfo>, StoreError>;

    /// Lists the artifacts of one session or of all, newest first. `before` is the last artifact of the previous page.
    async fn artifacts(
        &self,
        workspace: &WorkspaceId,
        session: Option<SessionKey>,
        before: Option<ArtifactCursor>,
        limit: u32,
    ) -> Result<ArtifactPage, StoreError>;
}

/// The log of every session. An append is the only way to write to the tables that are derived from it.
#[async_trait]
pub trait Log {
    /// Appends rows to the log of a session and applies them to the tables, all or nothing; returns the key of the session.
    /// When this returns, boundary events are stored as durably as the store was opened for; deltas survive the end of the
    /// process. The append is behind an `Arc` so that a caller can keep it for a retry without copying it.
    async fn append(&self, append: Arc<Append>) -> Result<SessionKey, StoreError>;

    /// Like [`Self::append`], for events of the past: every event keeps its own time instead of the time of the append.
    /// Import needs this.
    async fn append_past(&self, append: Arc<Append>) -> Result<SessionKey, StoreError>;

    /// Reads events with numbers above `after`, in order; consecutive deltas that were stored together are returned as
    /// one. Returns at most about `max_bytes` of them, but at least one if there is any.
    async fn read_log(
        &self,
        key: SessionKey,
        after: Seq,
        max_bytes: usize,
    ) -> Result<Vec<LogEntry>, StoreError>;

    /// Whether an event with this number is stored. After a crash some numbers are missing.
    async fn is_stored(&self, key: SessionKey, seq: Seq) -> Result<bool, StoreError>;

    /// Returns the newest `data` of a kept `data-<name>` part of the session.
    async fn latest_data(&self, key: SessionKey, name: &str)
    -> Result<Option<serde_json::Value>, StoreError>;
}

#[async_trait]
pub trait UsageReports {
    /// Adds up the model calls that the query selects; returns one sum per group, the group with the newest call first.
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageSum>, StoreError>;
}

/// Agents that workspaces define.
#[async_trait]
pub trait Definitions {
    /// Lists the definitions of a workspace by name.
    async fn definitions(&self, workspace: &WorkspaceId) -> Result<Vec<DefinitionRecord>, StoreError>;

    /// Lists the workspaces that have definitions.
    async fn workspaces_with_definitions(&self) -> Result<Vec<WorkspaceId>, StoreError>;

    async fn definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
    ) -> Result<Option<DefinitionRecord>, StoreError>;

    /// Adds a definition. A conflict when the workspace has one with the same id or name.
    async fn add_definition(&self, new: DefinitionRecord) -> Result<(), StoreError>;

    /// Replaces version `from`. A conflict when another version is stored or the name is taken.
    async fn change_definition(&self, new: DefinitionRecord, from: u32) -> Result<(), StoreError>;

    /// Removes a definition. A conflict when there is no such version.
    async fn remove_definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
        version: u32,
    ) -> Result<(), StoreError>;
}

/// Rules of workspaces about which calls run. Those of a session are in its record.
#[async_trait]
pub trait Rules {
    /// Lists the rules of a workspace, the oldest first.
    async fn rules(&self, workspace: &WorkspaceId) -> Result<Vec<RuleRecord>, StoreError>;

    /// Adds a rule; returns `false` when the workspace has [`MAX_WORKSPACE_RULES`](crate::MAX_WORKSPACE_RULES). A conflict
    /// when the workspace has a rule with the same id.
    async fn add_rule(&self, new: RuleRecord) -> Result<bool, StoreError>;

    /// Removes a rule; returns whether the workspace had it.
    async fn remove_rule(&self, workspace: &WorkspaceId, id: &RuleId) -> Result<bool, StoreError>;
}
