//! Commands that agents started: which run, whose they are, and how they are ended.

mod call_commands;
mod registry;

pub(crate) use self::{call_commands::CallCommands, registry::Jobs};

use std::{path::PathBuf, sync::Arc};

use commands::CommandTable;
use process::{ProcessLimits, SandboxLevel};

/// How commands run, as the operator of the server set it.
#[derive(Clone, Debug)]
pub struct CommandSettings {
    /// The binary that starts commands in the sandbox: this program itself.
    pub launcher: PathBuf,
    pub sandbox: SandboxLevel,
    /// Further files and folders that commands may read.
    pub read: Vec<PathBuf>,
    /// Further files and folders that commands may change after an approval.
    pub write: Vec<PathBuf>,
    /// Names of environment variables that commands get besides the usual ones.
    pub environment: Vec<String>,
    pub limits: ProcessLimits,
    /// What commands do: the program's own table and the operator's additions.
    pub table: Arc<CommandTable>,
}
