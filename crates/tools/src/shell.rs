//! `shell`: runs a program with its arguments in the sandbox, without a shell. Programs that only read run unasked.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    command_need::Invocation,
    command_tool::{CommandInput, CommandTool},
};

pub type Shell = CommandTool<Input>;

/// Run a program with its arguments, without a shell: quotes, `*`, `|` and `$` have no meaning. Otherwise the same as
/// `shell-command`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The program and its arguments, for example `["git", "log", "-3"]`.
    #[schemars(length(min = 1))]
    command: Vec<String>,
    /// The folder to run in. Default: the work directory.
    workdir: Option<String>,
    /// Default: 120000, at most 600000.
    timeout_ms: Option<u64>,
    /// Whether it needs the network, which asks.
    network: Option<bool>,
}

impl CommandInput for Input {
    const NAME: &'static str = "shell";

    fn invocation(&self) -> Invocation {
        Invocation::Argv(self.command.clone())
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
