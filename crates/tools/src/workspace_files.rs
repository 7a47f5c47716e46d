//! The files of the workspace, as a call reaches them: the file access layer, and the record of what the session has read
//! and changed.

use std::sync::Arc;

use async_trait::async_trait;
use files::{FileDomain, FileError, LogicalPath, NewContent, Snapshot};

use crate::{EditLimit, ToolError};

#[derive(Clone)]
pub struct WorkspaceFiles {
    pub domain: FileDomain,
    pub record: Arc<dyn FileRecord>,
    /// Whether a file, relative to the work directory, may be read without asking a person. Searches skip the others.
    pub may_read: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Which files the call may create or change.
    pub edit_limit: EditLimit,
}

/// What the session knows of files. A file that it has not read, or that changed since, must not be overwritten.
#[async_trait]
pub trait FileRecord: Send + Sync {
    /// The version of the file when the session last read or wrote it.
    async fn last_read(&self, path: &LogicalPath) -> Result<Option<String>, ToolError>;

    async fn was_read(&self, path: &LogicalPath, version: String);

    /// Remembers the files of the work directory as they are, before a command that may change them.
    async fn snapshot(&self) -> Result<Snapshot, ToolError>;

    /// Records what was changed since, by others than this record; returns how many files.
    async fn record_changes(&self, since: Snapshot) -> Result<usize, ToolError>;

    /// Changes all these files or none. The change is in the log before it starts and can be reverted.
    async fn change(&self, files: Vec<NewContent>) -> Result<(), ToolError>;
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        Self::Failed { code: error.code, message: error.message }
    }
}
