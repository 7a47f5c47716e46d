//! A file or link as it is found now, with its content as far as that is wanted.

use std::{fs::File, io::Read};

use cap_std::fs::Metadata;
use protocol::{FailureCode, FileState};
use sha2::{Digest, Sha256};

use crate::{
    FileDomain, FileError, LogicalPath,
    change::MAX_CHANGED_BYTES,
    contents::hex,
    folders::Folders,
    lookup::Links,
    present::{look_at, open, read_link, read_open},
    seen::Seen,
};

const BUFFER: usize = 64 << 10;

pub(crate) struct Found {
    pub seen: Seen,
    /// Without its content if that cannot be read, or is too large to be changed.
    pub state: FileState,
    /// The content, if it was read and is not too large to be kept.
    pub bytes: Option<Vec<u8>>,
}

impl Found {
    /// The content with its name.
    pub fn content(&self) -> Option<(&str, &[u8])> {
        self.bytes.as_ref().map(|bytes| (self.state.content.as_str(), bytes.as_slice()))
    }
}

/// Looks at a file or link and reads it, up to `kept` bytes; of a larger one only the hash is made. `None` where there is none.
pub(crate) fn find(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
    kept: u64,
) -> Result<Option<Found>, FileError> {
    let (dir, metadata) = match look_at(domain, folders, path, Links::KeepLast) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(error) => return Ok(unreadable(folders, path, &error)),
    };
    let Some(seen) = Seen::of(&metadata) else { return Ok(None) };
    if seen.mode == FileState::LINK {
        let Ok(link) = read_link(&dir, path) else { return Ok(None) };
        return Ok(Some(Found { seen, state: link.state, bytes: Some(link.bytes) }));
    }
    let (file, metadata) = match open(domain, &dir, path) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        Err(_) => return Ok(Some(unknown(seen))),
    };
    let Some(seen) = Seen::of(&metadata) else { return Ok(None) };
    if seen.bytes > MAX_CHANGED_BYTES {
        return Ok(Some(unknown(seen)));
    }
    Ok(Some(read(domain, path, &file, &metadata, seen, kept).unwrap_or_else(|| unknown(seen))))
}

fn read(
    domain: &FileDomain,
    path: &LogicalPath,
    file: &File,
    metadata: &Metadata,
    seen: Seen,
    kept: u64,
) -> Option<Found> {
    match read_open(domain, file, metadata, path, kept) {
        Ok((state, bytes)) => Some(Found { seen, state, bytes: Some(bytes) }),
        Err(error) if error.code == FailureCode::TooLarge => {
            let content = match domain.root.known.get(&seen.stamp) {
                Some(content) => content,
                None => hash(file)?,
            };
            let state = FileState { content, bytes: seen.bytes, mode: seen.mode };
            Some(Found { seen, state, bytes: None })
        }
        Err(_) => None,
    }
}

/// The hash of a file that is too large to be held; `None` if it grows above what can be changed.
fn hash(file: &File) -> Option<String> {
    let (mut hash, mut buffer, mut size) = (Sha256::new(), vec![0; BUFFER], 0_u64);
    let mut file = file.take(MAX_CHANGED_BYTES + 1);
    loop {
        let count = file.read(&mut buffer).ok()?;
        if count == 0 {
            return (size <= MAX_CHANGED_BYTES).then(|| hex(&hash.finalize()));
        }
        size += count as u64;
        hash.update(buffer.get(..count)?);
    }
}

/// A file that must not be read: one with several hard links, or of somebody else. A folder or device is none.
fn unreadable(folders: &mut Folders, path: &LogicalPath, error: &FileError) -> Option<Found> {
    if error.code != FailureCode::AccessDenied {
        return None;
    }
    let dir = folders.get(&path.parent()?).ok()?;
    let seen = Seen::of(&dir.symlink_metadata(path.name()).ok()?)?;
    Some(unknown(seen))
}

fn unknown(seen: Seen) -> Found {
    let state = FileState { content: String::new(), bytes: seen.bytes, mode: seen.mode };
    Found { seen, state, bytes: None }
}
