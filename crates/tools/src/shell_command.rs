//! `shell-command`: runs a shell line in the sandbox. Lines that only read the workspace run unasked.

use std::{sync::Arc, time::Duration};

use commands::CommandTable;
use files::FileDomain;
use policy::Need;
use protocol::{CommandReport, ToolRisk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Effect, Tool, ToolCtx, ToolError,
    command_call::{DEFAULT_TIME, LONGEST_TIME, Wanted, within},
    command_need::{self, Invocation},
    shell::run_to_the_end,
};

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

pub struct ShellCommand {
    pub table: Arc<CommandTable>,
}

impl Tool for ShellCommand {
    const NAME: &'static str = "shell-command";
    type Input = Input;
    type Output = CommandReport;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Executes
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        let command = Invocation::Line(input.command.clone());
        command_need::need(
            &self.table,
            &command,
            input.workdir.as_deref(),
            input.network == Some(true),
            files,
        )
    }

    fn time_limit(&self, input: &Input) -> Option<Duration> {
        Some(within(input.timeout_ms, DEFAULT_TIME, LONGEST_TIME) + Duration::from_secs(15))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<CommandReport, ToolError> {
        let wanted = Wanted {
            command: Invocation::Line(input.command),
            workdir: input.workdir.as_deref(),
            network: input.network == Some(true),
            time: within(input.timeout_ms, DEFAULT_TIME, LONGEST_TIME),
            tty: None,
        };
        run_to_the_end(&ctx, &self.table, wanted).await
    }
}
