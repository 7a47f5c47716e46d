//! Files and folders that no access reaches, even if a link, a mount or a hard link puts them below the work directory.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use cap_fs_ext::MetadataExt;
use cap_std::{ambient_authority, fs::Dir};

/// Whether files with several hard links can be used. One of the others may be outside of the work directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    #[default]
    Refuse,
    Allow,
}

/// A file or folder, whatever its name: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub fn of(metadata: &impl MetadataExt) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    pub fn is_on_same_device(self, other: Self) -> bool {
        self.device == other.device
    }
}

/// So many entries of protected folders are compared with a file that has several hard links.
const MAX_COMPARED: usize = 100_000;
const MAX_DEPTH: usize = 8;

/// The protected files and folders, compared by identity: another name, a bind mount or a hard link does not help.
#[derive(Debug)]
pub(crate) struct Protected {
    ids: HashSet<FileId>,
    folders: Vec<PathBuf>,
    /// The work directory may be inside of a protected folder.
    root: FileId,
}

impl Protected {
    /// Paths that do not exist protect nothing.
    pub fn new(paths: &[PathBuf], root: FileId) -> Self {
        let mut protected = Self { ids: HashSet::new(), folders: Vec::new(), root };
        for path in paths {
            let Ok(metadata) = std::fs::metadata(path) else { continue };
            protected.ids.insert(FileId::of(&metadata));
            if metadata.is_dir() {
                protected.folders.push(path.clone());
            }
        }
        protected
    }

    pub fn contains(&self, id: FileId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether a file is one of those in a protected folder now. Used for files with several hard links only: it reads
    /// the folders. When they are too big to be read, the answer is yes.
    pub fn holds(&self, id: FileId) -> bool {
        let mut left = MAX_COMPARED;
        self.folders.iter().any(|folder| self.folder_holds(folder, id, &mut left))
    }

    fn folder_holds(&self, folder: &Path, id: FileId, left: &mut usize) -> bool {
        match Dir::open_ambient_dir(folder, ambient_authority()) {
            Ok(dir) => self.dir_holds(&dir, id, left, MAX_DEPTH),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    fn dir_holds(&self, dir: &Dir, id: FileId, left: &mut usize, depth: usize) -> bool {
        let Ok(entries) = dir.entries() else { return true };
        for entry in entries.flatten() {
            let Some(fewer) = left.checked_sub(1) else { return true };
            *left = fewer;
            let Ok(metadata) = entry.metadata() else { continue };
            let found = FileId::of(&metadata);
            if found == id {
                return true;
            }
            if metadata.is_dir() && found != self.root {
                let inside = entry.open_dir();
                if depth == 0 || inside.is_ok_and(|inside| self.dir_holds(&inside, id, left, depth - 1)) {
                    return true;
                }
            }
        }
        false
    }
}
