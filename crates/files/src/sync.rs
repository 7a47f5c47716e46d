//! Writes what was changed to disk: with few waits for many files.

use std::{fs::File, io};

use cap_std::fs::{Dir, OpenOptions};
use protocol::Durability;

use crate::parallel::on_threads;

/// From this many files on, one flush of the file system takes less time than one of each file.
const FLUSHED_TOGETHER: usize = 32;
/// So many files are synced at a time: the disk does not take longer for several than for one.
const AT_ONCE: usize = 16;

/// How files that are written together get to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syncing {
    /// They are left to the operating system.
    None,
    Each,
    /// With one flush of their file system.
    Together,
}

impl Syncing {
    pub fn of(files: usize, durability: Durability) -> Self {
        match durability {
            Durability::Process => Self::None,
            Durability::Power if files < FLUSHED_TOGETHER => Self::Each,
            Durability::Power => Self::Together,
        }
    }
}

/// Writes files to disk, several at a time.
pub(crate) fn sync_files(files: &[File]) -> io::Result<()> {
    on_threads(AT_ONCE, 1, files, || (), |(), file| file.sync_all())?;
    Ok(())
}

/// Writes the entries of a folder to disk.
pub(crate) fn sync_folder(dir: &Dir) -> io::Result<()> {
    opened(dir)?.sync_all()
}

/// Writes everything in the file system of the folder to disk.
pub(crate) fn sync_file_system(dir: &Dir) -> io::Result<()> {
    Ok(rustix::fs::syncfs(opened(dir)?)?)
}

/// Handles of folders only name them; what is synced must be open for reading.
fn opened(dir: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    Ok(dir.open_with(".", &options)?.into_std())
}
