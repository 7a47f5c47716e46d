//! What a session read and changed, kept in memory: for unit tests of the file tools.

use std::{collections::HashMap, sync::Mutex};

use async_trait::async_trait;
use files::{ContentStore, FileDomain, LogicalPath, NewContent};
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
        let kept = tempfile::tempdir().unwrap();
        let contents = ContentStore::open(kept.path()).unwrap();
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

    async fn change(&self, changed: Vec<NewContent>) -> Result<(), ToolError> {
        let changes = files::stage(&self.domain, &self.contents, &changed)?;
        files::apply(&self.domain, &self.contents, &changes)?;
        for file in changed {
            // A folder may be where a deleted file was.
            let version = if file.after.is_some() { self.domain.version(&file.path)? } else { None };
            match version {
                Some(version) => self.versions.lock().unwrap().insert(file.path, version),
                None => self.versions.lock().unwrap().remove(&file.path),
            };
        }
        Ok(())
    }
}
