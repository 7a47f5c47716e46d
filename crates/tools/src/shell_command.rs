//! `shell-command`: runs a shell line in the sandbox. Lines that only read the workspace run unasked.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    command_need::Invocation,
    command_tool::{CommandInput, CommandTool},
};

pub type ShellCommand = CommandTool<Input>;

/// Run a shell line in the work directory and wait for its end. Returns the exit code and the output (of long output the
/// beginning and the end).
///
/// It runs in a sandbox: it reaches the work directory and the system's programs, and no network unless `network` is set.
/// Lines that only read run without asking. Use relative paths. Nobody answers its questions: use options like `--yes`.
/// For programs that need input or run on, use `exec-command`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// A line for bash, for example `git status --short`.
    command: String,
    /// The folder to run in. Default: the work directory.
    workdir: Option<String>,
    /// It is stopped after so many milliseconds. Default: 120000, at most 600000.
    timeout_ms: Option<u64>,
    /// Whether it needs the network, which asks.
    network: Option<bool>,
}

impl CommandInput for Input {
    const NAME: &'static str = "shell-command";

    fn invocation(&self) -> Invocation {
        Invocation::Line(self.command.clone())
    }

    fn workdir(&self) -> Option<&str> {
        self.workdir.as_deref()
    }

    fn timeout_ms(&self) -> Option<u64> {
        self.timeout_ms
    }

    fn network(&self) -> bool {
        self.network == Some(true)
    }
}
