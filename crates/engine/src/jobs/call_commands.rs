//! Commands as one call reaches them: it starts its own and finds those of its chat.

use std::sync::Arc;

use async_trait::async_trait;
use process::{Access, CommandSpec, Program, StartError};
use protocol::{Clock, FailureCode, IdSource, JobId, SessionId, ToolCallId};
use tokio_util::sync::CancellationToken;
use tools::{
    Artifacts, Commands, Invocation, NewCommand, ToolError,
    job::{Job, JobStart},
};

use super::Jobs;
use crate::files::workspaces::Workspace;

/// The commands of one call.
pub(crate) struct CallCommands {
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) chat: SessionId,
    pub(crate) call: ToolCallId,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) artifacts: Arc<dyn Artifacts>,
    /// Cancelled when the run is stopped: its commands end with it, also those that go on after their call.
    pub(crate) run: CancellationToken,
    /// Whether commands may not change files: the agent is limited to files with certain suffixes, and a command could
    /// change any.
    pub(crate) read_only: bool,
}

#[async_trait]
impl Commands for CallCommands {
    async fn start(&self, command: NewCommand) -> Result<Arc<Job>, ToolError> {
        let workspace = &self.workspace;
        self.jobs.check_room(&workspace.id, &self.chat)?;
        let shown = command.command.shown();
        let workdir = workspace.domain.os_path(&files::LogicalPath::root());
        let sandbox = self.jobs.sandbox(workdir.clone(), workspace.hidden.clone())?;
        let mut spec = CommandSpec::new(
            match command.command {
                Invocation::Line(line) => Program::Line(line),
                Invocation::Argv(words) => Program::Argv(words),
            },
            workspace.domain.os_path(&command.cwd),
            if self.read_only { Access::ReadOnly } else { command.access },
            self.jobs.environment(&workdir)?,
        );
        spec.network = command.network;
        spec.limits = self.jobs.settings()?.limits;
        spec.limits.time = command.time;
        spec.tty = command.tty;
        let running = process::start(&sandbox, spec).await.map_err(failed)?;
        let start = JobStart {
            id: self.ids.job(),
            chat: self.chat.clone(),
            call: self.call.clone(),
            command: shown,
            workdir: command.cwd.to_string(),
            tty: command.tty.is_some(),
            started_at: self.clock.now(),
        };
        let job = Job::new(start, &running);
        self.jobs.add(workspace.id.clone(), Arc::clone(&job));
        let pump = Arc::clone(&job).pump(running, Arc::clone(&self.artifacts), self.run.clone());
        self.jobs.tasks.spawn(pump);
        Ok(job)
    }

    fn find(&self, id: &JobId) -> Option<Arc<Job>> {
        self.jobs.find(&self.workspace.id, id).filter(|job| job.start().chat == self.chat)
    }
}

fn failed(error: StartError) -> ToolError {
    let code = match &error {
        StartError::Empty | StartError::Nul => FailureCode::InvalidArgument,
        StartError::Folder { .. } | StartError::OutsideCwd { .. } => FailureCode::InvalidPath,
        StartError::Program { .. } => FailureCode::NotFound,
        StartError::HiddenInside { .. }
        | StartError::WorkdirHidden { .. }
        | StartError::SandboxIncomplete { .. }
        | StartError::Sandbox(_)
        | StartError::Launcher { .. } => FailureCode::NotConfigured,
        StartError::Resources(_) => return ToolError::Fatal(Box::new(error)),
    };
    ToolError::Failed { code, message: error.to_string() }
}
