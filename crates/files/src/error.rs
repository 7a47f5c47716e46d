//! Why a file operation failed: a code that callers rely on, and a sentence.

use std::io;

use protocol::FailureCode;

use crate::LogicalPath;

/// A failed file operation. The message names files by their path in the workspace, never by one of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct FileError {
    pub code: FailureCode,
    pub message: String,
}

impl FileError {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self::new(FailureCode::AccessDenied, message)
    }

    pub(crate) fn invalid_path(message: impl Into<String>) -> Self {
        Self::new(FailureCode::InvalidPath, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(FailureCode::Conflict, message)
    }

    pub(crate) fn not_found(path: &LogicalPath) -> Self {
        Self::new(FailureCode::NotFound, format!("{path} does not exist"))
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(FailureCode::Cancelled, "the operation was cancelled")
    }

    pub(crate) fn too_large(path: &LogicalPath, bytes: u64, limit: u64) -> Self {
        let message = format!("{path} has {bytes} bytes; at most {limit} can be read at once");
        Self::new(FailureCode::TooLarge, message)
    }

    /// The failure of an operating system call for a file. The text of the error is replaced, because it may hold a path.
    pub(crate) fn io(path: &LogicalPath, doing: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::not_found(path),
            io::ErrorKind::PermissionDenied => Self::denied(format!("{path}: the server may not {doing} it")),
            io::ErrorKind::AlreadyExists => {
                Self::conflict(format!("{path} already exists; read it first, or choose another name"))
            }
            io::ErrorKind::IsADirectory => Self::is_directory(path),
            io::ErrorKind::NotADirectory => {
                Self::invalid_path(format!("a part of {path} is a file, not a folder"))
            }
            io::ErrorKind::InvalidFilename => Self::invalid_path(format!("{path}: the name is too long")),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::new(FailureCode::Internal, format!("could not {doing} {path}: the disk is full"))
            }
            kind => Self::new(FailureCode::Internal, format!("could not {doing} {path}: {kind}")),
        }
    }

    pub(crate) fn is_directory(path: &LogicalPath) -> Self {
        Self::new(FailureCode::InvalidArgument, format!("{path} is a folder, not a file"))
    }

    pub(crate) fn not_directory(path: &LogicalPath) -> Self {
        Self::new(FailureCode::InvalidArgument, format!("{path} is not a folder"))
    }
}
