//! What a command changed in the work directory: the files before it, and the comparison afterwards.
//!
//! Ignored files (`.gitignore`, folders of dependencies), protected ones and empty folders are not part of it.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use protocol::{FileChange, FileState};

use crate::{
    ContentStore, FileDomain, FileError, HardLinks, LogicalPath, SnapshotStore, Watch,
    folders::Folders,
    found::{Found, find},
    in_parallel,
    seen::{Seen, look},
};

/// So many bytes are read at a time.
const TOGETHER: u64 = 16 << 20;

/// How much of the work directory is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// The content of a larger file is not kept.
    pub file_bytes: u64,
    /// Of all files together; the smallest are kept.
    pub bytes: u64,
    pub files: usize,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { file_bytes: 1 << 20, bytes: 64 << 20, files: 20_000 }
    }
}

/// The files of a work directory at one moment.
#[derive(Debug)]
pub struct Snapshot {
    files: BTreeMap<LogicalPath, Before>,
    /// Entries that were left out because they were ignored.
    ignored: HashSet<String>,
    /// Whether all files were looked at.
    is_complete: bool,
    limits: SnapshotLimits,
    kept: SnapshotStore,
    /// Keeps the contents.
    _pinned: Arc<HashSet<String>>,
}

#[derive(Clone, Debug)]
struct Before {
    seen: Seen,
    /// Without its content if that is not kept.
    state: FileState,
}

impl Snapshot {
    /// Looks at all files and keeps the contents of those within the limits. A content that an earlier snapshot has kept is
    /// not read again.
    pub fn take(
        domain: &FileDomain,
        kept: &SnapshotStore,
        limits: SnapshotLimits,
        watch: &Watch,
    ) -> Result<Self, FileError> {
        let tree = look(domain, watch)?;
        let state = |seen: &Seen| FileState { content: String::new(), bytes: seen.bytes, mode: seen.mode };
        let before = |(path, seen): (LogicalPath, Seen)| (path, Before { state: state(&seen), seen });
        let mut files: BTreeMap<LogicalPath, Before> = tree.files.into_iter().map(before).collect();
        let mut is_new = false;
        let chosen = chosen(domain, &files, limits);
        for part in parts(&chosen, |(_, seen)| seen.bytes) {
            watch.check()?;
            let find = |folders: &mut Folders, (path, seen): &(LogicalPath, Seen)| {
                // Its content may be known, and kept.
                let known = domain.root.known.get(&seen.stamp).filter(|name| kept.contents.contains(name));
                Ok(match known {
                    Some(content) => {
                        let state = FileState { content, bytes: seen.bytes, mode: seen.mode };
                        Some(Found { seen: *seen, state, bytes: None })
                    }
                    None => find(domain, folders, path, limits.file_bytes)?,
                })
            };
            let found = in_parallel(part, || Folders::new(domain), find)?;
            let read = found.iter().flatten();
            let new: Vec<(&str, &[u8])> = read.filter_map(Found::content).collect();
            is_new |= !new.is_empty();
            kept.contents.put_all(&new)?;
            for ((path, _), found) in part.iter().zip(found) {
                match found {
                    Some(Found { seen, state, .. }) => {
                        drop(files.insert(path.clone(), Before { seen, state }))
                    }
                    // It is gone already.
                    None => drop(files.remove(path)),
                }
            }
        }
        let known = files.values().map(|before| &before.state).filter(|state| state.is_known());
        let _pinned = kept.pin(known.map(|state| state.content.clone()).collect(), is_new)?;
        let ignored = tree.ignored.into_iter().collect();
        Ok(Self { files, ignored, is_complete: !tree.cut, limits, kept: kept.clone(), _pinned })
    }

    /// Compares the work directory with the snapshot. The contents before and after the changes are kept in `contents`, so
    /// that [`apply`](crate::apply) can take them back. A state whose content is not kept has an empty name as `content`.
    pub fn changes(
        &self,
        domain: &FileDomain,
        contents: &ContentStore,
        watch: &Watch,
    ) -> Result<Vec<FileChange>, FileError> {
        let tree = look(domain, watch)?;
        let touched: Vec<(LogicalPath, u64)> = self.touched(&tree.files).collect();
        let mut changes = Vec::new();
        let mut left = self.limits.bytes;
        for part in parts(&touched, |(_, bytes)| (*bytes).min(self.limits.file_bytes)) {
            watch.check()?;
            let find = |folders: &mut Folders, (path, _): &(LogicalPath, u64)| {
                find(domain, folders, path, self.limits.file_bytes)
            };
            let found = in_parallel(part, || Folders::new(domain), find)?;
            let mut kept: Vec<(String, Vec<u8>)> = Vec::new();
            for ((path, _), found) in part.iter().zip(found) {
                let Some((change, bytes)) = self.compare(path, found) else { continue };
                let before = change.before.as_ref().filter(|state| !contents.contains(&state.content));
                let before = before.and_then(|state| self.kept.contents.get(&state.content).ok());
                let name = |state: &Option<FileState>| state.as_ref().map(|state| state.content.clone());
                kept.extend(name(&change.before).zip(before));
                let after = bytes.filter(|bytes| bytes.len() as u64 <= left);
                left -= after.as_ref().map_or(0, |bytes| bytes.len() as u64);
                kept.extend(name(&change.after).filter(|name| !name.is_empty()).zip(after));
                changes.push(change);
            }
            let kept: Vec<(&str, &[u8])> =
                kept.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
            contents.put_all(&kept)?;
        }
        Ok(changes)
    }

    /// The files that may have changed, with their sizes.
    fn touched(&self, now: &BTreeMap<LogicalPath, Seen>) -> impl Iterator<Item = (LogicalPath, u64)> {
        let is_same = |path: &LogicalPath, seen: &Seen| {
            self.files
                .get(path)
                .is_some_and(|before| before.seen.is_settled && before.seen.stamp == seen.stamp)
        };
        let new = now.iter().filter(move |(path, seen)| !is_same(path, seen));
        let new = new.filter(|(path, _)| self.files.contains_key(*path) || !self.was_ignored(path));
        // Files that are not found may be gone, or ignored now.
        let gone = self.files.keys().filter(|path| !now.contains_key(*path)).map(|path| (path.clone(), 0));
        let mut all: Vec<_> = new.map(|(path, seen)| (path.clone(), seen.bytes)).chain(gone).collect();
        all.sort_unstable();
        all.into_iter()
    }

    fn was_ignored(&self, path: &LogicalPath) -> bool {
        let relative = path.relative();
        let parents = relative.match_indices('/').filter_map(|(end, _)| relative.get(..end));
        parents.chain([relative]).any(|path| self.ignored.contains(path))
    }

    /// The change of a file, and its new content if it was read; `None` if it is as before.
    fn compare(&self, path: &LogicalPath, found: Option<Found>) -> Option<(FileChange, Option<Vec<u8>>)> {
        let before = self.files.get(path);
        if let (Some(before), Some(found)) = (before, &found) {
            let is_same = before.state == found.state
                || (!before.state.is_known() && before.seen.stamp == found.seen.stamp);
            if is_same {
                return None;
            }
        }
        let (mut after, bytes) = found.map(|found| (found.state, found.bytes)).unzip();
        // What was not looked at may have been there: it is never deleted.
        if let Some(after) = after.as_mut().filter(|_| before.is_none() && !self.is_complete) {
            after.content.clear();
        }
        let before = before.map(|before| before.state.clone());
        if before.is_none() && after.is_none() {
            return None;
        }
        Some((FileChange { path: path.to_string(), before, after }, bytes.flatten()))
    }
}

/// The files whose contents are kept: the smallest. Those with several hard links are kept only where they can be used.
fn chosen(
    domain: &FileDomain,
    files: &BTreeMap<LogicalPath, Before>,
    limits: SnapshotLimits,
) -> Vec<(LogicalPath, Seen)> {
    let allow_links = domain.root.guard.hard_links == HardLinks::Allow;
    let mut chosen: Vec<(LogicalPath, Seen)> = files
        .iter()
        .map(|(path, before)| (path.clone(), before.seen))
        .filter(|(_, seen)| seen.bytes <= limits.file_bytes && (seen.links <= 1 || allow_links))
        .collect();
    chosen.sort_by_key(|(_, seen)| seen.bytes);
    let mut left = limits.bytes;
    let fits = |(_, seen): &&(LogicalPath, Seen)| {
        left.checked_sub(seen.bytes).inspect(|rest| left = *rest).is_some()
    };
    let count = chosen.iter().take(limits.files).take_while(fits).count();
    chosen.truncate(count);
    // In the order of the folders, which are then opened once.
    chosen.sort_by(|(one, _), (other, _)| one.cmp(other));
    chosen
}

/// Parts whose files are not too large together.
fn parts<T>(files: &[T], bytes: impl Fn(&T) -> u64) -> impl Iterator<Item = &[T]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut sum = 0_u64;
        let fits = |file: &&T| {
            let is_first = sum == 0;
            sum = sum.saturating_add(bytes(file).max(1));
            is_first || sum <= TOGETHER
        };
        let count = rest.iter().take_while(fits).count();
        let (part, others) = rest.split_at_checked(count)?;
        rest = others;
        (!part.is_empty()).then_some(part)
    })
}
