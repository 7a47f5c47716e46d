//! The files of one tool call: which versions its session has read, and the changes that the call makes.

use std::{collections::HashMap, sync::Arc};

use ::files::{LogicalPath, NewContent, Snapshot};
use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::{IdSource, MessageId, SessionEvent, ToolCallId};
use store::{SessionKey, Store};
use tokio::sync::RwLock;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tools::{FileRecord, ToolError};

use super::{
    blocking,
    change::{ChangeError, EventSink, Origin, Wanted, change_files},
    command_changes,
    workspaces::Workspace,
};

/// How many versions are remembered until they are stored.
const MOST_REMEMBERED: usize = 4096;
/// The version of a larger file is not the hash of its content, so it is known only after the file was written.
const HASHED_BYTES: u64 = 8 << 20;

/// The files of a run: its agents share this.
pub(crate) struct RunFiles {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// Absent until the session is stored.
    pub(crate) session: Option<SessionKey>,
    /// Changes go on here when their call is dropped.
    pub(crate) tasks: TaskTracker,
    /// Versions that were read and may not be stored yet, by logical path.
    pub(crate) fresh: Mutex<HashMap<String, String>>,
    /// Held for reading by every change set until it is finished.
    changing: Arc<RwLock<()>>,
}

/// The files of one call.
#[derive(Clone)]
pub(crate) struct CallFiles {
    pub(crate) run: Arc<RunFiles>,
    /// Writes into the agent's frame.
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) message: MessageId,
    pub(crate) call: ToolCallId,
    pub(crate) tool: String,
    /// The agents from the root to the one that calls.
    pub(crate) agent: Vec<String>,
    pub(crate) cancel: CancellationToken,
}

impl RunFiles {
    pub(crate) fn new(
        workspace: Arc<Workspace>,
        store: Arc<dyn Store>,
        ids: Arc<dyn IdSource>,
        session: Option<SessionKey>,
        tasks: TaskTracker,
    ) -> Self {
        Self { workspace, store, ids, session, tasks, fresh: Mutex::default(), changing: Arc::default() }
    }

    /// Waits until every change set that has begun is finished. A run must not end before: what it appended afterwards could
    /// get the number of an event of the next run.
    pub(crate) async fn settled(&self) {
        drop(self.changing.write().await);
    }

    fn remember(&self, path: String, version: String) {
        let mut fresh = self.fresh.lock();
        // By now the oldest are stored.
        if fresh.len() >= MOST_REMEMBERED {
            fresh.clear();
        }
        fresh.insert(path, version);
    }
}

impl CallFiles {
    async fn note_read(&self, path: String, version: String) {
        let (message, call) = (self.message.clone(), self.call.clone());
        self.run.remember(path.clone(), version.clone());
        let read = SessionEvent::FileRead { message, call, path, version };
        if let Err(error) = self.sink.append(vec![read]).await {
            tracing::debug!(%error, "a read of a file was not stored; the agent must read it again after a restart");
        }
    }

    fn origin(&self) -> Origin {
        Origin {
            message: self.message.clone(),
            call: Some(self.call.clone()),
            tool: self.tool.clone(),
            agent: self.agent.clone(),
        }
    }

    async fn change_now(self, files: Vec<NewContent>) -> Result<(), ToolError> {
        let RunFiles { workspace, store, ids, fresh, .. } = &*self.run;
        let origin = self.origin();
        let is_cancelled = || self.cancel.is_cancelled();
        let wanted = Wanted::New(files);
        let changed =
            change_files(workspace, &**store, &*self.sink, ids.change(), origin, wanted, is_cancelled).await;
        // The table has what was read before and what was written.
        fresh.lock().clear();
        let changed = changed?;
        if changed.is_empty() && self.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        for file in changed {
            if file.after.is_some_and(|state| state.bytes > HASHED_BYTES) {
                self.note_large(file.path).await;
            }
        }
        Ok(())
    }

    /// Notes the version of a large file that the call wrote.
    async fn note_large(&self, written: String) {
        let workspace = Arc::clone(&self.run.workspace);
        let path = written.clone();
        let version = blocking(move || workspace.domain.version(&workspace.domain.resolve(&path)?)).await;
        if let Ok(Some(version)) = version {
            self.note_read(written, version).await;
        }
    }
}

impl From<ChangeError> for ToolError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::File(error) => error.into(),
            ChangeError::Store(error) => Self::Fatal(Box::new(error)),
        }
    }
}

#[async_trait]
impl FileRecord for CallFiles {
    async fn last_read(&self, path: &LogicalPath) -> Result<Option<String>, ToolError> {
        let path = path.to_string();
        if let Some(version) = self.run.fresh.lock().get(&path) {
            return Ok(Some(version.clone()));
        }
        let Some(session) = self.run.session else { return Ok(None) };
        let read = self.run.store.last_read(session, &path).await;
        read.map_err(|error| ToolError::Fatal(Box::new(error)))
    }

    async fn was_read(&self, path: &LogicalPath, version: String) {
        self.note_read(path.to_string(), version).await;
    }

    async fn snapshot(&self) -> Result<Snapshot, ToolError> {
        command_changes::remember(&self.run.workspace).await.map_err(Into::into)
    }

    async fn record_changes(&self, since: Snapshot) -> Result<usize, ToolError> {
        let unfinished = Arc::clone(&self.run.changing).read_owned().await;
        let work = self.clone();
        // A task of its own: what a command has changed is recorded, also when its call is dropped.
        let recording = self.run.tasks.spawn(async move {
            let RunFiles { workspace, store, ids, fresh, .. } = &*work.run;
            let origin = work.origin();
            let recorded =
                command_changes::record(workspace, &**store, &*work.sink, ids.change(), origin, since).await;
            fresh.lock().clear();
            drop(unfinished);
            recorded
        });
        Ok(recording.await.map_err(|error| ToolError::Fatal(Box::new(error)))??)
    }

    async fn change(&self, files: Vec<NewContent>) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let unfinished = Arc::clone(&self.run.changing).read_owned().await;
        // When the call is dropped, a change set that has not begun never does.
        let cancel = self.cancel.child_token();
        let _dropped = cancel.clone().drop_guard();
        let work = Self { cancel, ..self.clone() };
        // A task of its own: one that has begun is finished all the same.
        let changing = self.run.tasks.spawn(async move {
            let result = work.change_now(files).await;
            drop(unfinished);
            result
        });
        changing.await.map_err(|error| ToolError::Fatal(Box::new(error)))?
    }
}

#[cfg(test)]
#[path = "call_files_tests.rs"]
mod tests;
