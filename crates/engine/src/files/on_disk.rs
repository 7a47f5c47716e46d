//! Compares what a chat left on the disk with what is there now, and decides what can be reverted. Reads files and blocks.

use std::{
    collections::{BTreeSet, HashMap},
    io::Read,
};

use ::files::{FileDomain, LogicalPath, OpenFile};
use protocol::{
    FailureCode, FileState,
    file_change::{EntryKind, NotRevertible},
};
use sha2::{Digest, Sha256};

use super::{
    changes::{NetChange, OnDisk},
    workspaces::Workspace,
};

const BUFFER: usize = 64 << 10;
/// A folder with more entries than this is not searched for files of others.
const MOST_SEARCHED: usize = 10_000;

/// The work directory, each file looked at once.
pub(super) struct Disk<'a> {
    workspace: &'a Workspace,
    seen: HashMap<String, OnDisk>,
}

impl<'a> Disk<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, seen: HashMap::new() }
    }

    /// Decides which of these changes can be reverted now, together.
    pub(super) fn judge(&mut self, changes: &[NetChange]) -> Vec<Result<(), NotRevertible>> {
        let mut verdicts: Vec<_> = changes.iter().map(|net| self.judge_alone(net)).collect();
        let is_deleted =
            |(net, verdict): &(&NetChange, &Result<(), _>)| verdict.is_ok() && net.before.is_none();
        let deleted: BTreeSet<&str> =
            changes.iter().zip(&verdicts).filter(is_deleted).map(|(net, _)| net.path.as_str()).collect();
        let is_restored =
            |(net, verdict): &(&NetChange, &Result<(), _>)| verdict.is_ok() && net.before.is_some();
        let restored: BTreeSet<&str> =
            changes.iter().zip(&verdicts).filter(is_restored).map(|(net, _)| net.path.as_str()).collect();
        for (net, verdict) in changes.iter().zip(&mut verdicts).filter(|(_, verdict)| verdict.is_ok()) {
            // Somebody put a folder where the chat had deleted a file, and the chat deleted what was in it.
            if net.before.is_some() && parents(&net.path).any(|parent| restored.contains(parent)) {
                *verdict = Err(NotRevertible::ChangedBetween);
                continue;
            }
            let makes_room = match self.seen.get(&net.path) {
                Some(OnDisk::Folder) => only_holds(&self.workspace.domain, &net.path, &deleted),
                Some(OnDisk::BelowFile) => parents(&net.path).any(|parent| deleted.contains(parent)),
                _ => true,
            };
            if !makes_room {
                *verdict = Err(NotRevertible::ChangedSince);
            }
        }
        verdicts
    }

    fn judge_alone(&mut self, net: &NetChange) -> Result<(), NotRevertible> {
        if let Some(obstacle) = net.obstacle {
            return Err(obstacle);
        }
        let Workspace { domain, contents, .. } = self.workspace;
        let disk = self.seen.entry(net.path.clone()).or_insert_with(|| match domain.resolve(&net.path) {
            Ok(path) => look_at(domain, &path, net.after.as_ref()),
            Err(_) => OnDisk::Unknown,
        });
        net.judge(disk, net.before.as_ref().is_none_or(|state| contents.contains(&state.content)))
    }
}

/// Looks at a file. Its content is read only if it has the size of `expected`.
fn look_at(domain: &FileDomain, path: &LogicalPath, expected: Option<&FileState>) -> OnDisk {
    match domain.info(path) {
        Err(error) if error.code == FailureCode::NotFound => return OnDisk::Nothing,
        Err(error) if error.code == FailureCode::InvalidPath => return OnDisk::BelowFile,
        Err(_) => return OnDisk::Unknown,
        Ok(info) => match info.kind {
            EntryKind::Directory => return OnDisk::Folder,
            EntryKind::Link if expected.is_some_and(FileState::is_link) => {
                let link = domain.read_itself(path, info.bytes);
                return link.map_or(OnDisk::Unknown, |link| OnDisk::File(link.state));
            }
            EntryKind::Link | EntryKind::Other => return OnDisk::Unknown,
            EntryKind::File if expected.is_none_or(|expected| expected.bytes != info.bytes) => {
                return OnDisk::OtherFile;
            }
            EntryKind::File => {}
        },
    }
    match domain.open_file(path) {
        Ok(file) => hash(file).map_or(OnDisk::Unknown, OnDisk::File),
        Err(error) if error.code == FailureCode::NotFound => OnDisk::Nothing,
        Err(_) => OnDisk::Unknown,
    }
}

fn hash(OpenFile { mut file, info }: OpenFile) -> std::io::Result<FileState> {
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; BUFFER]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(FileState { content: format!("{:x}", hasher.finalize()), bytes, mode: info.mode });
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
        bytes += count as u64;
    }
}

/// Whether all files below a folder are among these, and it has no empty folder, which somebody else made.
fn only_holds(domain: &FileDomain, folder: &str, files: &BTreeSet<&str>) -> bool {
    let mut folders = vec![folder.to_owned()];
    let mut left = MOST_SEARCHED;
    while let Some(folder) = folders.pop() {
        let listed = domain.resolve(&folder).and_then(|path| domain.list_up_to(&path, left));
        let Ok((entries, false)) = listed else { return false };
        if entries.is_empty() {
            return false;
        }
        left = left.saturating_sub(entries.len());
        for entry in entries {
            let path = format!("{folder}/{}", entry.name);
            if entry.info.kind == EntryKind::Directory {
                folders.push(path);
            } else if !files.contains(path.as_str()) {
                return false;
            }
        }
    }
    true
}

/// The folders that a path is in, the nearest first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(end, _)| path.get(..end).unwrap_or_default())
}
