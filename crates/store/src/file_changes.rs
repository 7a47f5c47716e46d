//! Changes that tools made to the files of a workspace: the trait of a store, and what it returns.

use async_trait::async_trait;
use protocol::{MessageId, SessionId, Timestamp, WorkspaceId, file_change::ChangeSet};

use crate::{SessionKey, StoreError};

/// A change set, and the run that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRecord {
    pub set: ChangeSet,
    /// The main agent's message of the run.
    pub root: MessageId,
}

/// A change set that was begun and not finished, and its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedChange {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    pub key: SessionKey,
    pub set: ChangeSet,
}

/// A content that change sets refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentUse {
    /// SHA-256, in hexadecimal.
    pub content: String,
    pub bytes: u64,
    /// The time of the newest change set that refers to it.
    pub last_used: Timestamp,
    /// Whether a change set that is not finished refers to it.
    pub is_needed: bool,
}

/// Change sets of all sessions. Change sets that failed refer to no content.
#[async_trait]
pub trait FileChanges {
    /// Lists the change sets of a session, oldest first.
    async fn file_changes(&self, key: SessionKey) -> Result<Vec<ChangeRecord>, StoreError>;

    /// Returns the version of a file that the session read or wrote last. `path` is the logical path.
    async fn last_read(&self, key: SessionKey, path: &str) -> Result<Option<String>, StoreError>;

    /// Lists the change sets of all sessions that were begun and not finished, oldest first, for recovery.
    async fn unfinished_changes(&self) -> Result<Vec<UnfinishedChange>, StoreError>;

    /// Lists the contents that the change sets of a session refer to, each once.
    async fn contents_of_session(&self, key: SessionKey) -> Result<Vec<String>, StoreError>;

    /// Lists the contents that the change sets of a workspace refer to, each once, the longest unused first.
    async fn contents_in_use(&self, workspace: &WorkspaceId) -> Result<Vec<ContentUse>, StoreError>;

    /// Returns those of these contents that no change set of the workspace refers to.
    async fn unused_contents(
        &self,
        workspace: &WorkspaceId,
        contents: Vec<String>,
    ) -> Result<Vec<String>, StoreError>;
}
