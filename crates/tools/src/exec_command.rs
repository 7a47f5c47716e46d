//! `exec-command`: starts a command that may run on, with a terminal, and returns when it ends or some time has passed.

use std::{sync::Arc, time::Duration};

use commands::CommandTable;
use files::FileDomain;
use policy::Need;
use process::TtySize;
use protocol::{CommandReport, ToolRisk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Effect, Tool, ToolCtx, ToolError,
    command_call::{SESSION_TIME, SHOWN, Wanted, record_changes, report, start, wait, within},
    command_need::{self, Invocation},
    job::MOST_SHOWN,
};

const DEFAULT_YIELD: Duration = Duration::from_secs(10);
const LONGEST_YIELD: Duration = Duration::from_secs(120);
/// Bytes per token, roughly.
const TOKEN: usize = 4;

/// Start a command in a terminal of its own: servers, watchers, interactive programs, long builds. Returns the output so
/// far when it has ended (`exitCode`) or `yieldTimeMs` has passed (`sessionId`, for `write-stdin`). It runs on until it is
/// stopped. The same sandbox and approvals as `shell-command`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// A line for bash, for example `npm run dev`.
    cmd: String,
    /// The folder to run in. Default: the work directory.
    workdir: Option<String>,
    /// Whether it gets a terminal. Default: true.
    tty: Option<bool>,
    /// How long to wait for its end. Default: 10000, at most 120000.
    yield_time_ms: Option<u64>,
    /// Default: 9000.
    max_output_tokens: Option<usize>,
    /// Whether it needs the network, which asks.
    network: Option<bool>,
}

pub struct ExecCommand {
    pub table: Arc<CommandTable>,
}

impl Tool for ExecCommand {
    const NAME: &'static str = "exec-command";
    type Input = Input;
    type Output = CommandReport;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Executes
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        let command = Invocation::Line(input.cmd.clone());
        command_need::need(
            &self.table,
            &command,
            input.workdir.as_deref(),
            input.network == Some(true),
            files,
        )
    }

    fn time_limit(&self, input: &Input) -> Option<Duration> {
        Some(within(input.yield_time_ms, DEFAULT_YIELD, LONGEST_YIELD) + Duration::from_secs(30))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<CommandReport, ToolError> {
        let wanted = Wanted {
            command: Invocation::Line(input.cmd),
            workdir: input.workdir.as_deref(),
            network: input.network == Some(true),
            time: SESSION_TIME,
            tty: input.tty.unwrap_or(true).then(TtySize::default),
        };
        let job = start(&ctx, &self.table, wanted).await?;
        let time = within(input.yield_time_ms, DEFAULT_YIELD, LONGEST_YIELD);
        let waited = wait(&ctx, &job, Some(time)).await;
        record_changes(&ctx, &job).await;
        waited?;
        Ok(report(&ctx, &job, shown(input.max_output_tokens)).await)
    }
}

/// How many bytes of output a report shows.
pub(crate) fn shown(tokens: Option<usize>) -> usize {
    tokens.map_or(SHOWN, |tokens| tokens.saturating_mul(TOKEN)).clamp(200, MOST_SHOWN)
}
