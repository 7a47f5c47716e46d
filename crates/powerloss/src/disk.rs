//! The files and folders of one disk, and the operations that programs perform on them.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs, io,
    path::Path,
};

use crate::{
    file::{self, File},
    folder::{self, Folder},
};

/// The number of a file or folder (inode).
pub type Ino = u64;

/// What makes a created, renamed or removed name durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FolderSync {
    /// Only a sync of its folder, as POSIX requires.
    #[default]
    Required,
    /// Any sync: it writes the journal, which contains every earlier change of names. ext4 and XFS do this.
    Journaled,
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    NotFound,
    Exists,
    NotAFolder,
    IsAFolder,
    NotEmpty,
}

/// A name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub folder: Ino,
    pub name: &'a OsStr,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) mode: u16,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    File(File),
    Folder(Folder),
}

/// A disk: every file and folder as programs see it and as it is after a power loss.
#[derive(Debug)]
pub struct Disk {
    pub(crate) nodes: BTreeMap<Ino, Node>,
    pub(crate) folder_sync: FolderSync,
    next_ino: Ino,
    /// The number of the newest change.
    changes: u64,
    syncs: u64,
}

impl Disk {
    pub const ROOT: Ino = 1;

    pub fn empty(folder_sync: FolderSync) -> Self {
        let root = Node { mode: 0o755, content: Content::Folder(Folder::default()) };
        Self::of(BTreeMap::from([(Self::ROOT, root)]), folder_sync)
    }

    /// A disk on which everything is durable.
    pub(crate) fn of(nodes: BTreeMap<Ino, Node>, folder_sync: FolderSync) -> Self {
        let next_ino = nodes.keys().max().map_or(Self::ROOT, |last| last + 1);
        Self { nodes, folder_sync, next_ino, changes: 0, syncs: 0 }
    }

    /// How often a file or folder was synced.
    pub fn syncs(&self) -> u64 {
        self.syncs
    }

    /// How many changes of a file or folder are not synced.
    pub fn unsynced_in(&self, ino: Ino) -> usize {
        match self.nodes.get(&ino).map(|node| &node.content) {
            Some(Content::File(file)) => file.unsynced().len(),
            Some(Content::Folder(folder)) => folder.unsynced().len(),
            None => 0,
        }
    }

    pub fn lookup(&self, folder: Ino, name: &OsStr) -> Result<Ino, DiskError> {
        self.folder(folder)?.get(name).ok_or(DiskError::NotFound)
    }

    /// Finds a file or folder by its path below the root.
    pub fn find(&self, path: impl AsRef<Path>) -> Result<Ino, DiskError> {
        path.as_ref().iter().try_fold(Self::ROOT, |folder, name| self.lookup(folder, name))
    }

    pub fn create(&mut self, folder: Ino, name: &OsStr, mode: u16) -> Result<Ino, DiskError> {
        self.add(folder, name, Node { mode, content: Content::File(File::default()) })
    }

    pub fn make_folder(&mut self, folder: Ino, name: &OsStr, mode: u16) -> Result<Ino, DiskError> {
        self.add(folder, name, Node { mode, content: Content::Folder(Folder::default()) })
    }

    fn add(&mut self, folder: Ino, name: &OsStr, node: Node) -> Result<Ino, DiskError> {
        if self.folder(folder)?.get(name).is_some() {
            return Err(DiskError::Exists);
        }
        let ino = self.next_ino;
        self.next_ino += 1;
        self.nodes.insert(ino, node);
        self.change_folder(folder, folder::ChangeKind::Add { name: name.to_owned(), ino })?;
        Ok(ino)
    }

    /// Removes the name of a file. The content stays: it may be open, or come back with a power loss.
    pub fn unlink(&mut self, folder: Ino, name: &OsStr) -> Result<(), DiskError> {
        let ino = self.lookup(folder, name)?;
        self.file(ino)?;
        self.change_folder(folder, folder::ChangeKind::Remove { name: name.to_owned() })
    }

    pub fn remove_folder(&mut self, folder: Ino, name: &OsStr) -> Result<(), DiskError> {
        let ino = self.lookup(folder, name)?;
        if !self.folder(ino)?.names().is_empty() {
            return Err(DiskError::NotEmpty);
        }
        self.change_folder(folder, folder::ChangeKind::Remove { name: name.to_owned() })
    }

    /// A rename between two folders is two changes, of which a power loss may keep one.
    pub fn rename(&mut self, from: Entry<'_>, to: Entry<'_>) -> Result<(), DiskError> {
        let ino = self.lookup(from.folder, from.name)?;
        if let Some(Ok(replaced)) = self.folder(to.folder)?.get(to.name).map(|replaced| self.folder(replaced))
            && !replaced.names().is_empty()
        {
            return Err(DiskError::NotEmpty);
        }
        if from == to {
            return Ok(());
        }
        let (old, new): (OsString, OsString) = (from.name.to_owned(), to.name.to_owned());
        if from.folder == to.folder {
            return self.change_folder(from.folder, folder::ChangeKind::Rename { from: old, to: new, ino });
        }
        self.change_folder(to.folder, folder::ChangeKind::Add { name: new, ino })?;
        self.change_folder(from.folder, folder::ChangeKind::Remove { name: old })
    }

    pub fn read(&self, ino: Ino, offset: usize, size: usize) -> Result<&[u8], DiskError> {
        Ok(self.file(ino)?.read(offset, size))
    }

    pub fn content(&self, ino: Ino) -> Result<&[u8], DiskError> {
        Ok(self.file(ino)?.content())
    }

    pub fn write(&mut self, ino: Ino, offset: usize, bytes: &[u8]) -> Result<(), DiskError> {
        self.change_file(ino, file::ChangeKind::Write { offset, bytes: bytes.to_owned() })
    }

    pub fn set_length(&mut self, ino: Ino, length: usize) -> Result<(), DiskError> {
        self.change_file(ino, file::ChangeKind::Length(length))
    }

    pub fn set_mode(&mut self, ino: Ino, mode: u16) -> Result<(), DiskError> {
        self.nodes.get_mut(&ino).ok_or(DiskError::NotFound)?.mode = mode;
        Ok(())
    }

    /// `fsync` or `fdatasync` of a file, or `fsync` of a folder.
    pub fn sync(&mut self, ino: Ino) -> Result<(), DiskError> {
        self.syncs += 1;
        if self.folder_sync == FolderSync::Journaled {
            for node in self.nodes.values_mut() {
                if let Content::Folder(folder) = &mut node.content {
                    folder.sync();
                }
            }
        }
        match &mut self.nodes.get_mut(&ino).ok_or(DiskError::NotFound)?.content {
            Content::File(file) => file.sync(),
            Content::Folder(folder) => folder.sync(),
        }
        Ok(())
    }

    /// Copies everything, as programs see it now, into an ordinary folder.
    pub fn export(&self, to: &Path) -> io::Result<()> {
        self.export_folder(Self::ROOT, to)
    }

    fn export_folder(&self, folder: Ino, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to)?;
        let Some(Content::Folder(folder)) = self.nodes.get(&folder).map(|node| &node.content) else {
            return Ok(());
        };
        for (name, ino) in folder.names() {
            match self.nodes.get(ino).map(|node| &node.content) {
                Some(Content::File(file)) => fs::write(to.join(name), file.content())?,
                Some(Content::Folder(_)) => self.export_folder(*ino, &to.join(name))?,
                None => {}
            }
        }
        Ok(())
    }

    fn file(&self, ino: Ino) -> Result<&File, DiskError> {
        match &self.nodes.get(&ino).ok_or(DiskError::NotFound)?.content {
            Content::File(file) => Ok(file),
            Content::Folder(_) => Err(DiskError::IsAFolder),
        }
    }

    pub(crate) fn folder(&self, ino: Ino) -> Result<&Folder, DiskError> {
        match &self.nodes.get(&ino).ok_or(DiskError::NotFound)?.content {
            Content::Folder(folder) => Ok(folder),
            Content::File(_) => Err(DiskError::NotAFolder),
        }
    }

    fn change_file(&mut self, ino: Ino, kind: file::ChangeKind) -> Result<(), DiskError> {
        self.changes += 1;
        match &mut self.nodes.get_mut(&ino).ok_or(DiskError::NotFound)?.content {
            Content::File(file) => file.change(self.changes, kind),
            Content::Folder(_) => return Err(DiskError::IsAFolder),
        }
        Ok(())
    }

    fn change_folder(&mut self, folder: Ino, kind: folder::ChangeKind) -> Result<(), DiskError> {
        self.changes += 1;
        match &mut self.nodes.get_mut(&folder).ok_or(DiskError::NotFound)?.content {
            Content::Folder(folder) => folder.change(self.changes, kind),
            Content::File(_) => return Err(DiskError::NotAFolder),
        }
        Ok(())
    }
}
