//! Contents of files, kept under their SHA-256 in a folder of the data directory.
//!
//! They are what a change set is completed from after a crash, and what a revert writes back.

use std::{
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions, OpenOptionsExt},
};
use protocol::FailureCode;
use sha2::{Digest, Sha256};

use crate::{
    FileError,
    handle::sync_folder,
    path::{is_temp_name, temp_name},
};

/// From this many files on, one flush of the file system is cheaper than one of each file.
pub(crate) const FLUSHED_TOGETHER: usize = 8;

/// Contents by SHA-256. Cheap to clone. Equal contents are kept once: the caller knows which are still needed.
#[derive(Clone, Debug)]
pub struct ContentStore {
    dir: Arc<Dir>,
}

impl ContentStore {
    /// Opens the folder, and makes it if there is none. Open it once: files that are being written are taken for left-overs of
    /// a crash and removed.
    pub fn open(folder: &Path) -> Result<Self, FileError> {
        // The folder belongs to the server: its own path needs no check.
        std::fs::create_dir_all(folder).map_err(failed("open the kept contents"))?;
        let dir =
            Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed("open the kept contents"))?;
        let store = Self { dir: dir.into() };
        store.remove_temp_files();
        Ok(store)
    }

    /// Keeps a content and returns its name; it is on disk when this returns.
    pub fn put(&self, bytes: &[u8]) -> Result<String, FileError> {
        let mut names = self.put_all(&[bytes])?;
        names.pop().ok_or_else(|| FileError::new(FailureCode::Internal, "no content was kept"))
    }

    /// Keeps several contents; they are on disk when this returns.
    pub(crate) fn put_all(&self, contents: &[&[u8]]) -> Result<Vec<String>, FileError> {
        let together = contents.len() >= FLUSHED_TOGETHER;
        let mut names = Vec::with_capacity(contents.len());
        let mut written: Vec<(String, String)> = Vec::new();
        for bytes in contents {
            let name = sha256(bytes);
            if !self.contains(&name) && !written.iter().any(|(_, kept)| *kept == name) {
                let temp = temp_name()?;
                let result = self.write(&temp, bytes, !together);
                written.push((temp, name.clone()));
                if let Err(error) = result {
                    self.discard(&written);
                    return Err(error);
                }
            }
            names.push(name);
        }
        if let Err(error) = self.publish(&written, together) {
            self.discard(&written);
            return Err(failed("keep contents")(error));
        }
        Ok(names)
    }

    fn write(&self, temp: &str, bytes: &[u8], sync: bool) -> Result<(), FileError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let write = || {
            let mut file = self.dir.open_with(temp, &options)?;
            file.write_all(bytes)?;
            if sync { file.sync_all() } else { Ok(()) }
        };
        write().map_err(failed("keep a content"))
    }

    fn publish(&self, written: &[(String, String)], flush: bool) -> io::Result<()> {
        if written.is_empty() {
            return Ok(());
        }
        if flush {
            sync_file_system(&self.dir)?;
        }
        for (temp, name) in written {
            self.dir.rename(temp, &self.dir, name)?;
        }
        sync_folder(&self.dir)
    }

    fn discard(&self, written: &[(String, String)]) {
        for (temp, _) in written {
            // Best effort: the next start removes what is left.
            self.dir.remove_file(temp).ok();
        }
    }

    /// Reads a content; fails when it is not kept or damaged.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, FileError> {
        check_name(name)?;
        let mut bytes = Vec::new();
        let missing =
            |_| FileError::new(FailureCode::NotFound, format!("the content {name} is not kept any more"));
        let mut file = self.dir.open(name).map_err(missing)?;
        file.read_to_end(&mut bytes).map_err(failed("read a kept content"))?;
        if sha256(&bytes) != name {
            return Err(FileError::new(FailureCode::Internal, format!("the kept content {name} is damaged")));
        }
        Ok(bytes)
    }

    pub fn contains(&self, name: &str) -> bool {
        check_name(name).is_ok() && self.dir.symlink_metadata(name).is_ok()
    }

    /// Removes a content; nothing happens when it is not kept.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        check_name(name)?;
        match self.dir.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove a kept content")(error))
            }
            _ => Ok(()),
        }
    }

    /// The size of all contents together.
    pub fn bytes(&self) -> Result<u64, FileError> {
        Ok(self.sizes()?.into_iter().map(|(_, bytes)| bytes).sum())
    }

    /// The names of all contents with their sizes.
    pub fn sizes(&self) -> Result<Vec<(String, u64)>, FileError> {
        let mut sizes = Vec::new();
        for entry in self.dir.entries().map_err(failed("list the kept contents"))?.flatten() {
            let (name, Ok(metadata)) = (entry.file_name(), entry.metadata()) else { continue };
            if let Some(name) = name.to_str().filter(|name| check_name(name).is_ok()) {
                sizes.push((name.to_owned(), metadata.len()));
            }
        }
        Ok(sizes)
    }

    fn remove_temp_files(&self) {
        let Ok(entries) = self.dir.entries() else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(is_temp_name) {
                // Best effort: it only takes space.
                entry.remove_file().ok();
            }
        }
    }
}

/// Writes everything in the file system of the folder to disk.
pub(crate) fn sync_file_system(dir: &Dir) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true);
    let folder = dir.open_with(".", &options)?;
    Ok(rustix::fs::syncfs(folder)?)
}

/// A name is a hash: nothing else reaches the folder.
fn check_name(name: &str) -> Result<(), FileError> {
    let is_hash = name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let invalid = || FileError::new(FailureCode::InvalidArgument, "the name of a content must be a SHA-256");
    is_hash.then_some(()).ok_or_else(invalid)
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> FileError {
    move |error| FileError::new(FailureCode::Internal, format!("could not {doing}: {}", error.kind()))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_kept_once_and_found_by_their_hash() {
        let folder = tempfile::tempdir().unwrap();
        let store = ContentStore::open(&folder.path().join("contents")).unwrap();
        let name = store.put(b"abc").unwrap();
        assert_eq!(name, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(store.put(b"abc").unwrap(), name);
        let many: Vec<Vec<u8>> = (0..20_u8).map(|n| vec![n % 10; 100]).collect();
        let names = store.put_all(&many.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
        for (name, bytes) in names.iter().zip(&many) {
            assert_eq!(store.get(name).unwrap(), *bytes);
        }
        assert_eq!(store.bytes().unwrap(), 3 + 10 * 100);
        store.remove(&name).unwrap();
        store.remove(&name).unwrap();
        assert_eq!(store.get(&name).unwrap_err().code, FailureCode::NotFound);
        assert_eq!(store.sizes().unwrap().len(), 10);
    }

    #[test]
    fn names_that_are_no_hash_and_damaged_contents_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = ContentStore::open(folder.path()).unwrap();
        for name in ["", "..", "../x", "/etc/passwd", &"A".repeat(64), &"a".repeat(63)] {
            assert_eq!(store.get(name).unwrap_err().code, FailureCode::InvalidArgument, "{name}");
            assert_eq!(store.remove(name).unwrap_err().code, FailureCode::InvalidArgument, "{name}");
        }
        let name = store.put(b"abc").unwrap();
        std::fs::write(folder.path().join(&name), b"abd").unwrap();
        assert_eq!(store.get(&name).unwrap_err().code, FailureCode::Internal);
    }

    #[test]
    fn files_that_a_crash_left_are_removed_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".concertino-0011.tmp"), b"half").unwrap();
        let store = ContentStore::open(folder.path()).unwrap();
        assert!(!folder.path().join(".concertino-0011.tmp").exists());
        assert_eq!(store.bytes().unwrap(), 0);
    }
}
