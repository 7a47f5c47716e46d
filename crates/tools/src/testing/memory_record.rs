//! What a session read and changed, kept in memory: for unit tests of the file tools.

use std::{collections::HashMap, sync::Mutex};

use async_trait::async_trait;
use files::{ContentStore, FileDomain, FileError, LogicalPath, NewContent, Snapshot};
use protocol::Durability;
use tempfile::TempDir;

use crate::{FileRecord, ToolError};

pub(crate) struct MemoryRecord {
    domain: FileDomain,
    contents: ContentStore,
    /// Removed with the record.
    _folders: Vec<TempDir>,
    versions: Mutex<HashMap<LogicalPath, String>>,
}

impl MemoryRecord {
    /// A record of changes in this domain. It removes its own folder, and `workdir`, when it is dropped.
    pub(crate) fn new(domain: FileDomain, workdir: Option<TempDir>) -> Self {
        Self::keeping(tempfile::tempdir().unwrap(), domain, workdir, Durability::Process)
    }

    /// As [`MemoryRecord::new`]; contents are kept in this folder.
    pub(crate) fn keeping(
        kept: TempDir,
        domain: FileDomain,
        workdir: Option<TempDir>,
        durability: Durability,
    ) -> Self {
        let contents = ContentStore::open(kept.path(), durability).unwrap();
        let _folders = workdir.into_iter().chain([kept]).collect();
        Self { domain, contents, _folders, versions: Mutex::default() }
    }
}

#[async_trait]
impl FileRecord for MemoryRecord {
    async fn last_read(&self, path: &LogicalPath) -> Result<Option<String>, ToolError> {
        Ok(self.versions.lock().unwrap().get(path).cloned())
    }

    async fn was_read(&self, path: &LogicalPath, version: String) {
        self.versions.lock().unwrap().insert(path.clone(), version);
    }

    async fn snapshot(&self) -> Result<Snapshot, ToolError> {
        Err(ToolError::Report("no command runs here".to_owned()))
    }

    async fn record_changes(&self, _: Snapshot) -> Result<usize, ToolError> {
        Ok(0)
    }

    async fn change(&self, changed: Vec<NewContent>) -> Result<(), ToolError> {
        let (domain, contents) = (self.domain.clone(), self.contents.clone());
        let change = move || {
            let staged = files::stage(&domain, &contents, changed)?;
            staged.apply(&domain, &contents)?;
            Ok::<_, FileError>(staged.into_changes())
        };
        let changes = tokio::task::spawn_blocking(change).await.unwrap()?;
        for change in changes {
            let path = LogicalPath::parse(&change.path).unwrap();
            // The version of a file up to this size is its content.
            let version = match change.after {
                Some(after) if after.bytes <= 8 << 20 => Some(after.content),
                Some(_) => self.domain.version(&path)?,
                None => None,
            };
            match version {
                Some(version) => self.versions.lock().unwrap().insert(path, version),
                None => self.versions.lock().unwrap().remove(&path),
            };
        }
        Ok(())
    }
}
