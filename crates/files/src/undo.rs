//! What a change set has done so far, and how to take it back.

use std::{convert::Infallible, io};

use cap_std::fs::{Permissions, PermissionsExt};
use protocol::{FailureCode, FileState};
use rustix::fs::{RenameFlags, renameat_with};

use crate::{
    ContentStore, FileDomain, FileError, LogicalPath,
    commit::{Temp, create, write_file},
    folders::Folders,
    handle::Refusal,
    in_parallel,
    path::temp_name,
    protected::FileId,
};

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Wrote {
        temp: Temp,
        /// `None`: the file may be incomplete.
        id: Option<FileId>,
    },
    MovedAway {
        path: LogicalPath,
        to: Temp,
    },
    /// The old file has the temporary name now.
    Exchanged {
        path: LogicalPath,
        temp: Temp,
    },
    /// The old file is gone; its content is kept.
    Replaced {
        path: LogicalPath,
        before: FileState,
    },
    Created {
        path: LogicalPath,
        temp: Temp,
    },
    MadeFolder(LogicalPath),
    RemovedFolder {
        path: LogicalPath,
        mode: u32,
    },
}

/// The steps of a change set, in order.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    pub done: Vec<Done>,
}

impl Undo {
    /// Removes the old files: the change set is complete. The new ones have their names.
    pub fn forget(&self, domain: &FileDomain) {
        let old = self.done.iter().filter_map(|done| match done {
            Done::Exchanged { temp, .. } | Done::MovedAway { to: temp, .. } => Some(temp),
            _ => None,
        });
        let temps: Vec<&Temp> = old.collect();
        let remove = |folders: &mut Folders, temp: &&Temp| {
            remove_temp(folders, temp);
            Ok::<_, Infallible>(())
        };
        in_parallel(&temps, || Folders::new(domain), remove).ok();
    }

    /// Undoes all steps, the last one first, and returns the error to report.
    pub fn take_back(
        &mut self,
        folders: &mut Folders,
        contents: &ContentStore,
        mut error: FileError,
    ) -> FileError {
        while let Some(done) = self.done.pop() {
            let Err(path) = undo(folders, contents, done) else { continue };
            error.code = FailureCode::Internal;
            error
                .message
                .push_str(&format!("; {path} could not be restored, look at it before you continue"));
        }
        error
    }
}

fn undo(folders: &mut Folders, contents: &ContentStore, done: Done) -> Result<(), LogicalPath> {
    match done {
        Done::Wrote { temp, id } => {
            // Somebody who renames files at the same moment may have put another file there: it is not ours to remove.
            if id.is_none_or(|id| is_same(folders, &temp, id)) {
                remove_temp(folders, &temp);
            }
            Ok(())
        }
        Done::MovedAway { path, to } => rename(folders, &to, &path, RenameFlags::NOREPLACE).map_err(|_| path),
        Done::Exchanged { path, temp } => {
            rename(folders, &temp, &path, RenameFlags::EXCHANGE).map_err(|_| path)
        }
        Done::Created { path, temp } => move_back(folders, &path, &temp).map_err(|_| path),
        Done::Replaced { path, before } => write_back(folders, contents, &path, &before).map_err(|_| path),
        Done::MadeFolder(path) => {
            // Somebody else may have put a file into it: then it stays.
            folders.remove(&path).ok();
            Ok(())
        }
        Done::RemovedFolder { path, mode } => make_folder(folders, &path, mode).map_err(|_| path),
    }
}

fn parent(path: &LogicalPath) -> Result<LogicalPath, Refusal> {
    path.parent().ok_or(Refusal::IsDirectory)
}

fn rename(folders: &mut Folders, temp: &Temp, path: &LogicalPath, flags: RenameFlags) -> Result<(), Refusal> {
    let (from, to) = (folders.get(&temp.folder)?, folders.get(&parent(path)?)?);
    if flags == RenameFlags::NOREPLACE {
        return Ok(create(&from, &temp.name, &to, path.name())?);
    }
    Ok(renameat_with(&from, temp.name.as_str(), &to, path.name(), flags).map_err(io::Error::from)?)
}

fn move_back(folders: &mut Folders, path: &LogicalPath, temp: &Temp) -> Result<(), Refusal> {
    let (from, to) = (folders.get(&parent(path)?)?, folders.get(&temp.folder)?);
    Ok(from.rename(path.name(), &to, &temp.name)?)
}

fn write_back(
    folders: &mut Folders,
    contents: &ContentStore,
    path: &LogicalPath,
    before: &FileState,
) -> Result<(), Refusal> {
    let failed = |_| Refusal::Io(io::ErrorKind::Other.into());
    let dir = folders.get(&parent(path)?)?;
    let (bytes, temp) = (contents.get(&before.content).map_err(failed)?, temp_name().map_err(failed)?);
    write_file(&dir, &temp, &bytes, before, None)?;
    Ok(dir.rename(&temp, &dir, path.name())?)
}

fn make_folder(folders: &mut Folders, path: &LogicalPath, mode: u32) -> Result<(), Refusal> {
    let dir = folders.get(&parent(path)?)?;
    dir.create_dir(path.name())?;
    Ok(dir.set_permissions(path.name(), Permissions::from_mode(mode))?)
}

fn is_same(folders: &mut Folders, temp: &Temp, id: FileId) -> bool {
    let Ok(dir) = folders.get(&temp.folder) else { return false };
    dir.symlink_metadata(&temp.name).is_ok_and(|found| FileId::of(&found) == id)
}

fn remove_temp(folders: &mut Folders, temp: &Temp) {
    if let Ok(dir) = folders.get(&temp.folder) {
        // Best effort: it is hidden, and `complete` removes what is left.
        dir.remove_file(&temp.name).ok();
    }
}
