//! The present state of a file that is to be changed. Links are not followed on the way to it.

use std::{fs::File, os::unix::ffi::OsStringExt};

use cap_std::fs::{Dir, Metadata, MetadataExt};
use protocol::FileState;

use crate::{
    Content, FileDomain, FileError, LogicalPath,
    change::MAX_CHANGED_BYTES,
    contents::sha256,
    domain::read_all,
    folders::Folders,
    handle::{Refusal, SharedDir},
    known::Stamp,
    lookup::Links,
    protected::FileId,
};

/// A file as it was found.
pub(crate) struct Present {
    pub state: FileState,
    pub mark: Mark,
    pub owner: (u32, u32),
}

/// Recognises a file that was looked at before, also after it was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
    mode: u32,
}

impl Present {
    fn new(state: FileState, metadata: &Metadata) -> Self {
        let owner = (MetadataExt::uid(metadata), MetadataExt::gid(metadata));
        Self { state, mark: Mark::of(metadata), owner }
    }
}

impl Mark {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            id: FileId::of(metadata),
            bytes: metadata.len(),
            modified: (MetadataExt::mtime(metadata), MetadataExt::mtime_nsec(metadata)),
            mode: MetadataExt::mode(metadata),
        }
    }
}

/// Reads files that are to be changed, one after the other; folders on the way are opened once.
pub struct FilesToChange<'a> {
    domain: &'a FileDomain,
    folders: Folders<'a>,
}

impl<'a> FilesToChange<'a> {
    pub fn of(domain: &'a FileDomain) -> Self {
        Self { domain, folders: Folders::new(domain) }
    }

    /// Reads a file that is to be changed; `None` when it does not exist. No link is followed, and it fails where the
    /// change would fail.
    pub fn read(&mut self, path: &LogicalPath, limit: u64) -> Result<Option<Content>, FileError> {
        let found = read_present(self.domain, &mut self.folders, path, limit)?;
        Ok(found.map(|(present, bytes)| Content { bytes, state: present.state }))
    }
}

/// The state of a file; `None` when it does not exist. It is opened only if it was touched since it was last read.
pub(crate) fn present(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
    links: Links,
) -> Result<Option<Present>, FileError> {
    let Some((dir, metadata)) = look_at(domain, folders, path, links)? else { return Ok(None) };
    if metadata.file_type().is_symlink() {
        let content = present_or_absent(read_link(&dir, path), path)?;
        return Ok(content.map(|content| Present::new(content.state, &metadata)));
    }
    if let Some(content) = domain.root.known.get(&Stamp::of(&metadata)) {
        let state = FileState { content, bytes: metadata.len(), mode: mode_of(&metadata) };
        return Ok(Some(Present::new(state, &metadata)));
    }
    let found = open(domain, &dir, path)?;
    let read = |(file, metadata): (File, Metadata)| {
        let (state, _) = read_open(domain, &file, &metadata, path, MAX_CHANGED_BYTES)?;
        Ok(Present::new(state, &metadata))
    };
    found.map(read).transpose()
}

/// As [`present`], with the content.
pub(crate) fn read_present(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
    limit: u64,
) -> Result<Option<(Present, Vec<u8>)>, FileError> {
    let Some((dir, _)) = look_at(domain, folders, path, Links::Refuse)? else { return Ok(None) };
    let Some((file, metadata)) = open(domain, &dir, path)? else { return Ok(None) };
    let (state, bytes) = read_open(domain, &file, &metadata, path, limit)?;
    Ok(Some((Present::new(state, &metadata), bytes)))
}

/// Looks at a file without opening it; what is no file is refused.
pub(crate) fn look_at(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
    links: Links,
) -> Result<Option<(SharedDir, Metadata)>, FileError> {
    let parent = path.parent().ok_or_else(|| FileError::is_directory(path))?;
    let dir = match folders.get(&parent) {
        Err(refusal) if refusal.is_absent() => return Ok(None),
        found => found.map_err(|refusal| refusal.at(path, "write"))?,
    };
    let look = || -> Result<_, Refusal> {
        let metadata = dir.symlink_metadata(path.name())?;
        if metadata.file_type().is_symlink() {
            return if links == Links::KeepLast { Ok(metadata) } else { Err(Refusal::ThroughLink) };
        }
        domain.root.guard.check_file(&metadata)?;
        Ok(metadata)
    };
    let metadata = present_or_absent(look(), path)?;
    Ok(metadata.map(|metadata| (dir, metadata)))
}

pub(crate) fn open(
    domain: &FileDomain,
    dir: &Dir,
    path: &LogicalPath,
) -> Result<Option<(File, Metadata)>, FileError> {
    present_or_absent(domain.root.guard.open_checked(dir, path.name().as_ref()), path)
}

fn present_or_absent<T>(found: Result<T, Refusal>, path: &LogicalPath) -> Result<Option<T>, FileError> {
    match found {
        Err(refusal) if refusal.is_absent() => Ok(None),
        found => Ok(Some(found.map_err(|refusal| refusal.at(path, "read"))?)),
    }
}

/// A link as a file whose content is its target.
pub(crate) fn read_link(dir: &Dir, path: &LogicalPath) -> Result<Content, Refusal> {
    let bytes = dir.read_link_contents(path.name())?.into_os_string().into_vec();
    let state = FileState { content: sha256(&bytes), bytes: bytes.len() as u64, mode: FileState::LINK };
    Ok(Content { bytes, state })
}

impl FileDomain {
    /// Reads a file or, as a file whose content is its target, a link; fails with `too_large` above the limit. No link is
    /// followed.
    pub fn read_itself(&self, path: &LogicalPath, limit: u64) -> Result<Content, FileError> {
        let mut folders = Folders::new(self);
        let found = look_at(self, &mut folders, path, Links::KeepLast)?;
        let (dir, metadata) = found.ok_or_else(|| FileError::not_found(path))?;
        if metadata.file_type().is_symlink() {
            return read_link(&dir, path).map_err(|refusal| refusal.at(path, "read"));
        }
        let (file, metadata) = open(self, &dir, path)?.ok_or_else(|| FileError::not_found(path))?;
        let (state, bytes) = read_open(self, &file, &metadata, path, limit)?;
        Ok(Content { bytes, state })
    }
}

/// Reads an open file. Its hash is made only if it was touched since it was last made.
pub(crate) fn read_open(
    domain: &FileDomain,
    file: &File,
    metadata: &Metadata,
    path: &LogicalPath,
    limit: u64,
) -> Result<(FileState, Vec<u8>), FileError> {
    let stamp = Stamp::of(metadata);
    let is_settled = stamp.is_settled();
    let bytes = read_all(file, metadata.len(), path, limit)?;
    let is_same = is_settled && Metadata::from_file(file).is_ok_and(|now| Stamp::of(&now) == stamp);
    let known = &domain.root.known;
    let content = match known.get(&stamp).filter(|_| is_same) {
        Some(content) => content,
        None => {
            let content = sha256(&bytes);
            if is_same {
                known.remember(stamp, &content);
            }
            content
        }
    };
    Ok((FileState { content, bytes: bytes.len() as u64, mode: mode_of(metadata) }, bytes))
}

pub(crate) fn mode_of(metadata: &Metadata) -> u32 {
    MetadataExt::mode(metadata) & 0o7777
}
