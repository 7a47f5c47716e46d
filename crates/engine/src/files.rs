//! The files of workspaces: where they are, how tools change them, and how changes are listed and reverted.
//!
//! `workspaces.rs` opens the work directory of a workspace; `change.rs` changes files as one recorded change set, for a
//! tool call (`call_files.rs`) or for a revert (`revert.rs`); `command_changes.rs` records what a command changed; `recovery.rs` finishes what a crash interrupted; `changes.rs`
//! folds change sets, `list.rs` shows them; `kept_contents.rs` removes contents that are no longer needed; `browse.rs`
//! lists and opens files for people.

pub(crate) mod browse;
pub(crate) mod call_files;
pub(crate) mod change;
pub(crate) mod changes;
pub(crate) mod command_changes;
pub(crate) mod kept_contents;
pub(crate) mod list;
mod on_disk;
pub(crate) mod recovery;
pub(crate) mod revert;
pub(crate) mod workspaces;

#[cfg(test)]
mod property_tests;

use ::files::FileError;
use protocol::FailureCode;

/// Runs a file operation on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "a file operation broke off");
        Err(FileError::new(FailureCode::Internal, "the operation broke off because of an internal error"))
    })
}
