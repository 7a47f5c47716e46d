//! `write-stdin`: types into a command that runs, or waits for more of its output. Waiting never asks.

use std::time::Duration;

use files::FileDomain;
use policy::Need;
use protocol::{CommandReport, FailureCode, JobId, ToolRisk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Effect, Tool, ToolCtx, ToolError,
    command_call::{record_changes, report, wait, within},
    exec_command::shown,
};

const DEFAULT_YIELD: Duration = Duration::from_millis(250);
/// Without input there is nothing to react to, so it waits longer.
const DEFAULT_POLL: Duration = Duration::from_secs(5);
const LONGEST_YIELD: Duration = Duration::from_secs(120);
/// The longest text that can be typed at once, in bytes.
const LONGEST_INPUT: usize = 16 << 10;
/// So much of the text is shown in the question.
const QUOTED: usize = 200;

/// Type into a command that `exec-command` started, or wait for more of its output. Returns what came since the last call.
/// Ctrl-C is `\u0003`, Ctrl-D is `\u0004`. End a line with `\n`. Without `chars` it only waits.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// From `exec-command`.
    session_id: String,
    /// The text to type.
    chars: Option<String>,
    /// How long to wait for output. Default: 250 after typing, else 5000; at most 120000.
    yield_time_ms: Option<u64>,
    /// Default: 9000.
    max_output_tokens: Option<usize>,
}

pub struct WriteStdin;

impl Tool for WriteStdin {
    const NAME: &'static str = "write-stdin";
    type Input = Input;
    type Output = CommandReport;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Executes
    }

    fn need(&self, input: &Input, _: &FileDomain) -> Need {
        match input.chars.as_deref().unwrap_or_default() {
            // Waiting and interrupting change nothing that was not allowed.
            "" | "\u{3}" | "\u{4}" => Need::Nothing,
            chars if chars.len() > LONGEST_INPUT => Need::Refused {
                why: format!(
                    "invalid_argument: `chars` has more than {LONGEST_INPUT} bytes; type less at once"
                ),
            },
            chars => {
                let quoted: String = chars.chars().take(QUOTED).collect();
                let more = if quoted.len() < chars.len() { " …" } else { "" };
                Need::Approval {
                    why: format!("It types {quoted:?}{more} into a running command."),
                    always: true,
                }
            }
        }
    }

    fn time_limit(&self, input: &Input) -> Option<Duration> {
        Some(within(input.yield_time_ms, DEFAULT_POLL, LONGEST_YIELD) + Duration::from_secs(15))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<CommandReport, ToolError> {
        let job = ctx.commands.find(&JobId::new(input.session_id.trim())).ok_or_else(|| {
            let message = "there is no such command in this chat; it may have ended some time ago".to_owned();
            ToolError::Failed { code: FailureCode::NotFound, message }
        })?;
        let chars = input.chars.unwrap_or_default();
        let default = if chars.is_empty() { DEFAULT_POLL } else { DEFAULT_YIELD };
        let typed = match chars.as_str() {
            "\u{3}" => job.interrupt().await,
            "\u{4}" => job.close_input().await,
            chars => job.write(chars.as_bytes()).await,
        };
        if typed.is_err() && job.is_running() {
            let message = "the command does not read its input any more".to_owned();
            return Err(ToolError::Failed { code: FailureCode::Conflict, message });
        }
        let waited = wait(&ctx, &job, Some(within(input.yield_time_ms, default, LONGEST_YIELD))).await;
        record_changes(&ctx, &job).await;
        waited?;
        Ok(report(&ctx, &job, shown(input.max_output_tokens)).await)
    }
}
