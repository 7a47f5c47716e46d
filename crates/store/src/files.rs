//! The files of artifacts: one folder per workspace, each file named by its id and readable by its owner only.
//!
//! A file is complete or does not exist: it is written under another name, synced, and renamed. Events that refer to it
//! are stored afterwards, so a crash leaves at most a file without an event; [`ArtifactFiles::sweep`] removes those.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use protocol::{ArtifactId, WorkspaceId};

use crate::durability::{make_private_folder, sync_folder};

pub(crate) struct ArtifactFiles {
    root: PathBuf,
    /// Files that this process wrote, until the files of earlier processes have been swept.
    fresh: Mutex<Option<HashSet<ArtifactId>>>,
}

impl ArtifactFiles {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, fresh: Mutex::new(Some(HashSet::new())) }
    }

    /// Writes a file. When this returns, the file survives a crash.
    pub(crate) fn put(&self, workspace: &WorkspaceId, id: &ArtifactId, bytes: &[u8]) -> io::Result<()> {
        let written = self.begin(workspace, id).and_then(|mut file| file.write_all(bytes));
        written.and_then(|()| self.finish(workspace, id)).inspect_err(|_| self.discard(workspace, id))
    }

    /// Begins a file that is written piece by piece. It is not there for readers until it is finished.
    pub(crate) fn begin(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<File> {
        make_private_folder(&self.root)?;
        make_private_folder(&self.folder(workspace))?;
        let partial = self.partial(workspace, id)?;
        if let Some(fresh) = self.fresh.lock().as_mut() {
            fresh.insert(id.clone());
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(partial)
    }

    /// Finishes a file that was begun and written. When this returns, the file survives a crash.
    pub(crate) fn finish(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<()> {
        let partial = self.partial(workspace, id)?;
        File::open(&partial)?.sync_all()?;
        fs::rename(&partial, self.path(workspace, id)?)?;
        sync_folder(&self.folder(workspace))
    }

    /// Removes a file that was begun. That may fail; then the next start removes it.
    pub(crate) fn discard(&self, workspace: &WorkspaceId, id: &ArtifactId) {
        if let Ok(partial) = self.partial(workspace, id) {
            drop(fs::remove_file(partial));
        }
    }

    /// Where a file is until it is finished.
    fn partial(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<PathBuf> {
        Ok(self.path(workspace, id)?.with_extension("part"))
    }

    pub(crate) fn path(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<PathBuf> {
        Ok(self.folder(workspace).join(file_name(id)?))
    }

    pub(crate) fn open(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<File> {
        File::open(self.path(workspace, id)?)
    }

    pub(crate) fn has(&self, workspace: &WorkspaceId, id: &ArtifactId) -> bool {
        self.path(workspace, id).is_ok_and(|path| path.is_file())
    }

    pub(crate) fn remove(&self, workspace: &WorkspaceId, id: &ArtifactId) -> io::Result<()> {
        match fs::remove_file(self.path(workspace, id)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Removes the files of earlier processes that `is_known` does not accept; returns how many. Later calls remove
    /// nothing.
    pub(crate) fn sweep(&self, is_known: impl Fn(&ArtifactId) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        for folder in entries(&self.root)? {
            for file in entries(&folder)? {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let id = ArtifactId::new(name.strip_suffix(".part").unwrap_or(name));
                let is_fresh = match self.fresh.lock().as_ref() {
                    Some(fresh) => fresh.contains(&id),
                    None => return Ok(removed),
                };
                if !is_fresh && (name.ends_with(".part") || !is_known(&id)) {
                    fs::remove_file(&file)?;
                    removed += 1;
                }
            }
        }
        *self.fresh.lock() = None;
        Ok(removed)
    }

    /// People choose the names of workspaces, so characters that could have a meaning in a path are written as hex.
    fn folder(&self, workspace: &WorkspaceId) -> PathBuf {
        let mut name = String::from("w-");
        for byte in workspace.as_str().bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
                other => name.push_str(&format!("_{other:02x}")),
            }
        }
        self.root.join(name)
    }
}

/// Refuses ids that were not made here, so that no id can lead out of the folder.
fn file_name(id: &ArtifactId) -> io::Result<&str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if id.as_str().is_empty() || id.as_str().len() > 100 || !id.as_str().bytes().all(plain) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "this is not the id of a file"));
    }
    Ok(id.as_str())
}

/// The entries of a folder; none when there is no such folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn text(files: &ArtifactFiles, workspace: &str, id: &str) -> Option<String> {
        let mut text = String::new();
        let mut file = files.open(&WorkspaceId::new(workspace), &ArtifactId::new(id)).ok()?;
        file.read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn a_file_is_private_and_belongs_to_its_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let files = ArtifactFiles::new(folder.path().join("artifacts"));
        let workspace = WorkspaceId::new("../Über/a");
        files.put(&workspace, &ArtifactId::new("art_1"), b"one").unwrap();
        assert_eq!(text(&files, "../Über/a", "art_1").as_deref(), Some("one"));
        assert_eq!(text(&files, "default", "art_1"), None);
        assert_eq!(text(&files, "../Über/a", "../art_1"), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = files.folder(&workspace).join("art_1");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        }
        files.remove(&workspace, &ArtifactId::new("art_1")).unwrap();
        files.remove(&workspace, &ArtifactId::new("art_1")).unwrap();
        assert_eq!(text(&files, "../Über/a", "art_1"), None);
    }

    #[test]
    fn what_a_crash_left_is_swept_and_what_is_known_or_new_stays() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = WorkspaceId::new("default");
        let before = ArtifactFiles::new(folder.path().to_owned());
        for id in ["art_known", "art_lost"] {
            before.put(&workspace, &ArtifactId::new(id), b"x").unwrap();
        }
        fs::write(before.folder(&workspace).join("art_half.part"), b"ha").unwrap();
        let files = ArtifactFiles::new(folder.path().to_owned());
        files.put(&workspace, &ArtifactId::new("art_new"), b"x").unwrap();
        assert_eq!(files.sweep(|id| id.as_str() == "art_known").unwrap(), 2);
        assert_eq!(files.sweep(|_| false).unwrap(), 0, "once only");
        let mut left: Vec<_> = entries(&files.folder(&workspace)).unwrap();
        left.sort();
        let names: Vec<_> = left.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["art_known", "art_new"]);
    }
}
