//! Shows the changes of a chat: net per file, by run, and every change set; and the difference of one file.
//!
//! Everything here reads files and blocks.

use ::files::FileError;
use protocol::{
    FileDiff, FileState,
    file_change::{ChangeList, ChangedFile, ChangedFileDiff, NotRevertible, RunChanges},
};
use store::ChangeRecord;

use super::{
    changes::{Changes, NetChange, Scope},
    on_disk::Disk,
    workspaces::Workspace,
};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// A longer diff is cut, in bytes.
const LONGEST_DIFF: usize = 256 << 10;
/// Larger contents are not compared line by line.
const LARGEST_COMPARED: u64 = 4 << 20;

/// The changes of a chat. `records` are oldest first.
pub(crate) fn change_list(workspace: &Workspace, records: &[ChangeRecord]) -> ChangeList {
    let changes = Changes::of(records);
    let mut disk = Disk::of(workspace);
    let files = show(&mut disk, workspace, &changes.net(Scope::Chat));
    let runs: Vec<RunChanges> = changes
        .runs()
        .map(|(root, at)| {
            let files = show(&mut disk, workspace, &changes.net(Scope::Run(root)));
            RunChanges { message_id: root.clone(), at, files }
        })
        .filter(|run| !run.files.is_empty())
        .collect();
    let is_gone = |file: &ChangedFile| file.code == Some(NotRevertible::ContentRemoved);
    let incomplete = files.iter().any(is_gone) || runs.iter().any(|run| run.files.iter().any(is_gone));
    let changes = records.iter().rev().map(|record| record.set.clone()).collect();
    ChangeList { files, runs, changes, incomplete }
}

fn show(disk: &mut Disk<'_>, workspace: &Workspace, changes: &[NetChange]) -> Vec<ChangedFile> {
    let show = |(net, verdict): (&NetChange, Result<(), NotRevertible>)| {
        let [added, removed] = workspace.count_lines(net);
        ChangedFile {
            path: relative(&net.path).to_owned(),
            kind: net.kind(),
            added,
            removed,
            revertible: verdict.is_ok(),
            code: verdict.err(),
            reason: verdict.err().map(|code| code.reason().to_owned()),
        }
    };
    changes.iter().zip(disk.judge(changes)).map(show).collect()
}

impl Workspace {
    /// How many lines a change added and removed; none when a content is not kept, not text or large.
    fn count_lines(&self, net: &NetChange) -> [u32; 2] {
        let content = |state: &Option<FileState>| state.as_ref().map(|state| state.content.clone());
        let contents = [content(&net.before), content(&net.after)];
        if let Some(counted) = self.counted_lines(&contents) {
            return counted;
        }
        let counted = file_diff(self, net).map_or([0, 0], |diff| [diff.file.added, diff.file.removed]);
        self.remember_lines(contents, counted);
        counted
    }
}

/// The difference of one file. Fails when a content is not kept any more.
pub(crate) fn file_diff(workspace: &Workspace, net: &NetChange) -> Result<ChangedFileDiff, FileError> {
    let states = [net.before.as_ref(), net.after.as_ref()];
    let modes = match states {
        [Some(before), Some(after)] if before.mode != after.mode => Some([before.mode, after.mode]),
        _ => None,
    };
    let mut file = FileDiff {
        path: relative(&net.path).to_owned(),
        from: None,
        kind: net.kind(),
        added: 0,
        removed: 0,
        diff: String::new(),
        cut: false,
    };
    if states.into_iter().flatten().any(|state| state.bytes > LARGEST_COMPARED) {
        file.cut = true;
        return Ok(ChangedFileDiff { file, binary: false, modes });
    }
    let read = |state: Option<&FileState>| match state {
        Some(state) => workspace.contents.get(&state.content),
        None => Ok(Vec::new()),
    };
    let [before, after] = states;
    let text = patch::diff(&read(before)?, &read(after)?, CONTEXT, LONGEST_DIFF);
    file.added = text.added;
    file.removed = text.removed;
    file.diff = text.text;
    file.cut = text.cut;
    Ok(ChangedFileDiff { file, binary: text.binary, modes })
}

/// `/workspace/a/b` as `a/b`.
pub(super) fn relative(path: &str) -> &str {
    path.strip_prefix("/workspace/").unwrap_or(path)
}
