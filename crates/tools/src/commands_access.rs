//! Commands as a call reaches them: start one in the sandbox, find one that runs.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use files::LogicalPath;
use process::{Access, TtySize};
use protocol::{FailureCode, JobId};

use crate::{ToolError, command_need::Invocation, job::Job};

/// A command to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommand {
    pub command: Invocation,
    pub cwd: LogicalPath,
    pub access: Access,
    pub network: bool,
    pub time: Duration,
    pub tty: Option<TtySize>,
}

/// Starts commands and finds those that run.
#[async_trait]
pub trait Commands: Send + Sync {
    /// Starts a command in the sandbox. It belongs to the chat, and ends at the latest when the run is stopped, the chat
    /// deleted or the server ended.
    async fn start(&self, command: NewCommand) -> Result<Arc<Job>, ToolError>;

    /// A command of this chat that runs, or ended a short time ago.
    fn find(&self, id: &JobId) -> Option<Arc<Job>>;
}

/// No commands: for places without a work directory.
pub struct NoCommands;

#[async_trait]
impl Commands for NoCommands {
    async fn start(&self, _: NewCommand) -> Result<Arc<Job>, ToolError> {
        let message = "commands cannot run here: no work directory is configured".to_owned();
        Err(ToolError::Failed { code: FailureCode::NotConfigured, message })
    }

    fn find(&self, _: &JobId) -> Option<Arc<Job>> {
        None
    }
}
