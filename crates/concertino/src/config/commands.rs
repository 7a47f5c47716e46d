//! Reads how commands run: the sandbox, what it may reach besides the work directory, and the operator's own table of
//! commands.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use commands::CommandTable;
use engine::CommandSettings;
use process::{ProcessLimits, SandboxLevel};

/// The operator's additions to the table of commands, in the data folder.
pub(crate) const TABLE_FILE: &str = "commands.toml";
/// A larger file is a mistake.
const LARGEST_TABLE: u64 = 1 << 20;
/// This program itself, also after the file was replaced by a newer version.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// What the settings say about commands.
pub(super) struct Written {
    pub(super) sandbox: Option<String>,
    pub(super) read: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
    pub(super) environment: Vec<String>,
}

pub(super) fn commands(written: Written, data_dir: &Path) -> Result<CommandSettings> {
    let sandbox = match written.sandbox.as_deref() {
        None | Some("when-available") => SandboxLevel::WhenAvailable,
        Some("required") => SandboxLevel::Required,
        Some("off") => SandboxLevel::Off,
        Some(other) => {
            bail!("sandbox must be \"required\", \"when-available\" or \"off\", not \"{other}\"")
        }
    };
    for path in written.read.iter().chain(&written.write) {
        if !path.is_absolute() {
            bail!("sandbox_read and sandbox_write need absolute paths, not \"{}\"", path.display());
        }
    }
    Ok(CommandSettings {
        launcher: PathBuf::from(THIS_PROGRAM),
        sandbox,
        read: written.read,
        write: written.write,
        environment: written.environment,
        limits: ProcessLimits::default(),
        table: Arc::new(table(&data_dir.join(TABLE_FILE))?),
    })
}

/// The program's table, with the additions of this file if there is one.
fn table(file: &Path) -> Result<CommandTable> {
    let built_in = CommandTable::built_in();
    let Ok(data) = file.metadata() else { return Ok(built_in.clone()) };
    if data.len() > LARGEST_TABLE {
        bail!("{} has more than {LARGEST_TABLE} bytes", file.display());
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    built_in.with(&text).with_context(|| format!("{} is not valid", file.display()))
}
