//! A folder of a transcript that is read. Whoever wrote it is not trusted: every name is opened in the folder that was
//! opened before it, no link is followed, only regular files are read, nothing waits for another process, and
//! everything is bounded.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use serde::de::DeserializeOwned;

use super::{TranscriptFault, folder::plain_name};

/// What a folder may hold in all, and one line of it.
const MOST_BYTES: u64 = 1 << 30;
const LONGEST_LINE: usize = 64 << 20;
const MOST_FILES: usize = 20_000;
const NO_FILE: &str = "is no regular file; links are not followed";
const NO_FOLDER: &str = "is no folder; links are not followed";

/// How much of the bounds is left.
pub(super) struct Bounds {
    bytes: u64,
    files: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, files: MOST_FILES }
    }
}

/// An open folder, and the path that errors name.
pub(super) struct Source {
    folder: Dir,
    path: PathBuf,
}

impl Source {
    /// The folder that a person named; the way to it may lead over links.
    pub(super) fn open(path: &Path) -> Result<Self, TranscriptFault> {
        let folder = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|error| TranscriptFault::file(path, error))?;
        Ok(Self { folder, path: path.to_owned() })
    }

    /// A folder in this one; none when it is not there.
    pub(super) fn folder(&self, name: &str) -> Result<Option<Self>, TranscriptFault> {
        let path = self.path.join(name);
        match self.folder.open_dir_nofollow(name) {
            Ok(folder) => Ok(Some(Self { folder, path })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) => Err(TranscriptFault::unreadable(&path, NO_FOLDER)),
        }
    }

    /// The folders in this one, by name. There must be nothing else in it.
    pub(super) fn folders(&self, bounds: &mut Bounds) -> Result<Vec<(String, Self)>, TranscriptFault> {
        let fail = |error| TranscriptFault::file(&self.path, error);
        let mut folders = Vec::new();
        for entry in self.folder.entries().map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            let path = self.path.join(&name);
            let name =
                name.to_str().ok_or_else(|| TranscriptFault::unreadable(&path, "has no plain name"))?;
            let name = plain_name(name, &self.path)?.to_owned();
            bounds.take_file(&path)?;
            let folder = self.folder(&name)?.ok_or_else(|| TranscriptFault::unreadable(&path, NO_FOLDER))?;
            folders.push((name, folder));
        }
        folders.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(folders)
    }

    /// A regular file, and how long it says it is.
    fn file(&self, name: &str) -> Result<(File, u64, PathBuf), TranscriptFault> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        // A pipe is opened without waiting for somebody to write to it, and then seen to be no file.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match self.folder.open_with(name, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(TranscriptFault::file(&path, error));
            }
            Err(_) => return Err(TranscriptFault::unreadable(&path, NO_FILE)),
        };
        let metadata = file.metadata().map_err(|error| TranscriptFault::file(&path, error))?;
        if !metadata.is_file() {
            return Err(TranscriptFault::unreadable(&path, NO_FILE));
        }
        Ok((file, metadata.len(), path))
    }

    /// How long a regular file is.
    pub(super) fn length(&self, name: &str) -> Result<u64, TranscriptFault> {
        self.file(name).map(|(_, length, _)| length)
    }

    /// A whole regular file.
    pub(super) fn read_file(&self, name: &str, bounds: &mut Bounds) -> Result<Vec<u8>, TranscriptFault> {
        let (file, _, path) = self.file(name)?;
        bounds.take_file(&path)?;
        let mut bytes = Vec::new();
        let read = file.take(bounds.bytes + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| TranscriptFault::file(&path, error))?;
        bounds.bytes = bounds.bytes.checked_sub(read as u64).ok_or_else(|| {
            TranscriptFault::unreadable(&path, format!("the folder holds more than {} MiB", MOST_BYTES >> 20))
        })?;
        Ok(bytes)
    }

    pub(super) fn read_json<T: DeserializeOwned>(
        &self,
        name: &str,
        bounds: &mut Bounds,
    ) -> Result<T, TranscriptFault> {
        let bytes = self.read_file(name, bounds)?;
        serde_json::from_slice(&bytes).map_err(|error| self.wrong(name, error.to_string()))
    }

    pub(super) fn read_lines<T: DeserializeOwned>(
        &self,
        name: &str,
        bounds: &mut Bounds,
    ) -> Result<Vec<T>, TranscriptFault> {
        let bytes = self.read_file(name, bounds)?;
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let mut lines = Vec::new();
        if text.is_empty() {
            return Ok(lines);
        }
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let wrong = |wrong: String| self.wrong(name, format!("line {}: {wrong}", number + 1));
            if line.len() > LONGEST_LINE {
                return Err(wrong(format!("is longer than {} MiB", LONGEST_LINE >> 20)));
            }
            lines.push(serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?);
        }
        Ok(lines)
    }

    /// What is wrong with a file of this folder.
    pub(super) fn wrong(&self, name: &str, wrong: impl Into<String>) -> TranscriptFault {
        TranscriptFault::unreadable(&self.path.join(name), wrong)
    }
}

impl Bounds {
    fn take_file(&mut self, path: &Path) -> Result<(), TranscriptFault> {
        self.files = self.files.checked_sub(1).ok_or_else(|| {
            TranscriptFault::unreadable(path, format!("the folder has more than {MOST_FILES} files"))
        })?;
        Ok(())
    }
}
