//! Opens entries of a folder by its handle: one name at a time, never through a link, never anything but regular files.

use std::{ffi::OsStr, io, sync::Arc};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, FileType, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use protocol::{FailureCode, Timestamp, file_change::EntryKind};

use crate::{
    FileError, HardLinks, LogicalPath,
    domain::FileInfo,
    protected::{FileId, Protected},
};

/// Why an entry cannot be used.
#[derive(Debug)]
pub(crate) enum Refusal {
    Io(io::Error),
    /// It is, or is in, a protected folder.
    Protected,
    HardLinks,
    /// A FIFO, a socket or a device.
    NotRegular,
    IsDirectory,
    /// A link leads out of the work directory.
    Escapes,
    TooManyLinks,
    /// Links are not followed where files are written.
    ThroughLink,
    /// Somebody else changed it meanwhile.
    Changed,
    /// A folder with files is where a file shall be.
    NotEmpty,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        // `O_NOFOLLOW` met a link: it was put there between our look at the entry and the opening.
        let swapped = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        if swapped { Self::ThroughLink } else { Self::Io(error) }
    }
}

impl Refusal {
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Nothing is there: it, or a folder on the way to it, does not exist.
    pub fn is_absent(&self) -> bool {
        let Self::Io(error) = self else { return false };
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// The error for the person or model that named the file; `doing` is a verb: "read", "write".
    pub fn at(self, path: &LogicalPath, doing: &str) -> FileError {
        let denied = |why: &str| FileError::denied(format!("{path} {why}"));
        match self {
            Self::Io(error) => FileError::io(path, doing, &error),
            Self::Protected => denied("belongs to the server and cannot be used"),
            Self::HardLinks => denied(
                "has several hard links, so that it may also be a file outside of the work directory; copy it to a new file first",
            ),
            Self::NotRegular => denied("is not a regular file (a device, FIFO or socket)"),
            Self::IsDirectory => FileError::is_directory(path),
            Self::Escapes => denied("leads out of the work directory through a symbolic link"),
            Self::TooManyLinks => FileError::new(
                FailureCode::InvalidPath,
                format!("{path} leads through too many symbolic links"),
            ),
            Self::Changed => FileError::conflict(format!(
                "{path} was changed by somebody else meanwhile; read it again and repeat the change"
            )),
            Self::NotEmpty => FileError::conflict(format!("{path} is a folder that is not empty")),
            Self::ThroughLink => denied("leads through a symbolic link; name the file itself"),
        }
    }
}

/// What may be opened: everything but protected files and, unless allowed, files with several hard links.
#[derive(Debug)]
pub(crate) struct Guard {
    pub protected: Protected,
    pub hard_links: HardLinks,
}

impl Guard {
    /// Opens a folder in a folder.
    pub fn open_folder(&self, parent: &Dir, name: &OsStr) -> Result<Dir, Refusal> {
        let dir = parent.open_dir_nofollow(name)?;
        if self.protected.contains(FileId::of(&dir.dir_metadata()?)) {
            return Err(Refusal::Protected);
        }
        Ok(dir)
    }

    /// Opens a regular file for reading. A FIFO or device that replaced it meanwhile does not block.
    pub fn open_file(&self, parent: &Dir, name: &OsStr) -> Result<(std::fs::File, FileInfo), Refusal> {
        let (file, metadata) = self.open_checked(parent, name)?;
        Ok((file, info_of(&metadata)))
    }

    /// As [`Guard::open_file`], with all that is known of the file.
    pub fn open_checked(&self, parent: &Dir, name: &OsStr) -> Result<(std::fs::File, Metadata), Refusal> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        options.custom_flags(rustix::fs::OFlags::NOCTTY.bits().cast_signed());
        let file = parent.open_with(name, &options)?.into_std();
        let metadata = Metadata::from_file(&file)?;
        self.check_file(&metadata)?;
        Ok((file, metadata))
    }

    /// Whether the file that was opened, or is about to be, may be used.
    pub fn check_file(&self, metadata: &Metadata) -> Result<(), Refusal> {
        let id = FileId::of(metadata);
        if self.protected.contains(id) {
            return Err(Refusal::Protected);
        }
        if metadata.is_dir() {
            return Err(Refusal::IsDirectory);
        }
        if !metadata.is_file() {
            return Err(Refusal::NotRegular);
        }
        if MetadataExt::nlink(metadata) > 1 {
            if self.hard_links == HardLinks::Refuse {
                return Err(Refusal::HardLinks);
            }
            if self.protected.holds(id) {
                return Err(Refusal::Protected);
            }
        }
        Ok(())
    }
}

/// A folder handle that several threads share.
pub(crate) type SharedDir = Arc<Dir>;

pub(crate) fn kind_of(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}

pub(crate) fn info_of(metadata: &Metadata) -> FileInfo {
    let nanoseconds = MetadataExt::mtime_nsec(metadata);
    FileInfo {
        kind: kind_of(metadata.file_type()),
        bytes: metadata.len(),
        modified: Timestamp(MetadataExt::mtime(metadata).saturating_mul(1000) + nanoseconds / 1_000_000),
        modified_nanoseconds: nanoseconds,
        mode: MetadataExt::mode(metadata) & 0o7777,
    }
}
