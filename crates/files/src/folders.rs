//! The folders of a change set: opened once, made where they are missing, removed where they are left empty.

use std::{collections::HashMap, io};

use cap_std::fs::Dir;

use crate::{
    FileDomain, LogicalPath,
    commit::Change,
    handle::{Refusal, SharedDir},
    lookup::{Found, Links, look_up},
    path::is_temp_name,
};

/// So many folders are kept open; then all are closed, and opened again when they are needed.
const KEPT_OPEN: usize = 128;

/// Handles of folders by path. No link is followed to any of them.
pub(crate) struct Folders<'a> {
    domain: &'a FileDomain,
    open: HashMap<LogicalPath, SharedDir>,
}

impl<'a> Folders<'a> {
    pub fn new(domain: &'a FileDomain) -> Self {
        Self { domain, open: HashMap::new() }
    }

    pub fn get(&mut self, path: &LogicalPath) -> Result<SharedDir, Refusal> {
        if let Some(dir) = self.open.get(path) {
            return Ok(SharedDir::clone(dir));
        }
        match look_up(&self.domain.root, path, Links::Refuse)? {
            Found::Folder(dir) => {
                if self.open.len() >= KEPT_OPEN {
                    self.open.clear();
                }
                self.open.insert(path.clone(), SharedDir::clone(&dir));
                Ok(dir)
            }
            Found::Entry { .. } => Err(io::Error::from(io::ErrorKind::NotADirectory).into()),
        }
    }

    /// The deepest folder on the way to `path` that exists. A link on the way is in the place of a folder that is yet to be
    /// made, if the link is deleted first.
    pub fn deepest(&mut self, path: &LogicalPath) -> Result<(LogicalPath, SharedDir), Refusal> {
        let mut path = path.clone();
        loop {
            let missing = match self.get(&path) {
                Ok(dir) => return Ok((path, dir)),
                Err(refusal) if refusal.is_absent() || matches!(refusal, Refusal::ThroughLink) => refusal,
                Err(refusal) => return Err(refusal),
            };
            path = path.parent().ok_or(missing)?;
        }
    }

    /// Opens a folder and makes it, and those above it, where they are missing; `made` is told each new one.
    pub fn make(
        &mut self,
        path: &LogicalPath,
        made: &mut dyn FnMut(&LogicalPath),
    ) -> Result<SharedDir, Refusal> {
        match self.get(path) {
            Err(refusal) if refusal.is_not_found() => {}
            found => return found,
        }
        let parent = path.parent().ok_or_else(|| Refusal::Io(io::ErrorKind::NotFound.into()))?;
        match self.make(&parent, made)?.create_dir(path.name()) {
            Ok(()) => made(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        self.get(path)
    }

    /// Removes an empty folder.
    pub fn remove(&mut self, path: &LogicalPath) -> Result<(), Refusal> {
        let parent = path.parent().ok_or(Refusal::IsDirectory)?;
        self.get(&parent)?.remove_dir(path.name())?;
        self.open.retain(|open, _| open != path && !path.contains(open));
        Ok(())
    }

    /// Removes the folder of a deleted file, and those above it, as long as they are empty.
    pub fn remove_emptied(&mut self, file: &LogicalPath) {
        let mut folder = file.parent();
        while let Some(path) = folder.filter(|path| !path.is_root()) {
            // It is not empty, or not a folder any more.
            if self.remove(&path).is_err_and(|refusal| !refusal.is_not_found()) {
                return;
            }
            folder = path.parent();
        }
    }
}

/// After a crash: removes temporary files from all folders of a change set, and the folders that its deletions emptied.
pub(crate) fn clean_up(domain: &FileDomain, changes: &[Change<'_>]) {
    let mut folders = Folders::new(domain);
    let mut cleaned = std::collections::HashSet::new();
    for change in changes {
        let mut folder = change.path.parent();
        while let Some(path) = folder {
            if !cleaned.insert(path.clone()) {
                break;
            }
            if let Ok(dir) = folders.get(&path) {
                remove_temp_files(&dir);
            }
            folder = path.parent();
        }
    }
    for change in changes.iter().filter(|change| change.after.is_none()) {
        folders.remove_emptied(&change.path);
    }
}

fn remove_temp_files(dir: &Dir) {
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_temp_name) {
            // Best effort: such files are hidden, and the next attempt removes them.
            entry.remove_file().ok();
        }
    }
}
