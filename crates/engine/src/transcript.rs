//! Sessions as folders: exported, imported, and mirrored while the server runs. What the files hold is decided by
//! [`protocol::transcript`], a pure fold; here it meets the store and the file system.

mod check;
mod export;
mod folder;
mod import;
mod mirror;
mod source;

use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
};

use protocol::{IdError, SessionId, transcript::TranscriptError};
use store::StoreError;

pub use export::export;
pub use import::{Import, import};
pub use mirror::Mirror;

/// Runs what waits for a disk on a thread for that.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TranscriptFault> + Send + 'static,
) -> Result<T, TranscriptFault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(gone) => match gone.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(TranscriptFault::ShuttingDown),
        },
    }
}

/// What a session became, or was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub session: SessionId,
    pub messages: usize,
    pub agents: usize,
    pub files: usize,
}

/// Why a session could not be written to a folder or read from one. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptFault {
    #[error("there is no session {0:?}; `concertino usage --by session` lists those there are")]
    NoSession(SessionId),
    #[error("{} is there already and is not empty; name another folder", .0.display())]
    NotEmpty(PathBuf),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0}")]
    Wrong(#[from] TranscriptError),
    #[error("{}: {wrong}", .path.display())]
    Unreadable { path: PathBuf, wrong: String },
    #[error("{what} is there already; import with --new-ids to have it a second time")]
    Taken { what: String },
    #[error("the session id {0}")]
    Id(IdError),
    #[error("the server is shutting down; try again when it runs")]
    ShuttingDown,
    #[error("the database did not take it: {0}")]
    Store(#[from] StoreError),
}

impl TranscriptFault {
    fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }

    fn unreadable(path: &Path, wrong: impl Into<String>) -> Self {
        Self::Unreadable { path: path.to_owned(), wrong: wrong.into() }
    }
}
