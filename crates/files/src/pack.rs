//! Many contents in one file: it is written, synced and removed at once.
//!
//! A pack begins with a list of names (SHA-256) and sizes; the contents follow in the same order. It gets its name when it
//! is complete and is never written again, but for the names of contents that are removed: they become zeros.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufWriter, Read, Write},
    os::unix::fs::FileExt,
    sync::Arc,
};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::FallocateFlags;

use crate::contents::hex;

const MAGIC: &[u8; 8] = b"CONTENT1";
const SUFFIX: &str = ".pack";
const HASH: usize = 32;
/// A name and a size.
const SLOT: usize = HASH + 8;
const FIRST_SLOT: u64 = 12;
/// A pack has at most so many contents.
pub(crate) const MOST: usize = 100_000;
const BUFFER: usize = 256 << 10;
/// Space is given back in blocks of this size.
const BLOCK: u64 = 4096;

/// Where a content is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pack: Arc<str>,
    slot: u64,
    start: u64,
    pub bytes: u64,
}

/// All packs of a folder.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    places: HashMap<String, Place>,
    /// How many contents each pack still has.
    left: HashMap<Arc<str>, usize>,
}

impl Packs {
    /// Reads the lists of all packs. What is no pack is left alone.
    pub fn of(dir: &Dir) -> io::Result<Self> {
        let mut packs = Self::default();
        for entry in dir.entries()?.flatten() {
            if let Some(name) = entry.file_name().to_str().filter(|name| name.ends_with(SUFFIX))
                && let Ok(places) = read_list(dir, name)
            {
                packs.add(name, places);
            }
        }
        Ok(packs)
    }

    pub fn add(&mut self, pack: &str, places: Vec<(String, Place)>) {
        self.left.insert(pack.into(), places.len());
        for (name, place) in places {
            if let Some(other) = self.places.insert(name, place) {
                // Kept twice: the other one is removed with its pack.
                self.left.entry(other.pack).and_modify(|left| *left = left.saturating_sub(1));
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Place> {
        self.places.get(name)
    }

    pub fn sizes(&self) -> impl Iterator<Item = (&String, u64)> {
        self.places.iter().map(|(name, place)| (name, place.bytes))
    }

    /// Removes a content, and its pack with the last one.
    pub fn remove(&mut self, dir: &Dir, name: &str) -> io::Result<()> {
        let Some(place) = self.places.remove(name) else { return Ok(()) };
        let left = self.left.get(&place.pack).copied().unwrap_or_default().saturating_sub(1);
        if left == 0 {
            self.left.remove(&place.pack);
            return dir.remove_file(&*place.pack);
        }
        self.left.insert(Arc::clone(&place.pack), left);
        erase(dir, &place)
    }
}

/// The name of the pack with this identifier.
pub(crate) fn name_of(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

/// Writes a pack under a temporary name and returns it open.
pub(crate) fn write(dir: &Dir, temp: &str, contents: &[(&str, &[u8])]) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let file = dir.open_with(temp, &options)?.into_std();
    let mut writer = BufWriter::with_capacity(BUFFER, file);
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    writer.write_all(MAGIC)?;
    writer.write_all(&u32::try_from(contents.len()).map_err(|_| invalid())?.to_le_bytes())?;
    for (name, bytes) in contents {
        writer.write_all(&hash_of(name).ok_or_else(invalid)?)?;
        writer.write_all(&(bytes.len() as u64).to_le_bytes())?;
    }
    for (_, bytes) in contents {
        writer.write_all(bytes)?;
    }
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

/// The places of contents that were written into a pack, with their names.
pub(crate) fn places_in(pack: &str, contents: &[(&str, &[u8])]) -> Vec<(String, Place)> {
    let sizes = contents.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.len() as u64));
    places(pack, contents.len(), sizes)
}

pub(crate) fn read(dir: &Dir, place: &Place) -> io::Result<Vec<u8>> {
    let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    let mut bytes = vec![0; usize::try_from(place.bytes).map_err(too_large)?];
    dir.open(&*place.pack)?.into_std().read_exact_at(&mut bytes, place.start)?;
    Ok(bytes)
}

fn read_list(dir: &Dir, pack: &str) -> io::Result<Vec<(String, Place)>> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let mut file = dir.open(pack)?.into_std();
    let length = file.metadata()?.len();
    let mut head = [0; FIRST_SLOT as usize];
    file.read_exact(&mut head)?;
    let (magic, count) = head.split_first_chunk::<8>().ok_or_else(damaged)?;
    let count = u32::from_le_bytes(count.try_into().map_err(|_| damaged())?) as usize;
    if magic != MAGIC || count > MOST {
        return Err(damaged());
    }
    let mut list = vec![0; count * SLOT];
    file.read_exact(&mut list)?;
    let slots = list.chunks_exact(SLOT).map(|slot| {
        let (name, bytes) = slot.split_at(HASH);
        let name = if name.iter().all(|byte| *byte == 0) { String::new() } else { hex(name) };
        (name, bytes.try_into().map_or(u64::MAX, u64::from_le_bytes))
    });
    let mut places = places(pack, count, slots);
    let ends_inside = |place: &Place| place.start.checked_add(place.bytes).is_some_and(|end| end <= length);
    if !places.iter().all(|(_, place)| ends_inside(place)) {
        return Err(damaged());
    }
    places.retain(|(name, _)| !name.is_empty());
    Ok(places)
}

fn places(pack: &str, count: usize, sizes: impl Iterator<Item = (String, u64)>) -> Vec<(String, Place)> {
    let pack: Arc<str> = pack.into();
    let mut start = FIRST_SLOT + (count * SLOT) as u64;
    let place = |(slot, (name, bytes)): (usize, (String, u64))| {
        let slot = FIRST_SLOT + (slot * SLOT) as u64;
        let place = Place { pack: Arc::clone(&pack), slot, start, bytes };
        start = start.saturating_add(bytes);
        (name, place)
    };
    sizes.enumerate().map(place).collect()
}

/// Forgets the name of a content and gives its space back.
fn erase(dir: &Dir, place: &Place) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    let file = dir.open_with(&*place.pack, &options)?.into_std();
    file.write_all_at(&[0; HASH], place.slot)?;
    let (start, end) = (place.start.next_multiple_of(BLOCK), (place.start + place.bytes) / BLOCK * BLOCK);
    if start < end {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Some file systems cannot do it: then the space is free when the pack is removed.
        rustix::fs::fallocate(&file, flags, start, end - start).ok();
    }
    Ok(())
}

fn hash_of(name: &str) -> Option<[u8; HASH]> {
    let mut hash = [0; HASH];
    let digits = name.as_bytes().as_chunks::<2>().0;
    if name.len() != 2 * HASH {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(digits) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}
