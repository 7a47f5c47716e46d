//! Plans a revert: which files get their old content back, and why the others do not.

use std::collections::BTreeSet;

use ::files::{FileError, MAX_CHANGED_BYTES};
use protocol::{
    FileChange, MessageId,
    file_change::{NotReverted, NotRevertible},
};
use store::ChangeRecord;

use super::{
    changes::{Changes, Scope},
    list::relative,
    on_disk::Disk,
    workspaces::Workspace,
};

/// What a revert does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RevertPlan {
    /// The message that the change set of the revert names. `None` if there is nothing to do.
    pub(crate) message: Option<MessageId>,
    pub(crate) changes: Vec<FileChange>,
    pub(crate) refused: Vec<NotReverted>,
}

/// Plans the revert of a run or of the whole chat, of all files or only of `paths`, which are logical paths. `records` are
/// the change sets of the chat, oldest first. Reads files and blocks.
pub(crate) fn plan(
    workspace: &Workspace,
    records: &[ChangeRecord],
    scope: Scope<'_>,
    paths: &BTreeSet<String>,
) -> Result<RevertPlan, FileError> {
    let all = Changes::of(records);
    let (mut changes, mut refused) = (Vec::new(), Vec::new());
    let mut net = all.net(scope);
    net.retain(|net| paths.is_empty() || paths.contains(&net.path));
    for (net, verdict) in net.iter().zip(Disk::of(workspace).judge(&net)) {
        match verdict {
            Ok(()) => {
                let (path, before, after) = (net.path.clone(), net.after.clone(), net.before.clone());
                changes.push(FileChange { path, before, after });
            }
            Err(code) => refused.push(not_reverted(&net.path, code)),
        }
    }
    let is_listed = |path: &str| net.iter().any(|net| net.path == path);
    let nothing: Vec<&str> = if !paths.is_empty() {
        paths.iter().map(String::as_str).filter(|path| !is_listed(path)).collect()
    } else if net.is_empty() {
        all.touched_files(scope).collect()
    } else {
        Vec::new()
    };
    refused.extend(nothing.into_iter().map(|path| not_reverted(path, NotRevertible::NothingToRevert)));
    for change in &changes {
        keep_present(workspace, change)?;
    }
    let message = all.oldest_run(scope).filter(|_| !changes.is_empty()).cloned();
    Ok(RevertPlan { message, changes, refused })
}

/// Keeps the present content of a file that is reverted, if it was removed because the limit was reached.
fn keep_present(workspace: &Workspace, change: &FileChange) -> Result<(), FileError> {
    let Workspace { domain, contents, .. } = workspace;
    if change.before.as_ref().is_some_and(|state| !contents.contains(&state.content)) {
        contents.put(&domain.read_itself(&domain.resolve(&change.path)?, MAX_CHANGED_BYTES)?.bytes)?;
    }
    Ok(())
}

fn not_reverted(path: &str, code: NotRevertible) -> NotReverted {
    NotReverted { path: relative(path).to_owned(), code, reason: code.reason().to_owned() }
}
