//! What to start, and how it is contained.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// How much of the sandbox must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// A command does not start when a protection is missing.
    Required,
    /// A command starts with the protections this machine offers; the report names what is missing.
    WhenAvailable,
    /// No sandbox: only the supervisor and the resource limits.
    Off,
}

/// What every command of a workspace may reach.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub level: SandboxLevel,
    /// The folder commands work in. Writable unless the access is [`Access::ReadOnly`].
    pub workdir: PathBuf,
    /// More files and folders that may be read and executed, as the operator lists them. The root folder is ignored.
    pub read: Vec<PathBuf>,
    /// More files and folders that may be written, unless the access is [`Access::ReadOnly`].
    pub write: Vec<PathBuf>,
    /// Files and folders that no command may reach: the server's data directory. Wins over every other list.
    pub hidden: Vec<PathBuf>,
    /// The binary that calls [`crate::launcher_main`] when its first argument is [`crate::LAUNCH_ARGUMENT`].
    pub launcher: PathBuf,
}

/// What a command may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Nothing but a private temporary folder. Also no network, whatever the specification says.
    ReadOnly,
    /// The work directory without its `.git`, the private temporary folder and the operator's additions.
    Workspace,
    /// The same, and the repository of the work directory without its hooks.
    Repository,
}

/// The program to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A shell line, run by `bash -c`, or `sh -c` where there is no bash.
    Line(String),
    /// A program and its arguments; the program is looked up in `PATH` of the command's environment.
    Argv(Vec<String>),
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TtySize {
    pub columns: u16,
    pub rows: u16,
}

impl Default for TtySize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// One command.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    pub program: Program,
    /// The folder it starts in; inside of the work directory or of an allowed folder.
    pub cwd: PathBuf,
    pub access: Access,
    /// Whether it may use the network.
    pub network: bool,
    /// The whole environment, see [`crate::clean_environment`]. `TMPDIR` is set to the private folder.
    pub env: Vec<(String, String)>,
    pub limits: ProcessLimits,
    /// A terminal instead of pipes.
    pub tty: Option<TtySize>,
}

impl CommandSpec {
    /// A command with pipes, the default limits and no network.
    pub fn new(program: Program, cwd: PathBuf, access: Access, env: Vec<(String, String)>) -> Self {
        Self { program, cwd, access, network: false, env, limits: ProcessLimits::default(), tty: None }
    }
}

/// Bounds of one command. All but `time`, `grace` and `processes` hold for each of its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLimits {
    /// How long the command may run.
    pub time: Duration,
    /// How long it has to react to SIGTERM before SIGKILL.
    pub grace: Duration,
    /// How many processes and threads it may have at once.
    pub processes: u32,
    /// Bytes of private memory.
    pub memory: u64,
    /// The largest file it may write, in bytes.
    pub file_bytes: u64,
    pub open_files: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(120),
            grace: Duration::from_millis(700),
            processes: 1024,
            memory: 8 << 30,
            file_bytes: 4 << 30,
            open_files: 4096,
        }
    }
}
