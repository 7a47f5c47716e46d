//! Records what a command changed in the work directory, so that a person sees it and can revert it.
//!
//! The files are remembered before the command starts and compared when it has ended. A crash in between loses the record,
//! not the files.

use std::{sync::Arc, time::Duration, time::Instant};

use ::files::{Snapshot, SnapshotLimits, Watch};
use protocol::{ChangeId, SessionEvent};
use store::Store;

use super::{
    blocking,
    change::{ChangeError, EventSink, Origin},
    kept_contents::keep_within_limit,
    workspaces::Workspace,
};

/// A work directory that takes longer to look at is not looked at completely.
const LONGEST_LOOK: Duration = Duration::from_secs(20);

/// Remembers the files as they are.
pub(crate) async fn remember(workspace: &Arc<Workspace>) -> Result<Snapshot, ChangeError> {
    let workspace = Arc::clone(workspace);
    Ok(blocking(move || {
        let watch = Watch { deadline: Some(Instant::now() + LONGEST_LOOK), ..Watch::ALWAYS };
        Snapshot::take(&workspace.domain, &workspace.snapshots, SnapshotLimits::default(), &watch)
    })
    .await?)
}

/// Records what has changed since, except what tools have recorded themselves; returns how many files.
pub(crate) async fn record(
    workspace: &Arc<Workspace>,
    store: &dyn Store,
    sink: &dyn EventSink,
    id: ChangeId,
    origin: Origin,
    since: Snapshot,
) -> Result<usize, ChangeError> {
    // No tool is in the middle of a change.
    let _changing = workspace.lock().await;
    let on_thread = Arc::clone(workspace);
    let mut changes = blocking(move || {
        let watch = Watch { deadline: Some(Instant::now() + LONGEST_LOOK), ..Watch::ALWAYS };
        since.changes(&on_thread.domain, &on_thread.contents, &watch)
    })
    .await?;
    changes.retain(|change| !workspace.was_made_by_a_tool(change));
    if changes.is_empty() {
        return Ok(0);
    }
    let Origin { message, tool, agent, .. } = origin;
    let (message_of_change, change, files) = (message.clone(), id.clone(), changes.clone());
    // Not named as a call's own change: the agent has not seen these contents and must read them before it overwrites them.
    let begun =
        SessionEvent::FilesChanging { message: message_of_change, change, call: None, tool, agent, files };
    let ended = SessionEvent::FilesChanged { message, change: id, error: None };
    // Both at once: what is done already is never finished by a restart.
    sink.append(vec![begun, ended]).await?;
    keep_within_limit(workspace, store, &changes).await;
    Ok(changes.len())
}
