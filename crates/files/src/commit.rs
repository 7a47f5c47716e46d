//! Exchanges the old files of a change set for new ones, and takes everything back when one of them fails.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    sync::{Mutex, PoisonError},
};

use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use protocol::{FailureCode, FileState};
use rustix::{
    fs::{RenameFlags, renameat_with},
    io::Errno,
};

use crate::{
    ContentStore, FileDomain, FileError, LogicalPath,
    folders::Folders,
    handle::{Refusal, SharedDir},
    in_parallel,
    path::temp_name,
    present::{Mark, Present},
    protected::FileId,
    sync::{Syncing, sync_file_system, sync_files, sync_folder},
    undo::{Done, Undo},
};

/// A change whose path was read.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    pub path: LogicalPath,
    pub before: Option<FileState>,
    pub after: Option<FileState>,
    /// The new content, if it is at hand; it is kept in any case.
    pub new: Option<&'a [u8]>,
}

impl Change<'_> {
    /// Whether the file is a link before or afterwards.
    pub fn is_link(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(FileState::is_link)
    }
}

/// A new file that waits in a folder under a temporary name.
#[derive(Clone, Debug)]
pub(crate) struct Temp {
    pub folder: LogicalPath,
    pub name: String,
}

type Found<'a> = (&'a Change<'a>, Option<Present>);

/// Makes the changes. Each comes with the state in which its file was found, which is the one before the change.
pub(crate) fn commit(
    domain: &FileDomain,
    contents: &ContentStore,
    changes: &[Found<'_>],
) -> Result<(), FileError> {
    if changes.is_empty() {
        return Ok(());
    }
    let syncing = Syncing::of(changes.len(), contents.durability());
    let folders = Folders::new(domain);
    let mut work = Commit { domain, contents, folders, undo: Undo::default(), syncing };
    match work.run(changes) {
        Ok(()) => {
            work.undo.forget(domain);
            for (change, _) in changes.iter().filter(|(change, _)| change.after.is_none()) {
                work.folders.remove_emptied(&change.path);
            }
            Ok(())
        }
        Err(error) => {
            let error = work.undo.take_back(&mut work.folders, contents, error);
            if syncing != Syncing::None {
                // Best effort: a power loss must not bring back a part of what was undone.
                sync_file_system(&domain.root.dir).ok();
            }
            Err(error)
        }
    }
}

struct Commit<'a> {
    domain: &'a FileDomain,
    contents: &'a ContentStore,
    folders: Folders<'a>,
    undo: Undo,
    syncing: Syncing,
}

impl Commit<'_> {
    fn run(&mut self, changes: &[Found<'_>]) -> Result<(), FileError> {
        let temps = self.write_temps(changes)?;
        if self.syncing == Syncing::Together {
            self.flush(&LogicalPath::root())?;
        }
        // Deletions first: another change may put a folder where the file was.
        let new: HashSet<&LogicalPath> = changes
            .iter()
            .filter(|(change, _)| change.after.is_some())
            .map(|(change, _)| &change.path)
            .collect();
        for (change, old) in changes {
            if let (Some(old), None) = (old, &change.after) {
                let backup = backup_folder(&change.path, &new);
                let failed = |refusal: Refusal| refusal.at(&change.path, "remove");
                self.remove(&change.path, &old.mark, backup).map_err(failed)?;
            }
        }
        for ((change, old), temp) in changes.iter().zip(temps) {
            if let Some(temp) = temp {
                self.place(&change.path, old.as_ref(), temp)?;
            }
        }
        self.sync_folders(changes)
    }

    /// Writes all new contents under temporary names; they are on disk, or flushed together later.
    fn write_temps(&mut self, changes: &[Found<'_>]) -> Result<Vec<Option<Temp>>, FileError> {
        let (domain, contents, syncing) = (self.domain, self.contents, self.syncing);
        let root = FileId::of(
            &domain
                .root
                .dir
                .dir_metadata()
                .map_err(|error| FileError::io(&LogicalPath::root(), "write", &error))?,
        );
        let begun: Mutex<Vec<Done>> = Mutex::default();
        let write = |folders: &mut Folders, (change, old): &Found<'_>| {
            let Some((temp, dir)) = temp_for(folders, change)? else { return Ok(None) };
            let begin = Done::Wrote { temp: temp.clone(), id: None };
            begun.lock().unwrap_or_else(PoisonError::into_inner).push(begin);
            let (file, id) = write_new(contents, &dir, &temp.name, change, old.as_ref())?;
            // Another file system may be mounted below the work directory.
            let sync =
                syncing == Syncing::Each || (syncing == Syncing::Together && !id.is_on_same_device(root));
            Ok(Some((temp, id, file.filter(|_| sync))))
        };
        let written = in_parallel(changes, || Folders::new(domain), write);
        self.undo.done = begun.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut written = written?;
        self.undo.done.clear();
        for (temp, id, _) in written.iter().flatten() {
            self.undo.done.push(Done::Wrote { temp: temp.clone(), id: Some(*id) });
        }
        let files: Vec<File> = written.iter_mut().flatten().filter_map(|(_, _, file)| file.take()).collect();
        sync_files(&files).map_err(|error| FileError::io(&LogicalPath::root(), "write", &error))?;
        Ok(written.into_iter().map(|written| written.map(|(temp, ..)| temp)).collect())
    }

    /// Moves a file that is to be deleted to a temporary name.
    fn remove(&mut self, path: &LogicalPath, mark: &Mark, backup: LogicalPath) -> Result<(), Refusal> {
        let from = self.folders.get(&path.parent().ok_or(Refusal::IsDirectory)?)?;
        let to = self.folders.get(&backup)?;
        let temp = Temp { folder: backup, name: temp_name().map_err(|_| io::Error::other("random"))? };
        from.rename(path.name(), &to, &temp.name)?;
        self.undo.done.push(Done::MovedAway { path: path.clone(), to: temp.clone() });
        self.check_old(&to, &temp.name, mark)
    }

    /// Whether the file that was moved out of the way is the one that was found before.
    fn check_old(&self, dir: &Dir, name: &str, mark: &Mark) -> Result<(), Refusal> {
        if Mark::of(&dir.symlink_metadata(name)?) == *mark { Ok(()) } else { Err(Refusal::Changed) }
    }

    fn place(&mut self, path: &LogicalPath, old: Option<&Present>, temp: Temp) -> Result<(), FileError> {
        let failed = |refusal: Refusal| refusal.at(path, "write");
        let parent = path.parent().ok_or_else(|| FileError::is_directory(path))?;
        let undo = &mut self.undo;
        let mut made = |folder: &LogicalPath| undo.done.push(Done::MadeFolder(folder.clone()));
        let to = self.folders.make(&parent, &mut made).map_err(failed)?;
        let from = self.folders.get(&temp.folder).map_err(failed)?;
        match old {
            Some(old) => self.exchange(path, old, temp, &from, &to).map_err(failed),
            None => {
                if to.symlink_metadata(path.name()).is_ok_and(|found| found.is_dir()) {
                    self.remove_folder(path).map_err(failed)?;
                }
                create(&from, &temp.name, &to, path.name()).map_err(Refusal::from).map_err(failed)?;
                self.undo.done.push(Done::Created { path: path.clone(), temp });
                Ok(())
            }
        }
    }

    fn exchange(
        &mut self,
        path: &LogicalPath,
        old: &Present,
        temp: Temp,
        from: &Dir,
        to: &SharedDir,
    ) -> Result<(), Refusal> {
        match renameat_with(from, temp.name.as_str(), to, path.name(), RenameFlags::EXCHANGE) {
            Ok(()) => {
                self.undo.done.push(Done::Exchanged { path: path.clone(), temp: temp.clone() });
                self.check_old(from, &temp.name, &old.mark)
            }
            Err(error) if is_unsupported(error) => {
                self.check_old(to, path.name(), &old.mark)?;
                from.rename(&temp.name, to, path.name())?;
                self.undo.done.push(Done::Replaced { path: path.clone(), before: old.state.clone() });
                Ok(())
            }
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Removes a folder that holds nothing but empty folders, to put a file in its place.
    fn remove_folder(&mut self, path: &LogicalPath) -> Result<(), Refusal> {
        let dir = self.folders.get(path)?;
        let mode = MetadataExt::mode(&dir.dir_metadata()?) & 0o7777;
        for entry in dir.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            let inside = name.to_str().and_then(|name| path.join(name)).ok_or(Refusal::NotEmpty)?;
            if !entry.file_type()?.is_dir() {
                return Err(Refusal::NotEmpty);
            }
            self.remove_folder(&inside)?;
        }
        self.folders.remove(path)?;
        self.undo.done.push(Done::RemovedFolder { path: path.clone(), mode });
        Ok(())
    }

    fn sync_folders(&mut self, changes: &[Found<'_>]) -> Result<(), FileError> {
        if self.syncing == Syncing::None {
            return Ok(());
        }
        if self.syncing == Syncing::Together {
            self.flush(&LogicalPath::root())?;
        }
        let mut touched: BTreeMap<LogicalPath, &LogicalPath> = BTreeMap::new();
        for (change, _) in changes {
            touched.extend(change.path.parent().map(|parent| (parent, &change.path)));
        }
        for done in &self.undo.done {
            if let Done::MadeFolder(path) = done {
                touched.extend(path.parent().map(|parent| (parent, path)));
            }
        }
        for (folder, path) in touched {
            let dir = match self.folders.get(&folder) {
                Err(refusal) if refusal.is_absent() => continue,
                found => found.map_err(|refusal| refusal.at(path, "write"))?,
            };
            if !self.is_flushed_together(&dir) {
                sync_folder(&dir).map_err(|error| FileError::io(&folder, "write", &error))?;
            }
        }
        Ok(())
    }

    /// Whether the folder is written to disk with the file system of the work directory; another one may be mounted
    /// below it.
    fn is_flushed_together(&self, dir: &Dir) -> bool {
        let id = |dir: &Dir| dir.dir_metadata().ok().map(|metadata| FileId::of(&metadata));
        let same = |(one, other): (FileId, FileId)| one.is_on_same_device(other);
        self.syncing == Syncing::Together && id(dir).zip(id(&self.domain.root.dir)).is_some_and(same)
    }

    fn flush(&self, path: &LogicalPath) -> Result<(), FileError> {
        sync_file_system(&self.domain.root.dir).map_err(|error| FileError::io(path, "write", &error))
    }
}

/// The folder in which a deleted file waits: its own, or the one above a folder that a new file replaces.
fn backup_folder(path: &LogicalPath, new: &HashSet<&LogicalPath>) -> LogicalPath {
    let mut folder = path.parent().unwrap_or_else(LogicalPath::root);
    let mut above = Some(folder.clone());
    while let Some(path) = above {
        above = path.parent();
        if new.contains(&path) {
            folder = above.clone().unwrap_or_else(LogicalPath::root);
        }
    }
    folder
}

/// A temporary name beside the file that a change writes, or in the deepest folder above it.
fn temp_for(folders: &mut Folders, change: &Change<'_>) -> Result<Option<(Temp, SharedDir)>, FileError> {
    if change.after.is_none() {
        return Ok(None);
    }
    let parent = change.path.parent().ok_or_else(|| FileError::is_directory(&change.path))?;
    let (folder, dir) = folders.deepest(&parent).map_err(|refusal| refusal.at(&change.path, "write"))?;
    Ok(Some((Temp { folder, name: temp_name()? }, dir)))
}

/// Writes the new content of a change.
fn write_new(
    contents: &ContentStore,
    dir: &Dir,
    name: &str,
    change: &Change<'_>,
    old: Option<&Present>,
) -> Result<(Option<File>, FileId), FileError> {
    let missing = || FileError::new(FailureCode::Internal, "a deleted file has no new content");
    let after = change.after.as_ref().ok_or_else(missing)?;
    let bytes = match change.new {
        Some(bytes) => Cow::Borrowed(bytes),
        None => Cow::Owned(contents.get(&after.content)?),
    };
    write_file(dir, name, &bytes, after, old.map(|old| old.owner))
        .map_err(|error| FileError::io(&change.path, "write", &error))
}

/// Writes a new file with the permissions, and if possible the owner, that it shall have, or makes a link. A link is not
/// opened: it is on disk with its folder.
pub(crate) fn write_file(
    dir: &Dir,
    name: &str,
    bytes: &[u8],
    state: &FileState,
    owner: Option<(u32, u32)>,
) -> io::Result<(Option<File>, FileId)> {
    if state.is_link() {
        rustix::fs::symlinkat(OsStr::from_bytes(bytes), dir, name)?;
        return Ok((None, FileId::of(&dir.symlink_metadata(name)?)));
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = dir.open_with(name, &options)?.into_std();
    file.write_all(bytes)?;
    let metadata = Metadata::from_file(&file)?;
    let own = (MetadataExt::uid(&metadata), MetadataExt::gid(&metadata));
    if let Some((user, group)) = owner.filter(|owner| *owner != own) {
        let (user, group) = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(group));
        // Only the administrator may give files away; others keep their own.
        rustix::fs::fchown(&file, Some(user), Some(group)).ok();
    }
    // After the owner: changing it clears some of the bits.
    rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(state.mode))?;
    Ok((Some(file), FileId::of(&metadata)))
}

/// Renames a file and fails when the new name exists.
pub(crate) fn create(from: &Dir, temp: &str, to: &Dir, name: &str) -> io::Result<()> {
    match renameat_with(from, temp, to, name, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => {
            if to.symlink_metadata(name).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            from.rename(temp, to, name)
        }
        result => Ok(result?),
    }
}

/// Some file systems cannot exchange two names.
pub(crate) fn is_unsupported(error: Errno) -> bool {
    error == Errno::INVAL || error == Errno::NOSYS || error == Errno::OPNOTSUPP || error == Errno::NOTSUP
}
