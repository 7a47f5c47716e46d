//! Contents of files, kept under their SHA-256 in a folder of the data directory: each in a file of its own, or many that
//! are kept together in a pack.
//!
//! They are what a change set is completed from after a crash, and what a revert writes back.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions, OpenOptionsExt},
};
use protocol::{Durability, FailureCode};
use sha2::{Digest, Sha256};

use crate::{
    FileError,
    pack::{self, Packs},
    parallel::on_threads,
    path::{is_temp_name, random_name, temp_name},
    sync::sync_folder,
};

/// From this many contents on, they are written into one file.
const PACKED: usize = 8;
/// More bytes than these are worth a second thread.
const SMALL: usize = 256 << 10;

/// Contents by SHA-256. Cheap to clone. Equal contents are kept once: the caller knows which are still needed.
#[derive(Clone, Debug)]
pub struct ContentStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: Dir,
    durability: Durability,
    packs: Mutex<Packs>,
}

impl ContentStore {
    /// Opens the folder, and makes it if there is none. Open it once: files that are being written are taken for left-overs of
    /// a crash and removed. `durability` says what kept contents, and the change sets that use them, survive.
    pub fn open(folder: &Path, durability: Durability) -> Result<Self, FileError> {
        // The folder belongs to the server: its own path needs no check.
        std::fs::create_dir_all(folder).map_err(failed("open the kept contents"))?;
        let dir =
            Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed("open the kept contents"))?;
        remove_temp_files(&dir);
        Self::of(dir, durability)
    }

    /// Opens a folder that a running server may use, to read from it.
    pub fn open_to_read(folder: &Path) -> Result<Self, FileError> {
        let dir =
            Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed("open the kept contents"))?;
        Self::of(dir, Durability::default())
    }

    fn of(dir: Dir, durability: Durability) -> Result<Self, FileError> {
        let packs = Packs::of(&dir).map_err(failed("open the kept contents"))?.into();
        Ok(Self { shared: Arc::new(Shared { dir, durability, packs }) })
    }

    fn packs(&self) -> MutexGuard<'_, Packs> {
        self.shared.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn durability(&self) -> Durability {
        self.shared.durability
    }

    /// Keeps a content and returns its name.
    pub fn put(&self, bytes: &[u8]) -> Result<String, FileError> {
        let name = sha256(bytes);
        self.put_all(&[(&name, bytes)])?;
        Ok(name)
    }

    /// Keeps several contents, each with its name.
    pub(crate) fn put_all(&self, contents: &[(&str, &[u8])]) -> Result<(), FileError> {
        let mut seen = HashSet::new();
        let mut new: Vec<(&str, &[u8])> = Vec::new();
        for (name, bytes) in contents {
            if seen.insert(*name) && !self.contains(name) {
                new.push((*name, *bytes));
            }
        }
        for part in new.chunks(pack::MOST) {
            match part.len() {
                0..PACKED => self.keep_apart(part)?,
                _ => self.keep_packed(part)?,
            }
        }
        let is_durable = self.durability() == Durability::Power && !new.is_empty();
        if is_durable { sync_folder(&self.shared.dir).map_err(failed("keep contents")) } else { Ok(()) }
    }

    /// Keeps a few contents in files of their own.
    fn keep_apart(&self, contents: &[(&str, &[u8])]) -> Result<(), FileError> {
        let is_much = contents.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > SMALL;
        let threads = if is_much || self.durability() == Durability::Power { contents.len() } else { 1 };
        let keep = |(): &mut (), (name, bytes): &(&str, &[u8])| self.keep_alone(name, bytes);
        on_threads(threads, 1, contents, || (), keep)?;
        Ok(())
    }

    fn keep_alone(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        self.keep(name, |dir, temp| {
            let mut file = dir.open_with(temp, &options)?.into_std();
            file.write_all(bytes)?;
            Ok(file)
        })
    }

    fn keep_packed(&self, contents: &[(&str, &[u8])]) -> Result<(), FileError> {
        let name = pack::name_of(&random_name()?);
        self.keep(&name, |dir, temp| pack::write(dir, temp, contents))?;
        self.packs().add(&name, pack::places_in(&name, contents));
        Ok(())
    }

    /// Writes a file under a temporary name. It gets its name when it is complete: on disk, or written, as far as the
    /// durability asks for it.
    fn keep(&self, name: &str, write: impl FnOnce(&Dir, &str) -> io::Result<File>) -> Result<(), FileError> {
        let (dir, temp) = (&self.shared.dir, temp_name()?);
        let keep = || {
            let file = write(dir, &temp)?;
            if self.durability() == Durability::Power {
                file.sync_all()?;
            }
            rustix::fs::renameat(dir, temp.as_str(), dir, name)?;
            Ok(())
        };
        keep().map_err(|error| {
            // Best effort: the next start removes what is left.
            dir.remove_file(&temp).ok();
            failed("keep contents")(error)
        })
    }

    /// Reads a content; fails when it is not kept or damaged.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, FileError> {
        if name.is_empty() {
            return Err(FileError::new(FailureCode::NotFound, "the content was not kept"));
        }
        check_name(name)?;
        let place = self.packs().get(name).cloned();
        let bytes = match place {
            Some(place) => pack::read(&self.shared.dir, &place).map_err(failed("read a kept content"))?,
            None => self.read_alone(name)?,
        };
        if sha256(&bytes) != name {
            return Err(FileError::new(FailureCode::Internal, format!("the kept content {name} is damaged")));
        }
        Ok(bytes)
    }

    fn read_alone(&self, name: &str) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let missing =
            |_| FileError::new(FailureCode::NotFound, format!("the content {name} is not kept any more"));
        let mut file = self.shared.dir.open(name).map_err(missing)?;
        file.read_to_end(&mut bytes).map_err(failed("read a kept content"))?;
        Ok(bytes)
    }

    pub fn contains(&self, name: &str) -> bool {
        check_name(name).is_ok()
            && (self.packs().get(name).is_some() || self.shared.dir.symlink_metadata(name).is_ok())
    }

    /// Removes a content; nothing happens when it is not kept.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        if name.is_empty() {
            return Ok(());
        }
        check_name(name)?;
        let dir = &self.shared.dir;
        for removed in [self.packs().remove(dir, name), dir.remove_file(name)] {
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("remove a kept content")(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The size of all contents together.
    pub fn bytes(&self) -> Result<u64, FileError> {
        Ok(self.sizes()?.into_iter().map(|(_, bytes)| bytes).sum())
    }

    /// The names of all contents with their sizes.
    pub fn sizes(&self) -> Result<Vec<(String, u64)>, FileError> {
        let packs = self.packs();
        let mut sizes: Vec<(String, u64)> =
            packs.sizes().map(|(name, bytes)| (name.clone(), bytes)).collect();
        for entry in self.shared.dir.entries().map_err(failed("list the kept contents"))?.flatten() {
            let (name, Ok(metadata)) = (entry.file_name(), entry.metadata()) else { continue };
            if let Some(name) = name.to_str().filter(|name| check_name(name).is_ok())
                && packs.get(name).is_none()
            {
                sizes.push((name.to_owned(), metadata.len()));
            }
        }
        Ok(sizes)
    }
}

fn remove_temp_files(dir: &Dir) {
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_temp_name) {
            // Best effort: it only takes space.
            entry.remove_file().ok();
        }
    }
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
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_kept_once_and_found_by_their_hash() {
        kept_once(Durability::Power);
        kept_once(Durability::Process);
    }

    fn kept_once(durability: Durability) {
        let folder = tempfile::tempdir().unwrap();
        let store = ContentStore::open(&folder.path().join("contents"), durability).unwrap();
        let name = store.put(b"abc").unwrap();
        assert_eq!(name, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(store.put(b"abc").unwrap(), name);
        let many: Vec<(String, Vec<u8>)> =
            (0..200_u8).map(|n| vec![n % 100; 100]).map(|bytes| (sha256(&bytes), bytes)).collect();
        let named: Vec<(&str, &[u8])> =
            many.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        for count in [5, 200] {
            store.put_all(&named[..count]).unwrap();
            for (name, bytes) in &many[..count] {
                assert_eq!(store.get(name).unwrap(), *bytes);
            }
        }
        assert_eq!(store.bytes().unwrap(), 3 + 100 * 100);
        let files = std::fs::read_dir(folder.path().join("contents")).unwrap().count();
        assert_eq!(files, 1 + 5 + 1, "three small sets, and a pack");
        store.remove(&name).unwrap();
        store.remove(&name).unwrap();
        assert_eq!(store.get(&name).unwrap_err().code, FailureCode::NotFound);
        assert_eq!(store.sizes().unwrap().len(), 100);
    }

    #[test]
    fn packed_contents_are_found_and_removed_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let open = || ContentStore::open(folder.path(), Durability::Process).unwrap();
        let all: Vec<(String, Vec<u8>)> =
            (0..20_u8).map(|n| vec![n; usize::from(n) * 1000]).map(|bytes| (sha256(&bytes), bytes)).collect();
        let named: Vec<(&str, &[u8])> =
            all.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        open().put_all(&named).unwrap();
        std::fs::write(folder.path().join("other.pack"), b"CONTENT1\xff\xff\xff\xff").unwrap();
        for (at, (name, bytes)) in all.iter().enumerate() {
            assert_eq!(open().get(name).unwrap(), *bytes);
            assert_eq!(ContentStore::open_to_read(folder.path()).unwrap().sizes().unwrap().len(), 20 - at);
            open().remove(name).unwrap();
            assert!(!open().contains(name));
            for (name, bytes) in &all[at + 1..] {
                assert_eq!(open().get(name).unwrap(), *bytes);
            }
        }
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(
            left,
            ["other.pack"],
            "the pack is removed with its last content, and what is no pack is left alone"
        );
    }

    #[test]
    fn names_that_are_no_hash_and_damaged_contents_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = ContentStore::open(folder.path(), Durability::Power).unwrap();
        assert_eq!(store.get("").unwrap_err().code, FailureCode::NotFound);
        store.remove("").unwrap();
        for name in ["..", "../x", "/etc/passwd", &"A".repeat(64), &"a".repeat(63)] {
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
        let store = ContentStore::open(folder.path(), Durability::Power).unwrap();
        assert!(!folder.path().join(".concertino-0011.tmp").exists());
        assert_eq!(store.bytes().unwrap(), 0);
    }
}
