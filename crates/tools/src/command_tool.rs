//! What `shell` and `shell-command` share: they run a command to its end and differ in how it is written.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use commands::CommandTable;
use files::FileDomain;
use policy::Need;
use protocol::{CommandReport, ToolRisk};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    Effect, Tool, ToolCtx, ToolError,
    command_call::{SHOWN, Wanted, record_changes, report, start, wait, within},
    command_need::{self, Invocation},
};

/// How long a command runs when the call does not say.
const DEFAULT_TIME: Duration = Duration::from_secs(120);
/// The longest time that a call may ask for.
const LONGEST_TIME: Duration = Duration::from_secs(600);
/// A call may take so much longer than its command: starting it, ending it, and looking for what it changed.
const BESIDES: Duration = Duration::from_secs(15);

/// The input of a tool that runs a command to its end.
pub trait CommandInput: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;

    fn invocation(&self) -> Invocation;
    fn workdir(&self) -> Option<&str>;
    fn timeout_ms(&self) -> Option<u64>;
    fn network(&self) -> bool;
}

/// A tool that runs a command to its end.
pub struct CommandTool<I> {
    table: Arc<CommandTable>,
    input: PhantomData<fn() -> I>,
}

impl<I: CommandInput> CommandTool<I> {
    pub fn new(table: &Arc<CommandTable>) -> Self {
        Self { table: Arc::clone(table), input: PhantomData }
    }

    fn time(input: &I) -> Duration {
        within(input.timeout_ms(), DEFAULT_TIME, LONGEST_TIME)
    }
}

impl<I: CommandInput> Tool for CommandTool<I> {
    const NAME: &'static str = I::NAME;
    type Input = I;
    type Output = CommandReport;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Executes
    }

    fn need(&self, input: &I, files: &FileDomain) -> Need {
        command_need::need(&self.table, &input.invocation(), input.workdir(), input.network(), files)
    }

    fn time_limit(&self, input: &I) -> Option<Duration> {
        Some(Self::time(input) + BESIDES)
    }

    async fn run(&self, ctx: ToolCtx, input: I) -> Result<CommandReport, ToolError> {
        let wanted = Wanted {
            command: input.invocation(),
            workdir: input.workdir(),
            network: input.network(),
            time: Self::time(&input),
            tty: None,
        };
        let job = start(&ctx, &self.table, wanted).await?;
        // Nobody types: a program that reads its input sees the end of it.
        job.close_input().await.ok();
        let waited = wait(&ctx, &job, None).await;
        record_changes(&ctx, &job).await;
        waited?;
        Ok(report(&ctx, &job, SHOWN).await)
    }
}
