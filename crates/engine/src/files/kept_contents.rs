//! Removes contents of files that are no longer needed: those of deleted chats, and the oldest above the limit.

use std::{collections::HashSet, sync::Arc};

use ::files::FileError;
use protocol::{FileChange, WorkspaceId};
use store::Store;

use super::{
    blocking,
    workspaces::{Workspace, Workspaces, workspace_of},
};
use crate::EngineError;

/// Once the limit is reached, contents are removed until this part of it is in use, in percent.
const KEPT_PERCENT: u64 = 90;

/// Removes the contents that were used longest ago if more are kept than the limit allows. The caller holds the lock of the
/// workspace. A failure is logged: the next change tries again.
pub(super) async fn keep_within_limit(workspace: &Arc<Workspace>, store: &dyn Store, added: &[FileChange]) {
    let states = added.iter().flat_map(|file| [&file.before, &file.after]).flatten();
    if workspace.note_kept(states.map(|state| state.bytes).sum())
        && let Err(error) = remove_oldest(workspace, store).await
    {
        tracing::warn!(%error, "old contents of files could not be removed");
    }
}

async fn remove_oldest(workspace: &Arc<Workspace>, store: &dyn Store) -> Result<(), EngineError> {
    let on_thread = Arc::clone(workspace);
    let mut kept = blocking(move || on_thread.contents.bytes()).await?;
    if kept > workspace.content_limit {
        let enough = workspace.content_limit / 100 * KEPT_PERCENT;
        let mut removed = Vec::new();
        for used in store.contents_in_use(&workspace.id).await? {
            if kept <= enough {
                break;
            }
            if !used.is_needed && workspace.contents.contains(&used.content) {
                kept = kept.saturating_sub(used.bytes);
                removed.push(used.content);
            }
        }
        tracing::info!(
            contents = removed.len(),
            "the limit of kept contents was reached; the oldest are removed"
        );
        remove(workspace, removed).await?;
    }
    workspace.set_kept(kept);
    Ok(())
}

async fn remove(workspace: &Arc<Workspace>, contents: Vec<String>) -> Result<(), FileError> {
    let on_thread = Arc::clone(workspace);
    blocking(move || contents.iter().try_for_each(|content| on_thread.contents.remove(content))).await
}

/// Removes those of a deleted chat's contents that no other chat of the workspace needs. A failure is logged: the next
/// start removes what is left.
pub(crate) async fn remove_unused(
    workspaces: &Workspaces,
    store: &dyn Store,
    id: &WorkspaceId,
    contents: Vec<String>,
) {
    if contents.is_empty() {
        return;
    }
    let removed = async {
        let workspace = workspaces.get(id).await?;
        let _changing = workspace.lock().await;
        let unused = store.unused_contents(id, contents).await?;
        Ok::<_, EngineError>(remove(&workspace, unused).await?)
    };
    if let Err(error) = removed.await {
        tracing::warn!(%error, "contents of a deleted chat could not be removed; the next start tries again");
    }
}

/// Removes all contents that no change set refers to; returns how many. What a crash left is removed in this way.
pub(crate) async fn sweep(workspaces: &Workspaces, store: &dyn Store) -> Result<usize, EngineError> {
    let Some(folder) = workspaces.contents_folder() else { return Ok(0) };
    let mut removed = 0;
    for name in blocking(move || Ok(names(&folder))).await? {
        if let Some(id) = workspace_of(&name) {
            removed += sweep_workspace(workspaces, store, &id).await?;
        }
    }
    Ok(removed)
}

async fn sweep_workspace(
    workspaces: &Workspaces,
    store: &dyn Store,
    id: &WorkspaceId,
) -> Result<usize, EngineError> {
    let workspace = workspaces.get(id).await?;
    let _changing = workspace.lock().await;
    let used: HashSet<String> =
        store.contents_in_use(id).await?.into_iter().map(|used| used.content).collect();
    let on_thread = Arc::clone(&workspace);
    let kept = blocking(move || on_thread.contents.sizes()).await?;
    let unused: Vec<String> =
        kept.into_iter().map(|(content, _)| content).filter(|content| !used.contains(content)).collect();
    let count = unused.len();
    remove(&workspace, unused).await?;
    Ok(count)
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
