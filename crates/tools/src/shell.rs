//! `shell`: runs a program with its arguments in the sandbox, without a shell. Programs that only read run unasked.

use std::{sync::Arc, time::Duration};

use commands::CommandTable;
use files::FileDomain;
use policy::Need;
use protocol::{CommandReport, ToolRisk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Effect, Tool, ToolCtx, ToolError,
    command_call::{DEFAULT_TIME, LONGEST_TIME, SHOWN, Wanted, record_changes, report, start, wait, within},
    command_need::{self, Invocation},
};

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

pub struct Shell {
    pub table: Arc<CommandTable>,
}

impl Tool for Shell {
    const NAME: &'static str = "shell";
    type Input = Input;
    type Output = CommandReport;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Executes
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        let command = Invocation::Argv(input.command.clone());
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
            command: Invocation::Argv(input.command),
            workdir: input.workdir.as_deref(),
            network: input.network == Some(true),
            time: within(input.timeout_ms, DEFAULT_TIME, LONGEST_TIME),
            tty: None,
        };
        run_to_the_end(&ctx, &self.table, wanted).await
    }
}

/// Runs a command to its end, and records what it changed in the work directory.
pub(crate) async fn run_to_the_end(
    ctx: &ToolCtx,
    table: &CommandTable,
    wanted: Wanted<'_>,
) -> Result<CommandReport, ToolError> {
    let job = start(ctx, table, wanted).await?;
    // Nobody types: a program that reads its input sees the end of it.
    job.close_input().await.ok();
    let waited = wait(ctx, &job, None).await;
    record_changes(ctx, &job).await;
    waited?;
    Ok(report(ctx, &job, SHOWN).await)
}
