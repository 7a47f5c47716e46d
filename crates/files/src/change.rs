//! Changes several files at once: all of them or none.
//!
//! 1. [`stage`] checks that every file is in the state that its change is based on and keeps the contents before and after.
//! 2. The caller records the changes that it returns: from then on a crash is followed by [`complete`].
//! 3. [`Staged::apply`] writes the new files beside the old ones and then exchanges them.

use std::collections::BTreeSet;

use protocol::{FailureCode, FileChange, FileState};

use crate::{
    ContentStore, FileDomain, FileError, LogicalPath,
    commit::{Change, commit},
    contents::sha256,
    folders::{self, Folders},
    in_parallel,
    lookup::Links,
    present::{Present, present, read_present},
};

/// Files up to this size can be changed: the content before and after is kept.
pub const MAX_CHANGED_BYTES: u64 = 64 << 20;
const NEW_MODE: u32 = 0o644;

/// What to make of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewContent {
    pub path: LogicalPath,
    /// The state that the change is based on. `None`: the file must not exist.
    pub before: Option<FileState>,
    /// `None` deletes the file.
    pub after: Option<NewFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub bytes: Vec<u8>,
    /// `None` keeps the permission bits of the file; those of a new file are `644`.
    pub mode: Option<u32>,
}

/// Changes whose contents are kept, and which are not made yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    changes: Vec<FileChange>,
    /// The new content of each; `None` where the file is deleted.
    new: Vec<Option<Vec<u8>>>,
}

impl Staged {
    /// What the caller records before it makes the changes.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    pub fn into_changes(self) -> Vec<FileChange> {
        self.changes
    }

    /// Makes the changes as [`apply`] does, without reading the new contents again.
    pub fn apply(&self, domain: &FileDomain, contents: &ContentStore) -> Result<(), FileError> {
        let mut changes = parse(&self.changes)?;
        for (change, new) in changes.iter_mut().zip(&self.new) {
            change.new = new.as_deref();
        }
        let _lock = domain.root.lock_changes();
        apply_locked(domain, contents, &changes, &changes)
    }
}

/// What became of a change set that a crash interrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Files that have their new state now.
    pub changed: Vec<LogicalPath>,
    /// Files that were neither in the old nor in the new state, and were not touched.
    pub left: Vec<LogicalPath>,
}

/// Checks that every file is in the state that its change is based on (`conflict` otherwise), and keeps the contents before
/// and after. Nothing in the work directory changes. A change that changes nothing is left out of the result.
pub fn stage(
    domain: &FileDomain,
    contents: &ContentStore,
    files: Vec<NewContent>,
) -> Result<Staged, FileError> {
    check_paths(files.iter().map(|file| &file.path))?;
    let deleted = || files.iter().filter(|file| file.after.is_none()).map(|file| &file.path);
    let check = |folders: &mut Folders, file: &NewContent| Checked::of(domain, folders, file, deleted);
    let checked = in_parallel(&files, || Folders::new(domain), check)?;
    let mut kept: Vec<(&str, &[u8])> = Vec::with_capacity(2 * files.len());
    for (file, checked) in files.iter().zip(&checked).filter(|(_, checked)| checked.is_change) {
        let before = file.before.as_ref().zip(checked.old.as_ref());
        kept.extend(before.map(|(state, bytes)| (state.content.as_str(), bytes.as_slice())));
        let after = checked.after.as_ref().zip(file.after.as_ref());
        kept.extend(after.map(|(state, new)| (state.content.as_str(), new.bytes.as_slice())));
    }
    contents.put_all(&kept)?;
    let mut staged = Staged::default();
    for (file, checked) in files.into_iter().zip(checked).filter(|(_, checked)| checked.is_change) {
        let (path, before, after) = (file.path.to_string(), file.before, checked.after);
        staged.changes.push(FileChange { path, before, after });
        staged.new.push(file.after.map(|new| new.bytes));
    }
    Ok(staged)
}

/// A change whose file is in the state that it is based on.
struct Checked {
    after: Option<FileState>,
    /// The present content.
    old: Option<Vec<u8>>,
    is_change: bool,
}

impl Checked {
    fn of<'a, I: Iterator<Item = &'a LogicalPath>>(
        domain: &FileDomain,
        folders: &mut Folders,
        file: &NewContent,
        deleted: impl Fn() -> I,
    ) -> Result<Self, FileError> {
        let found = read_present(domain, folders, &file.path, MAX_CHANGED_BYTES);
        let (present, old) = absent_if_emptied(found, &file.path, deleted)?.unzip();
        check_state(&file.path, present.as_ref().map(|present| &present.state), file.before.as_ref())?;
        let after = file.after.as_ref().map(|after| new_state(after, file.before.as_ref()));
        if let Some(after) = &after
            && after.bytes > MAX_CHANGED_BYTES
        {
            return Err(FileError::too_large(&file.path, after.bytes, MAX_CHANGED_BYTES));
        }
        Ok(Self { is_change: after != file.before, after, old })
    }
}

/// Makes all changes of a set, or none: when one fails, those before it are undone. Everything is on disk when it returns,
/// if the contents are kept with [`Durability::Power`](protocol::Durability).
///
/// A folder that a new file needs is made; one that a deletion leaves empty is removed.
pub fn apply(domain: &FileDomain, contents: &ContentStore, changes: &[FileChange]) -> Result<(), FileError> {
    let changes = parse(changes)?;
    let _lock = domain.root.lock_changes();
    apply_locked(domain, contents, &changes, &changes)
}

/// Finishes a change set that a crash interrupted: what is still old becomes new. A file that is neither is left alone and
/// named. Temporary files of the interrupted attempt are removed.
pub fn complete(
    domain: &FileDomain,
    contents: &ContentStore,
    changes: &[FileChange],
) -> Result<Completed, FileError> {
    let changes = parse(changes)?;
    let _lock = domain.root.lock_changes();
    let mut folders = Folders::new(domain);
    let (mut completed, mut remaining) = (Completed::default(), Vec::new());
    for change in &changes {
        match state_in(domain, &mut folders, change, &changes) {
            Ok(present) => {
                let state = present.map(|present| present.state);
                if state == change.after {
                    completed.changed.push(change.path.clone());
                } else if state == change.before {
                    remaining.push(change.clone());
                    completed.changed.push(change.path.clone());
                } else {
                    completed.left.push(change.path.clone());
                }
            }
            // Somebody put a folder, a link or something else in its place.
            Err(_) => completed.left.push(change.path.clone()),
        }
    }
    drop(folders);
    apply_locked(domain, contents, &remaining, &changes)?;
    folders::clean_up(domain, &changes);
    Ok(completed)
}

fn apply_locked(
    domain: &FileDomain,
    contents: &ContentStore,
    changes: &[Change<'_>],
    all: &[Change<'_>],
) -> Result<(), FileError> {
    let check = |folders: &mut Folders, change: &Change<'_>| {
        let present = state_in(domain, folders, change, all)?;
        check_state(&change.path, present.as_ref().map(|present| &present.state), change.before.as_ref())?;
        Ok(present)
    };
    let found = in_parallel(changes, || Folders::new(domain), check)?;
    commit(domain, contents, &changes.iter().zip(found).collect::<Vec<_>>())
}

/// The present state of a file that is to be changed.
fn state_in(
    domain: &FileDomain,
    folders: &mut Folders,
    change: &Change<'_>,
    all: &[Change<'_>],
) -> Result<Option<Present>, FileError> {
    let deleted = || all.iter().filter(|change| change.after.is_none()).map(|change| &change.path);
    let links = if change.is_link() { Links::KeepLast } else { Links::Refuse };
    let found = present(domain, folders, &change.path, links);
    if found.is_err() && change.before.is_none() && is_below_deleted_link(&change.path, all) {
        return Ok(None);
    }
    absent_if_emptied(found, &change.path, deleted)
}

/// Whether a link that the same change set deletes is in the place of a folder on the way to the file.
fn is_below_deleted_link(path: &LogicalPath, all: &[Change<'_>]) -> bool {
    let is_deleted_link = |change: &&Change<'_>| {
        change.after.is_none() && change.before.as_ref().is_some_and(FileState::is_link)
    };
    all.iter().filter(is_deleted_link).any(|link| link.path.contains(path))
}

/// A folder that the same change set empties, and puts a file in the place of, counts as absent.
fn absent_if_emptied<'a, T, I: Iterator<Item = &'a LogicalPath>>(
    found: Result<Option<T>, FileError>,
    path: &LogicalPath,
    deleted: impl Fn() -> I,
) -> Result<Option<T>, FileError> {
    match found {
        Err(error) if error.code == FailureCode::InvalidArgument => {
            if deleted().any(|deleted| path.contains(deleted)) { Ok(None) } else { Err(error) }
        }
        found => found,
    }
}

fn check_paths<'a>(paths: impl Iterator<Item = &'a LogicalPath>) -> Result<(), FileError> {
    let mut seen = BTreeSet::new();
    for path in paths {
        if path.is_root() {
            return Err(FileError::is_directory(path));
        }
        if !seen.insert(path) {
            let message = format!("{path} is changed twice in one change set; change it once");
            return Err(FileError::new(FailureCode::InvalidArgument, message));
        }
    }
    Ok(())
}

fn parse(changes: &[FileChange]) -> Result<Vec<Change<'_>>, FileError> {
    let parse = |change: &FileChange| {
        let path = LogicalPath::parse(&change.path)?;
        Ok(Change { path, before: change.before.clone(), after: change.after.clone(), new: None })
    };
    let changes: Vec<Change<'_>> = changes.iter().map(parse).collect::<Result<_, FileError>>()?;
    check_paths(changes.iter().map(|change| &change.path))?;
    Ok(changes)
}

fn check_state(
    path: &LogicalPath,
    present: Option<&FileState>,
    expected: Option<&FileState>,
) -> Result<(), FileError> {
    let why = match (present, expected) {
        (present, expected) if present == expected => return Ok(()),
        (Some(_), None) => "already exists; read it first, or choose another name",
        (None, Some(_)) => "does not exist any more; somebody removed it",
        (Some(present), Some(expected)) if present.content == expected.content => {
            "has other permissions than expected; somebody changed them meanwhile"
        }
        _ => "was changed by somebody else meanwhile; read it again and repeat the change",
    };
    Err(FileError::conflict(format!("{path} {why}")))
}

fn new_state(file: &NewFile, before: Option<&FileState>) -> FileState {
    let mode = file.mode.map(|mode| mode & 0o777).or_else(|| before.map(|before| before.mode));
    FileState { content: sha256(&file.bytes), bytes: file.bytes.len() as u64, mode: mode.unwrap_or(NEW_MODE) }
}
