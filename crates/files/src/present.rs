//! The present state of a file that is to be changed. Links are not followed on the way to it.

use cap_std::fs::{Metadata, MetadataExt};
use protocol::FileState;

use crate::{
    Content, FileDomain, FileError, LogicalPath, change::MAX_CHANGED_BYTES, contents::sha256,
    domain::read_all, folders::Folders, handle::Refusal, protected::FileId,
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

impl FileDomain {
    /// Reads a file that is to be changed; `None` when it does not exist. No link is followed, and it fails where the
    /// change would fail.
    pub fn read_to_change(&self, path: &LogicalPath, limit: u64) -> Result<Option<Content>, FileError> {
        let found = read_present(self, &mut Folders::new(self), path, limit)?;
        Ok(found.map(|(present, bytes)| Content { bytes, state: present.state }))
    }
}

/// The state of a file; `None` when it does not exist.
pub(crate) fn present(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
) -> Result<Option<Present>, FileError> {
    Ok(read_present(domain, folders, path, MAX_CHANGED_BYTES)?.map(|(present, _)| present))
}

pub(crate) fn read_present(
    domain: &FileDomain,
    folders: &mut Folders,
    path: &LogicalPath,
    limit: u64,
) -> Result<Option<(Present, Vec<u8>)>, FileError> {
    let parent = path.parent().ok_or_else(|| FileError::is_directory(path))?;
    let dir = match folders.get(&parent) {
        Err(refusal) if refusal.is_absent() => return Ok(None),
        found => found.map_err(|refusal| refusal.at(path, "write"))?,
    };
    let name = path.name().as_ref();
    let guard = &domain.root.guard;
    let open = || -> Result<_, Refusal> {
        let metadata = dir.symlink_metadata(path.name())?;
        if metadata.file_type().is_symlink() {
            return Err(Refusal::ThroughLink);
        }
        guard.check_file(&metadata)?;
        let (file, info) = guard.open_file(&dir, name)?;
        let metadata = Metadata::from_file(&file)?;
        Ok((file, info, metadata))
    };
    let (file, info, metadata) = match open() {
        Err(refusal) if refusal.is_absent() => return Ok(None),
        opened => opened.map_err(|refusal| refusal.at(path, "read"))?,
    };
    let bytes = read_all(file, &info, path, limit)?;
    let state = FileState { content: sha256(&bytes), bytes: bytes.len() as u64, mode: info.mode };
    let owner = (MetadataExt::uid(&metadata), MetadataExt::gid(&metadata));
    Ok(Some((Present { state, mark: Mark::of(&metadata), owner }, bytes)))
}
