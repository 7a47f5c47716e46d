//! Changes files as one change set that is recorded before it is made.
//!
//! The contents before and after are kept, `FilesChanging` is stored, the files are changed, `FilesChanged` is stored. A
//! crash in between leaves a change set that the next start finishes (`recovery.rs`).

use std::sync::Arc;

use ::files::{FileError, NewContent, Staged};
use async_trait::async_trait;
use protocol::{ChangeId, FileChange, MessageId, SessionEvent, ToolCallId};
use store::{Store, StoreError};

use super::{blocking, kept_contents::keep_within_limit, workspaces::Workspace};

/// Appends events to the log of a session.
#[async_trait]
pub(crate) trait EventSink: Send + Sync {
    /// Appends events, all or none. When this returns, boundary events are stored.
    async fn append(&self, events: Vec<SessionEvent>) -> Result<(), StoreError>;
}

/// Who changes files.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) message: MessageId,
    /// `None`: a person reverts changes.
    pub(crate) call: Option<ToolCallId>,
    pub(crate) tool: String,
    /// The agents from the root to the one that changes the files.
    pub(crate) agent: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What to do with the files.
pub(crate) enum Wanted {
    /// Contents that are not kept yet.
    New(Vec<NewContent>),
    /// Changes whose contents are kept.
    Kept(Vec<FileChange>),
}

/// Changes whose contents are kept.
enum Planned {
    Staged(Staged),
    Kept(Vec<FileChange>),
}

impl Planned {
    fn changes(&self) -> &[FileChange] {
        match self {
            Self::Staged(staged) => staged.changes(),
            Self::Kept(changes) => changes,
        }
    }

    fn apply(&self, Workspace { domain, contents, .. }: &Workspace) -> Result<(), FileError> {
        match self {
            Self::Staged(staged) => staged.apply(domain, contents),
            Self::Kept(changes) => ::files::apply(domain, contents, changes),
        }
    }
}

/// Changes files; returns the changes. Nothing is changed when `is_cancelled` returns `true` after the check.
pub(crate) async fn change_files(
    workspace: &Arc<Workspace>,
    store: &dyn Store,
    sink: &dyn EventSink,
    id: ChangeId,
    origin: Origin,
    wanted: Wanted,
    is_cancelled: impl Fn() -> bool,
) -> Result<Vec<FileChange>, ChangeError> {
    let _changing = workspace.lock().await;
    let planned = match wanted {
        Wanted::New(files) => {
            let on_thread = Arc::clone(workspace);
            let stage = move || ::files::stage(&on_thread.domain, &on_thread.contents, files);
            Planned::Staged(blocking(stage).await?)
        }
        Wanted::Kept(changes) => Planned::Kept(changes),
    };
    let changes = planned.changes().to_vec();
    if changes.is_empty() || is_cancelled() {
        return Ok(Vec::new());
    }
    let Origin { message, call, tool, agent } = origin;
    let files = changes.clone();
    let change = id.clone();
    let begun = SessionEvent::FilesChanging { message: message.clone(), change, call, tool, agent, files };
    sink.append(vec![begun]).await?;
    let on_thread = Arc::clone(workspace);
    let applied = blocking(move || planned.apply(&on_thread)).await;
    let error = applied.as_ref().err().map(FileError::to_string);
    let finished = sink.append(vec![SessionEvent::FilesChanged { message, change: id, error }]).await;
    if let Err(error) = finished {
        tracing::error!(%error, "files were changed, but that could not be stored; the next start does it");
    }
    applied?;
    workspace.note_changes(&changes);
    keep_within_limit(workspace, store, &changes).await;
    Ok(changes)
}
