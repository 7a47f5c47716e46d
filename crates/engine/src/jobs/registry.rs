//! The jobs of all chats.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use process::{Sandbox, clean_environment};
use protocol::{FailureCode, JobId, SessionId, WorkspaceId};
use tokio_util::task::TaskTracker;
use tools::{ToolError, job::Job};

use super::CommandSettings;

/// How many commands of one chat may run at the same time.
const MOST_OF_CHAT: usize = 16;
/// How many commands of all chats may run at the same time.
const MOST_RUNNING: usize = 128;
/// How long the end of all jobs is waited for.
const END_TIME: Duration = Duration::from_secs(2);
/// How long a job is listed after it has ended.
const KEPT: Duration = Duration::from_secs(600);
/// How many jobs that have ended are listed.
const MOST_KEPT: usize = 64;

/// The jobs of all chats.
pub(crate) struct Jobs {
    settings: Option<CommandSettings>,
    jobs: Mutex<HashMap<JobId, Entry>>,
    /// One task for each command, which takes its output.
    pub(super) tasks: TaskTracker,
}

struct Entry {
    workspace: WorkspaceId,
    job: Arc<Job>,
    /// When it was first seen to have ended.
    ended: Option<Instant>,
}

impl Jobs {
    /// Without settings no command can be started.
    pub(crate) fn new(settings: Option<CommandSettings>) -> Self {
        Self { settings, jobs: Mutex::default(), tasks: TaskTracker::new() }
    }

    pub(crate) fn settings(&self) -> Result<&CommandSettings, ToolError> {
        self.settings.as_ref().ok_or_else(|| {
            let message = "this server does not run commands".to_owned();
            ToolError::Failed { code: FailureCode::NotConfigured, message }
        })
    }

    /// Whether the chat may start another command.
    pub(crate) fn check_room(&self, workspace: &WorkspaceId, chat: &SessionId) -> Result<(), ToolError> {
        let jobs = self.jobs.lock();
        let running = jobs.values().filter(|entry| entry.job.is_running());
        let (mut all, mut of_chat) = (0, 0);
        for entry in running {
            all += 1;
            of_chat += usize::from(entry.workspace == *workspace && entry.job.start().chat == *chat);
        }
        if of_chat >= MOST_OF_CHAT || all >= MOST_RUNNING {
            let message = if of_chat >= MOST_OF_CHAT {
                format!("{of_chat} commands of this chat are running; stop one before you start another")
            } else {
                format!("{all} commands are running on this server; try again later")
            };
            return Err(ToolError::Failed { code: FailureCode::Conflict, message });
        }
        Ok(())
    }

    pub(crate) fn add(&self, workspace: WorkspaceId, job: Arc<Job>) {
        let mut jobs = self.jobs.lock();
        jobs.insert(job.id().clone(), Entry { workspace, job, ended: None });
        prune(&mut jobs);
    }

    pub(crate) fn find(&self, workspace: &WorkspaceId, id: &JobId) -> Option<Arc<Job>> {
        let jobs = self.jobs.lock();
        jobs.get(id).filter(|entry| entry.workspace == *workspace).map(|entry| Arc::clone(&entry.job))
    }

    /// The jobs of a workspace or of one chat, newest first.
    pub(crate) fn list(&self, workspace: &WorkspaceId, chat: Option<&SessionId>) -> Vec<Arc<Job>> {
        let mut jobs = self.jobs.lock();
        prune(&mut jobs);
        let mut listed: Vec<Arc<Job>> = jobs
            .values()
            .filter(|entry| entry.workspace == *workspace)
            .filter(|entry| chat.is_none_or(|chat| entry.job.start().chat == *chat))
            .map(|entry| Arc::clone(&entry.job))
            .collect();
        listed.sort_by(|a, b| (b.start().started_at, b.id()).cmp(&(a.start().started_at, a.id())));
        listed
    }

    /// Ends the jobs of a chat that is deleted, and forgets them.
    pub(crate) fn end_of_chat(&self, workspace: &WorkspaceId, chat: &SessionId) {
        self.jobs.lock().retain(|_, entry| {
            let is_of_chat = entry.workspace == *workspace && entry.job.start().chat == *chat;
            if is_of_chat {
                entry.job.stop();
            }
            !is_of_chat
        });
    }

    /// Ends all jobs and waits a moment for their end. Whatever is left ends with this process.
    pub(crate) async fn end_all(&self) {
        self.jobs.lock().values().for_each(|entry| entry.job.stop());
        self.tasks.close();
        tokio::time::timeout(END_TIME, self.tasks.wait()).await.unwrap_or_default();
    }

    /// What commands of a work directory can reach.
    pub(super) fn sandbox(&self, workdir: PathBuf, hidden: Vec<PathBuf>) -> Result<Sandbox, ToolError> {
        let settings = self.settings()?;
        Ok(Sandbox {
            level: settings.sandbox,
            workdir,
            read: settings.read.clone(),
            write: settings.write.clone(),
            hidden,
            launcher: settings.launcher.clone(),
        })
    }

    pub(super) fn environment(&self, workdir: &std::path::Path) -> Result<Vec<(String, String)>, ToolError> {
        let settings = self.settings()?;
        Ok(clean_environment(|name| std::env::var(name).ok(), &settings.environment, workdir))
    }
}

/// Forgets jobs that ended some time ago, and the oldest when there are too many.
fn prune(jobs: &mut HashMap<JobId, Entry>) {
    let now = Instant::now();
    for entry in jobs.values_mut().filter(|entry| entry.ended.is_none() && !entry.job.is_running()) {
        entry.ended = Some(now);
    }
    jobs.retain(|_, entry| entry.ended.is_none_or(|ended| now.duration_since(ended) < KEPT));
    let mut ended: Vec<(Instant, JobId)> =
        jobs.iter().filter_map(|(id, entry)| Some((entry.ended?, id.clone()))).collect();
    ended.sort();
    let surplus = ended.len().saturating_sub(MOST_KEPT);
    for (_, id) in ended.into_iter().take(surplus) {
        jobs.remove(&id);
    }
}
