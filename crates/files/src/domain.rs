//! The work directory as tools see it: look at, open, read and list what is below it.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cap_std::{ambient_authority, fs::Dir};
use protocol::{FailureCode, FileState, Timestamp, file_change::EntryKind};
use sha2::{Digest, Sha256};

use crate::{
    FileError, HardLinks, LogicalPath,
    contents::{hex, sha256},
    handle::{Guard, SharedDir, info_of},
    ignored::Ignored,
    known::KnownContents,
    lookup::{Found, Links, look_up, look_up_named},
    path::is_temp_name,
    protected::{FileId, Protected},
};

/// Files up to this size are identified by their content.
const HASHED_BYTES: u64 = 8 << 20;
/// A folder is listed up to this many entries.
const MAX_LISTED: usize = 50_000;

/// The files of a work directory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FileDomain {
    pub(crate) root: Arc<Root>,
}

#[derive(Debug)]
pub(crate) struct Root {
    pub dir: SharedDir,
    pub guard: Guard,
    given: PathBuf,
    canonical: PathBuf,
    /// Contents of files that were read to be changed, or for a snapshot.
    pub known: KnownContents,
    /// Held while a change set is applied.
    changing: Mutex<()>,
}

impl Root {
    /// The work directory in the operating system's words: as it was given, and without links.
    pub fn paths(&self) -> [&Path; 2] {
        [&self.canonical, &self.given]
    }

    pub fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub kind: EntryKind,
    pub bytes: u64,
    pub modified: Timestamp,
    /// The nanoseconds of the second in which it was modified.
    pub modified_nanoseconds: i64,
    /// The permission bits.
    pub mode: u32,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub file: std::fs::File,
    pub info: FileInfo,
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub state: FileState,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Control characters and bytes that are not UTF-8 are replaced; such a file cannot be opened by name.
    pub name: String,
    pub info: FileInfo,
    /// A `.gitignore` or a default hides it from the listings of agents.
    pub ignored: bool,
}

impl FileDomain {
    /// Opens a work directory. `protected` files and folders are never reachable, also when they are below it.
    pub fn open(workdir: &Path, protected: &[PathBuf], hard_links: HardLinks) -> Result<Self, FileError> {
        let failed = |error: std::io::Error| {
            let message = format!("the work directory cannot be opened: {}", error.kind());
            FileError::new(FailureCode::NotConfigured, message)
        };
        let canonical = std::fs::canonicalize(workdir).map_err(failed)?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
        let id = FileId::of(&dir.dir_metadata().map_err(failed)?);
        let protected = Protected::new(protected, id);
        if protected.contains(id) {
            let message =
                "the work directory is one of the server's own folders; choose another one with `--workdir`";
            return Err(FileError::new(FailureCode::NotConfigured, message));
        }
        let given = std::path::absolute(workdir).map_err(failed)?;
        let guard = Guard { protected, hard_links };
        let (dir, known, changing) = (dir.into(), KnownContents::default(), Mutex::new(()));
        let root = Root { dir, guard, given, canonical, known, changing };
        Ok(Self { root: root.into() })
    }

    /// Reads a path as it was written: relative to the work directory, below `/workspace`, or an absolute path of the
    /// operating system below the work directory.
    pub fn resolve(&self, written: &str) -> Result<LogicalPath, FileError> {
        LogicalPath::parse_below(written, &self.root.paths())
    }

    /// The path of what a path leads to when links are followed: rules for files hold for this one too.
    pub fn target(&self, path: &LogicalPath) -> Result<LogicalPath, FileError> {
        let mut names = Vec::new();
        look_up_named(&self.root, path, Links::Follow, &mut names)
            .map_err(|refusal| refusal.at(path, "look at"))?;
        let mut target = LogicalPath::root();
        for name in names {
            let unusable =
                || FileError::invalid_path(format!("{path} leads to a file with an unusable name"));
            target = name.to_str().and_then(|name| target.join(name)).ok_or_else(unusable)?;
        }
        Ok(target)
    }

    /// Looks at a file or folder; the last link is not followed.
    pub fn info(&self, path: &LogicalPath) -> Result<FileInfo, FileError> {
        let failed = |refusal: crate::handle::Refusal| refusal.at(path, "look at");
        match look_up(&self.root, path, Links::KeepLast).map_err(failed)? {
            Found::Folder(dir) => {
                Ok(info_of(&dir.dir_metadata().map_err(|e| FileError::io(path, "look at", &e))?))
            }
            Found::Entry { metadata, .. } => Ok(info_of(&metadata)),
        }
    }

    /// Opens a regular file for reading; never blocks on a FIFO or a device.
    pub fn open_file(&self, path: &LogicalPath) -> Result<OpenFile, FileError> {
        let failed = |refusal: crate::handle::Refusal| refusal.at(path, "read");
        match look_up(&self.root, path, Links::Follow).map_err(failed)? {
            Found::Folder(_) => Err(FileError::is_directory(path)),
            Found::Entry { parent, name, metadata } => {
                self.root.guard.check_file(&metadata).map_err(failed)?;
                let (file, info) = self.root.guard.open_file(&parent, &name).map_err(failed)?;
                Ok(OpenFile { file, info })
            }
        }
    }

    /// Reads a whole file; fails with `too_large` above the limit.
    pub fn read(&self, path: &LogicalPath, limit: u64) -> Result<Content, FileError> {
        let OpenFile { file, info } = self.open_file(path)?;
        let bytes = read_all(&file, info.bytes, path, limit)?;
        let state = FileState { content: sha256(&bytes), bytes: bytes.len() as u64, mode: info.mode };
        Ok(Content { bytes, state })
    }

    /// Identifies the present content of a file; `None` when it does not exist. It is the SHA-256 of files up to 8 MiB, else
    /// made of size and time.
    pub fn version(&self, path: &LogicalPath) -> Result<Option<String>, FileError> {
        let OpenFile { file, info } = match self.open_file(path) {
            Err(error) if error.code == FailureCode::NotFound => return Ok(None),
            opened => opened?,
        };
        if info.bytes > HASHED_BYTES {
            let (seconds, nanoseconds) = (info.modified.0.div_euclid(1000), info.modified_nanoseconds);
            return Ok(Some(format!("{} bytes of {seconds}.{nanoseconds:09}", info.bytes)));
        }
        Ok(Some(hash_all(file, path)?))
    }

    /// Lists a folder, sorted by name. The server's temporary files and protected entries are left out.
    pub fn list(&self, path: &LogicalPath) -> Result<Vec<Entry>, FileError> {
        Ok(self.list_up_to(path, MAX_LISTED)?.0)
    }

    /// Lists the first `limit` entries of a folder, and says whether there are more.
    pub fn list_up_to(&self, path: &LogicalPath, limit: usize) -> Result<(Vec<Entry>, bool), FileError> {
        let dir = self.folder(path)?;
        let failed = |error: std::io::Error| FileError::io(path, "list", &error);
        let ignored = Ignored::above(&self.root, path).enter(&self.root.guard, &dir, path.relative());
        let (mut entries, mut cut) = (Vec::new(), false);
        for entry in dir.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            // It may be gone already.
            let Ok(metadata) = dir.symlink_metadata(&name) else { continue };
            let shown = shown_name(&name);
            if is_temp_name(&shown) || self.root.guard.protected.contains(FileId::of(&metadata)) {
                continue;
            }
            if entries.len() == limit {
                cut = true;
                break;
            }
            let ignored = ignored.hides(path.relative(), &shown, metadata.is_dir());
            entries.push(Entry { name: shown, info: info_of(&metadata), ignored });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok((entries, cut))
    }

    /// The handle of a folder.
    pub(crate) fn folder(&self, path: &LogicalPath) -> Result<SharedDir, FileError> {
        match look_up(&self.root, path, Links::Follow).map_err(|refusal| refusal.at(path, "list"))? {
            Found::Folder(dir) => Ok(dir),
            Found::Entry { .. } => Err(FileError::not_directory(path)),
        }
    }
}

/// A name for people and models: without control characters, which could pretend to be another line.
pub(crate) fn shown_name(name: &std::ffi::OsStr) -> String {
    let name = name.to_string_lossy();
    if name.chars().any(char::is_control) {
        return name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    }
    name.into_owned()
}

/// Reads a file that may grow while it is read.
pub(crate) fn read_all(
    file: &std::fs::File,
    size: u64,
    path: &LogicalPath,
    limit: u64,
) -> Result<Vec<u8>, FileError> {
    if size > limit {
        return Err(FileError::too_large(path, size, limit));
    }
    // One byte more, so that the end is seen without growing.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().saturating_add(1));
    let failed = |error: std::io::Error| FileError::io(path, "read", &error);
    // Through `dyn`: a file would be asked for its size and position first, which are known.
    let mut file = file.take(limit.saturating_add(1));
    let file: &mut dyn Read = &mut file;
    file.read_to_end(&mut bytes).map_err(failed)?;
    let read = bytes.len() as u64;
    if read > limit { Err(FileError::too_large(path, read, limit)) } else { Ok(bytes) }
}

fn hash_all(file: std::fs::File, path: &LogicalPath) -> Result<String, FileError> {
    let mut file = file.take(HASHED_BYTES + 1);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(|error| FileError::io(path, "read", &error))? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}
