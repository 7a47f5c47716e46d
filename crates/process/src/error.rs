//! Why a command did not start.

use std::{io, path::PathBuf};

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is nothing to run: the command is empty")]
    Empty,
    #[error("the command contains a NUL character, which no program can receive")]
    Nul,
    #[error("{path} is not a folder that can be used: {source}")]
    Folder { path: PathBuf, source: io::Error },
    #[error("the command cannot start in {path}: the folder is outside of what the sandbox allows")]
    OutsideCwd { path: PathBuf },
    #[error(
        "the folder {hidden} must stay hidden, but it is inside of the writable folder {root} and cannot be hidden there \
         reliably; move one of the two"
    )]
    HiddenInside { hidden: PathBuf, root: PathBuf },
    #[error(
        "the work directory {workdir} is inside of {hidden}, which must stay hidden and which commands could reach through \
         another folder that they may read; choose another work directory"
    )]
    WorkdirHidden { workdir: PathBuf, hidden: PathBuf },
    #[error("the sandbox is required and this machine does not offer all of it: {}", missing.join("; "))]
    SandboxIncomplete { missing: Vec<String> },
    #[error("the sandbox could not be set up: {0}")]
    Sandbox(String),
    #[error("`{program}` cannot be started: {reason}")]
    Program { program: String, reason: String },
    #[error("the launcher {path} did not start or did not answer: {reason}")]
    Launcher { path: PathBuf, reason: String },
    #[error("the server is out of resources: {0}")]
    Resources(#[from] io::Error),
}
