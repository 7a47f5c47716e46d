//! What the engine asks of a store. One trait per noun; a backend is a folder with one file per trait.

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{
    AgentId, ApprovalId, ArtifactId, ArtifactInfo, MessageId, MessageRef, Seq, SessionId, Timestamp,
    WorkspaceId, event::LogEntry, interaction::Interaction,
};

use crate::{
    access::{SignIns, Tokens},
    record::{
        Append, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord, MessageRecord, QueuedMessage,
        RecoveryAttempt, RecoveryStage, RunRecord, SessionKey, SessionPage, SessionRecord, Waiting,
    },
    usage::{UsageQuery, UsageSum},
};

pub trait Store:
    Sessions
    + Shelf
    + Messages
    + Runs
    + Recovery
    + Frames
    + Interactions
    + Queue
    + Log
    + Artifacts
    + Ledger
    + Tokens
    + SignIns
    + Definitions
    + Condition
    + Send
    + Sync
{
}

impl<T> Store for T where
    T: Sessions
        + Shelf
        + Messages
        + Runs
        + Recovery
        + Frames
        + Interactions
        + Queue
        + Log
        + Artifacts
        + Ledger
        + Tokens
        + SignIns
        + Definitions
        + Condition
        + Send
        + Sync
{
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else was first: the approval is settled, the session is gone.
    #[error("the record was changed by someone else")]
    Conflict,
    #[error("the database is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the database is damaged: {0}")]
    Corrupt(String),
}

/// How the store is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Why the newest commit failed; `None` when it succeeded.
    pub failing: Option<String>,
    /// What was found damaged since the start, one line each.
    pub damage: Vec<String>,
}

#[async_trait]
pub trait Condition {
    async fn health(&self) -> StoreHealth;
}

#[async_trait]
pub trait Sessions {
    async fn session(
        &self,
        workspace: &WorkspaceId,
        id: &SessionId,
    ) -> Result<Option<SessionRecord>, StoreError>;

    async fn session_by_key(&self, key: SessionKey) -> Result<Option<SessionRecord>, StoreError>;

    /// Newest first. `before` is the last row of the page before.
    async fn sessions(
        &self,
        workspace: &WorkspaceId,
        before: Option<(Timestamp, SessionKey)>,
        limit: u32,
    ) -> Result<SessionPage, StoreError>;

    /// A person names the session, or takes its title away.
    async fn rename_session(&self, key: SessionKey, title: Option<String>) -> Result<(), StoreError>;

    /// The session gets a title that was written for it; gives whether it did. `only_untitled`: not if it has more than
    /// its first words already.
    async fn title_session(
        &self,
        key: SessionKey,
        title: String,
        only_untitled: bool,
    ) -> Result<bool, StoreError>;

    /// Moves the active leaf to the newest leaf at or below this message.
    async fn choose_branch(&self, key: SessionKey, at: &MessageRef) -> Result<MessageRef, StoreError>;

    /// Everything of the session goes, for good.
    async fn delete_session(&self, key: SessionKey) -> Result<(), StoreError>;
}

/// How a person finds sessions again: pins, search, what waits, where it branches.
#[async_trait]
pub trait Shelf {
    async fn pin_session(&self, key: SessionKey, at: Option<Timestamp>) -> Result<(), StoreError>;

    /// Those of these sessions that are pinned.
    async fn pinned(&self, keys: &[SessionKey]) -> Result<Vec<SessionKey>, StoreError>;

    /// Every pinned session of a workspace, newest first.
    async fn pinned_sessions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError>;

    /// Sessions whose title or whose messages hold this text, newest first.
    async fn search_sessions(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError>;

    /// Questions nobody has answered yet, oldest first.
    async fn waiting(&self, workspace: &WorkspaceId, limit: u32) -> Result<Vec<Waiting>, StoreError>;

    /// The messages on the way to `leaf` that have siblings, oldest first.
    async fn branch_points(&self, key: SessionKey, leaf: &MessageRef)
    -> Result<Vec<BranchPoint>, StoreError>;
}

#[async_trait]
pub trait Messages {
    /// The newest revision.
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError>;

    /// The branch that ends at `leaf`, oldest first: at most `limit` messages, the ones nearest to the leaf.
    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError>;

    /// The branch that ends at `leaf`, oldest first, without what `stop` and the messages before it hold; all of
    /// it when `stop` is not on the branch.
    async fn branch_after(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        stop: Option<&MessageRef>,
    ) -> Result<Vec<MessageRecord>, StoreError>;
}

#[async_trait]
pub trait Runs {
    /// The run that wrote, or writes, this message or has a sub-agent that does.
    async fn run_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Option<RunRecord>, StoreError>;

    /// The newest run that answers this user message.
    async fn run_answering(
        &self,
        key: SessionKey,
        user: &MessageRef,
    ) -> Result<Option<RunRecord>, StoreError>;

    /// Runs that were on when the process ended; recovery goes through them.
    async fn running(&self) -> Result<Vec<(SessionKey, RunRecord)>, StoreError>;
}

/// What recovery must know of the processes before. A *unit* is what it takes up in a session: the active run, by its
/// message, or, when there is none, the queued message that begins.
#[async_trait]
pub trait Recovery {
    /// Once at the start, before anything is taken up. When the last process was not asked to end, every unit has one
    /// crash more; one that has `alone_from` already only if it was being taken up at the time.
    async fn begin_recovery(&self, alone_from: u32) -> Result<(), StoreError>;

    async fn recovery_attempt(
        &self,
        key: SessionKey,
        unit: &MessageId,
    ) -> Result<RecoveryAttempt, StoreError>;

    /// When this returns, it is known after a crash. Only for a unit that has crashes.
    async fn note_recovery(
        &self,
        key: SessionKey,
        unit: &MessageId,
        stage: RecoveryStage,
    ) -> Result<(), StoreError>;

    /// Its crashes no longer count.
    async fn forget_recovery(&self, key: SessionKey, unit: &MessageId) -> Result<(), StoreError>;

    /// The process was asked to end, and ends now.
    async fn note_clean_end(&self) -> Result<(), StoreError>;
}

#[async_trait]
pub trait Frames {
    /// The sub-agents of the runs that write these messages, in the order they began.
    async fn frames_of_runs(
        &self,
        key: SessionKey,
        roots: Vec<MessageId>,
    ) -> Result<Vec<FrameRecord>, StoreError>;

    /// The sub-agent that is followed under this chat id, and the session it belongs to.
    async fn frame_of_chat(
        &self,
        workspace: &WorkspaceId,
        chat: &SessionId,
    ) -> Result<Option<(SessionId, SessionKey, FrameRecord)>, StoreError>;
}

#[async_trait]
pub trait Interactions {
    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
    ) -> Result<Option<(SessionId, Interaction)>, StoreError>;

    /// All questions of the run that writes this message, those of its sub-agents included, in the order they were
    /// asked.
    async fn interactions_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Vec<Interaction>, StoreError>;
}

#[async_trait]
pub trait Queue {
    /// The messages that wait, the first first.
    async fn queued(&self, key: SessionKey) -> Result<Vec<QueuedMessage>, StoreError>;

    /// Sessions in which messages wait; recovery goes through them.
    async fn sessions_with_queue(&self) -> Result<Vec<SessionKey>, StoreError>;
}

/// Files that were made. What is known of a file comes from the log, in the event's own transaction.
#[async_trait]
pub trait Artifacts {
    /// When this returns, the file survives a crash. An event must follow that refers to it, or it is swept at
    /// the next start.
    async fn put_file(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
        bytes: Vec<u8>,
    ) -> Result<(), StoreError>;

    async fn open_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError>;

    /// Removes files that an earlier process left and no event refers to; gives how many.
    async fn sweep_files(&self) -> Result<usize, StoreError>;

    async fn artifact(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactInfo>, StoreError>;

    /// Newest first, of one session or of all. `before` is the last of the page before.
    async fn artifacts(
        &self,
        workspace: &WorkspaceId,
        session: Option<SessionKey>,
        before: Option<(Timestamp, ArtifactId)>,
        limit: u32,
    ) -> Result<ArtifactPage, StoreError>;
}

#[async_trait]
pub trait Log {
    /// Appends rows and applies what they mean to the tables, all or nothing. When this returns, it is on disk.
    async fn append(&self, append: Arc<Append>) -> Result<SessionKey, StoreError>;

    /// The same for what happened elsewhere and before: every event keeps its own time.
    async fn append_past(&self, append: Arc<Append>) -> Result<SessionKey, StoreError>;

    /// Events after `after`, in order; deltas of one segment that were stored together come as one. At most
    /// about `max_bytes` of them, at least one if there is any.
    async fn read_log(
        &self,
        key: SessionKey,
        after: Seq,
        max_bytes: usize,
    ) -> Result<Vec<LogEntry>, StoreError>;

    /// Whether an event was stored under this number; a crash leaves holes.
    async fn is_stored(&self, key: SessionKey, seq: Seq) -> Result<bool, StoreError>;

    /// The newest `data` of a kept `data-<name>` part of the session.
    async fn latest_data(&self, key: SessionKey, name: &str)
    -> Result<Option<serde_json::Value>, StoreError>;
}

#[async_trait]
pub trait Ledger {
    /// Sums over the calls that the query names, the group with the newest call first.
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageSum>, StoreError>;
}

/// Agents that workspaces define.
#[async_trait]
pub trait Definitions {
    /// All of a workspace, in the order of their names.
    async fn definitions(&self, workspace: &WorkspaceId) -> Result<Vec<DefinitionRecord>, StoreError>;

    /// Workspaces that have any.
    async fn workspaces_with_definitions(&self) -> Result<Vec<WorkspaceId>, StoreError>;

    async fn definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
    ) -> Result<Option<DefinitionRecord>, StoreError>;

    /// A conflict when the workspace has the id or the name already.
    async fn add_definition(&self, new: DefinitionRecord) -> Result<(), StoreError>;

    /// Replaces version `from`; a conflict when that is not the present one, or the name is taken.
    async fn change_definition(&self, new: DefinitionRecord, from: u32) -> Result<(), StoreError>;

    /// A conflict when there is no such version.
    async fn remove_definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
        version: u32,
    ) -> Result<(), StoreError>;
}
