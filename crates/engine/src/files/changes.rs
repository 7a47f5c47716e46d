//! Folds change sets into what became of each file, over a chat and over each of its runs, and decides what can be
//! reverted. Pure: the state of the disk is passed in.
//!
//! For every file there is a stack of the changes that are not reverted, oldest first. A change set of a tool adds to it;
//! a revert removes its newest changes. The stack of a file that was reverted completely is empty.

use std::{collections::BTreeMap, ops::Range};

use protocol::{
    FileState, MessageId, Timestamp,
    file_change::{ChangeKind, ChangeStatus, NotRevertible},
};
use store::ChangeRecord;

/// The `tool` of a change set with which a person reverted others.
pub(crate) const REVERT: &str = "revert";

/// Which changes of a chat are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope<'a> {
    Chat,
    /// The run with this message.
    Run(&'a MessageId),
    /// The run with this message and all later ones.
    Since(&'a MessageId),
}

/// The changes of a chat that are not reverted.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// In the order of their first changes.
    runs: Vec<Run>,
    files: BTreeMap<String, FileChanges>,
}

#[derive(Debug)]
struct Run {
    root: MessageId,
    /// The time of its first change.
    at: Timestamp,
}

/// The changes to one file.
#[derive(Debug, Default)]
struct FileChanges {
    /// Not reverted, oldest first.
    live: Vec<Change>,
    /// The runs that changed it, also those that were reverted.
    runs: Vec<usize>,
    /// A change set that is not finished includes it.
    is_unfinished: bool,
}

#[derive(Clone, Debug)]
struct Change {
    /// Index of the run.
    run: usize,
    before: Option<FileState>,
    after: Option<FileState>,
}

/// What became of one file in a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NetChange {
    /// The logical path.
    pub(crate) path: String,
    pub(crate) before: Option<FileState>,
    pub(crate) after: Option<FileState>,
    /// Why it cannot be reverted, whatever is on the disk.
    pub(crate) obstacle: Option<NotRevertible>,
}

/// What is on the disk under the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    Nothing,
    File(FileState),
    /// A file with another size than the one it is compared with, so its content was not read.
    OtherFile,
    Folder,
    /// A part of the path is a file.
    BelowFile,
    /// Something that is not a file, or that cannot be read.
    Unknown,
}

impl Changes {
    /// `records` are the change sets of a chat, oldest first.
    pub(crate) fn of(records: &[ChangeRecord]) -> Self {
        let mut changes = Self::default();
        for ChangeRecord { set, root } in records {
            match set.status {
                ChangeStatus::Failed => {}
                ChangeStatus::Applying => {
                    for file in &set.files {
                        changes.files.entry(file.path.clone()).or_default().is_unfinished = true;
                    }
                }
                ChangeStatus::Applied => {
                    let run = changes.run(root, set.at);
                    for file in &set.files {
                        let change = Change { run, before: file.before.clone(), after: file.after.clone() };
                        let all = changes.files.entry(file.path.clone()).or_default();
                        if set.tool != REVERT || !all.revert(&change) {
                            all.add(change);
                        }
                    }
                }
            }
        }
        changes
    }

    /// The index of a run, which is added when it is new.
    fn run(&mut self, root: &MessageId, at: Timestamp) -> usize {
        self.index_of(root).unwrap_or_else(|| {
            self.runs.push(Run { root: root.clone(), at });
            self.runs.len() - 1
        })
    }

    fn index_of(&self, root: &MessageId) -> Option<usize> {
        self.runs.iter().position(|run| run.root == *root)
    }

    /// The runs with changes, newest first: their messages, and the times of their first changes.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&MessageId, Timestamp)> {
        self.runs.iter().rev().map(|run| (&run.root, run.at))
    }

    /// The message that a revert of this scope names: that of the oldest run that it reverts. [`Self::of`] reads it.
    pub(crate) fn oldest_run(&self, scope: Scope<'_>) -> Option<&MessageId> {
        match scope {
            Scope::Chat => self.runs.first().map(|run| &run.root),
            Scope::Run(root) | Scope::Since(root) => {
                self.runs.iter().map(|run| &run.root).find(|known| *known == root)
            }
        }
    }

    /// What became of every file in this scope, sorted by path. Files that are as they were before are left out.
    pub(crate) fn net(&self, scope: Scope<'_>) -> Vec<NetChange> {
        let Some(runs) = self.range(scope) else { return Vec::new() };
        let net = self.files.iter().filter_map(|(path, file)| file.net(path, &runs));
        net.filter(|net| net.before != net.after).collect()
    }

    /// The runs of a scope; `None` if it has no changes.
    fn range(&self, scope: Scope<'_>) -> Option<Range<usize>> {
        let all = 0..self.runs.len();
        match scope {
            Scope::Chat => Some(all),
            Scope::Run(root) => self.index_of(root).map(|run| run..run + 1),
            Scope::Since(root) => self.index_of(root).map(|run| run..all.end),
        }
    }

    /// Whether the chat, or the run, ever changed this file.
    pub(crate) fn touched(&self, scope: Scope<'_>, path: &str) -> bool {
        let runs = self.range(scope).unwrap_or_default();
        self.files.get(path).is_some_and(|file| file.runs.iter().any(|run| runs.contains(run)))
    }

    /// Every file that the chat, or the run, ever changed.
    pub(crate) fn touched_files<'a>(&'a self, scope: Scope<'a>) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(String::as_str).filter(move |path| self.touched(scope, path))
    }
}

impl FileChanges {
    fn add(&mut self, change: Change) {
        if !self.runs.contains(&change.run) {
            self.runs.push(change.run);
        }
        self.live.push(change);
    }

    /// Removes the changes that a revert took back: newest first, of its run and of later ones, back to the oldest after
    /// whose removal the file is as the revert left it. Returns whether there is such a change.
    fn revert(&mut self, revert: &Change) -> bool {
        let newest = self.live.iter().rev().take_while(|change| change.run >= revert.run);
        let depth = newest
            .enumerate()
            .filter_map(|(depth, change)| (change.before == revert.after).then_some(depth + 1))
            .last();
        if let Some(depth) = depth {
            self.live.truncate(self.live.len() - depth);
        }
        depth.is_some()
    }

    /// What became of the file over the changes of these runs. `None` if there are none.
    fn net(&self, path: &str, runs: &Range<usize>) -> Option<NetChange> {
        let first = self.live.iter().position(|change| runs.contains(&change.run))?;
        let changes = self.live.get(first..)?;
        let last = changes.iter().rfind(|change| runs.contains(&change.run));
        let obstacle = if self.is_unfinished {
            Some(NotRevertible::Unfinished)
        } else if changes.iter().any(|change| !runs.contains(&change.run)) {
            Some(NotRevertible::LaterRun)
        } else if changes.iter().zip(changes.iter().skip(1)).any(|(one, next)| one.after != next.before) {
            Some(NotRevertible::ChangedBetween)
        } else {
            None
        };
        Some(NetChange {
            path: path.to_owned(),
            before: changes.first()?.before.clone(),
            after: last?.after.clone(),
            obstacle,
        })
    }
}

impl NetChange {
    pub(crate) fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) => ChangeKind::Modified,
        }
    }

    /// Decides whether the change can be reverted now. `has_content` tells whether the content before is kept.
    pub(crate) fn judge(&self, disk: &OnDisk, has_content: bool) -> Result<(), NotRevertible> {
        if let Some(obstacle) = self.obstacle {
            return Err(obstacle);
        }
        if ![&self.before, &self.after].into_iter().flatten().all(FileState::is_known) {
            return Err(NotRevertible::NotKept);
        }
        match (&self.after, disk) {
            (_, OnDisk::Unknown) => return Err(NotRevertible::NotReadable),
            (Some(after), OnDisk::File(now)) if after == now => {}
            // What is in the way may be a change of the chat itself, which is reverted with this one.
            (None, OnDisk::Nothing | OnDisk::Folder | OnDisk::BelowFile) => {}
            (Some(_), OnDisk::Nothing | OnDisk::BelowFile) => return Err(NotRevertible::DeletedSince),
            (_, OnDisk::File(_) | OnDisk::OtherFile | OnDisk::Folder) => {
                return Err(NotRevertible::ChangedSince);
            }
        }
        if has_content { Ok(()) } else { Err(NotRevertible::ContentRemoved) }
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
