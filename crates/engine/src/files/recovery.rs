//! Finishes change sets that a crash interrupted, before runs are resumed.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::SessionEvent;
use store::{Store, StoreError, UnfinishedChange};

use super::{blocking, workspaces::Workspaces};
use crate::EngineError;

/// Appends an event to the log of a session that has no active run.
#[async_trait]
pub(crate) trait IdleLog: Send + Sync {
    async fn append(&self, change: &UnfinishedChange, event: SessionEvent) -> Result<(), EngineError>;
}

/// Finishes all change sets that were begun; returns how many. One that cannot be finished now is logged and stays for the
/// next start.
pub(crate) async fn finish_changes(
    workspaces: &Workspaces,
    store: &dyn Store,
    log: &dyn IdleLog,
) -> Result<usize, StoreError> {
    let mut finished = 0;
    for change in store.unfinished_changes().await? {
        match finish(workspaces, log, &change).await {
            Ok(()) => finished += 1,
            Err(error) => {
                let (chat, id) = (&change.session, &change.set.id);
                tracing::error!(%error, %chat, change = %id, "a change to files that a crash interrupted could not be finished");
            }
        }
    }
    Ok(finished)
}

async fn finish(
    workspaces: &Workspaces,
    log: &dyn IdleLog,
    change: &UnfinishedChange,
) -> Result<(), EngineError> {
    let workspace = workspaces.get(&change.workspace).await?;
    let _changing = workspace.lock().await;
    let (on_thread, files) = (Arc::clone(&workspace), change.set.files.clone());
    let completed =
        blocking(move || ::files::complete(&on_thread.domain, &on_thread.contents, &files)).await?;
    for path in &completed.left {
        tracing::warn!(%path, "a file was changed by somebody else while the server was down; it was left as it is");
    }
    let (message, id) = (change.set.message_id.clone(), change.set.id.clone());
    log.append(change, SessionEvent::FilesChanged { message, change: id, error: None }).await
}
