//! The commands of agents: list, watch, type into, stop.

use std::{sync::Arc, time::Duration};

use process::TtySize;
use protocol::{Job, JobId, JobInput, JobList, SessionId, TerminalSize, WorkspaceId};
use tools::job::{Job as RunningJob, JobWatch};

use crate::{Engine, EngineError};

/// How long stopping waits for the command to end.
const STOP_TIME: Duration = Duration::from_secs(5);
/// The largest terminal, in characters.
const LARGEST: u16 = 1000;

impl Engine {
    /// The commands of a workspace or of one chat that run or ended a short time ago, newest first.
    pub fn jobs(&self, workspace: &WorkspaceId, chat: Option<&SessionId>) -> JobList {
        let jobs = self.services.tools.jobs.list(workspace, chat);
        JobList { jobs: jobs.iter().map(|job| job.info()).collect() }
    }

    pub fn job(&self, workspace: &WorkspaceId, id: &JobId) -> Result<Job, EngineError> {
        Ok(self.find_job(workspace, id)?.info())
    }

    /// Ends a command and everything that it started.
    pub async fn stop_job(&self, workspace: &WorkspaceId, id: &JobId) -> Result<Job, EngineError> {
        let job = self.find_job(workspace, id)?;
        job.stop();
        // Whether it has ended by then is in the answer.
        tokio::time::timeout(STOP_TIME, job.ended()).await.unwrap_or_default();
        Ok(job.info())
    }

    /// Types into a command, or changes the size of its terminal.
    pub async fn write_to_job(
        &self,
        workspace: &WorkspaceId,
        id: &JobId,
        input: JobInput,
    ) -> Result<(), EngineError> {
        let job = self.find_job(workspace, id)?;
        if let Some(TerminalSize { columns, rows }) = input.size {
            let size = TtySize { columns: columns.clamp(1, LARGEST), rows: rows.clamp(1, LARGEST) };
            job.resize(size).map_err(|_| EngineError::JobEnded)?;
        }
        if !input.chars.is_empty() {
            let typed = tokio::time::timeout(STOP_TIME, job.write(input.chars.as_bytes())).await;
            typed.ok().and_then(Result::ok).ok_or(EngineError::JobEnded)?;
        }
        Ok(())
    }

    /// Follows the output of a command.
    pub fn watch_job(
        &self,
        workspace: &WorkspaceId,
        id: &JobId,
        offset: u64,
    ) -> Result<JobWatch, EngineError> {
        Ok(self.find_job(workspace, id)?.watch(offset))
    }

    fn find_job(&self, workspace: &WorkspaceId, id: &JobId) -> Result<Arc<RunningJob>, EngineError> {
        self.services.tools.jobs.find(workspace, id).ok_or(EngineError::JobNotFound)
    }
}
