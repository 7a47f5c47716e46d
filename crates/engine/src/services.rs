//! What sessions and runs share: the store, models, tools, agents, caches, and the tasks that work for them.

#[cfg(test)]
pub(crate) mod for_tests;
pub(crate) mod rule_book;

use std::sync::Arc;

use models::Catalog;
use protocol::{Clock, IdSource, RunOptions, SessionId, WorkspaceId};
use store::Store;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::rule_book::RuleBook;
use crate::{
    EngineError,
    admission::AdmissionLimiter,
    agents::{
        AgentDefinition, AgentRegistry, NoAgent, template_threads::TemplateThreads, tool_set::ToolSets,
    },
    context::{cache::Histories, texts::SharedTexts},
    files::workspaces::Workspaces,
    jobs::Jobs,
    log::{flusher::Flusher, open_logs::OpenLogs},
    secrets::SecretVault,
    settings::EngineSettings,
};

pub(crate) struct Services {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) logs: OpenLogs,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tools: ToolAccess,
    pub(crate) agents: Agents,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) settings: EngineSettings,
    pub(crate) caches: Caches,
    /// What people answered to fields of type `secret`.
    pub(crate) secrets: Arc<SecretVault>,
    pub(crate) tasks: Tasks,
}

/// All tools, the rules about their calls, the files that they work on, and the commands that they started.
pub(crate) struct ToolAccess {
    pub(crate) registry: tools::Registry,
    pub(crate) rules: Arc<RuleBook>,
    pub(crate) files: Workspaces,
    /// The commands that agents started.
    pub(crate) jobs: Arc<Jobs>,
}

/// The agents of all workspaces, and what is derived from their definitions.
pub(crate) struct Agents {
    pub(crate) registry: Arc<AgentRegistry>,
    pub(crate) tool_sets: ToolSets,
    pub(crate) template_threads: TemplateThreads,
}

impl Agents {
    /// The main agent that a request is for; it must be usable where the request comes from.
    pub(crate) fn main(
        &self,
        workspace: &WorkspaceId,
        options: &RunOptions,
    ) -> Result<Arc<AgentDefinition>, EngineError> {
        let agent = self.registry.main(workspace, options.agent_id.as_deref());
        let agent = agent.map_err(|error| match error {
            NoAgent::Unknown { name, .. } => EngineError::UnknownAgent(name),
            error => EngineError::InvalidMessage(error.to_string()),
        })?;
        if agent.fits(options.mode.as_deref(), options.page_id.as_deref()) {
            Ok(agent)
        } else {
            Err(EngineError::InvalidMessage(format!(
                "The agent \"{}\" cannot be used in this mode or on this page.",
                agent.name
            )))
        }
    }
}

/// Values that would be expensive to compute for each run.
#[derive(Default)]
pub(crate) struct Caches {
    pub(crate) histories: Histories,
    /// System prompts that many sessions have in common.
    pub(crate) texts: SharedTexts,
}

/// Background tasks, limits on what happens at the same time, and how everything is ended.
pub(crate) struct Tasks {
    pub(crate) tracker: TaskTracker,
    pub(crate) flusher: Arc<Flusher>,
    pub(crate) admission: AdmissionLimiter,
    /// Runs that were active in several crashes are resumed one after another.
    pub(crate) recovery: Arc<Semaphore>,
    /// Cancelled when the server shuts down: no new work is accepted.
    pub(crate) shutdown: CancellationToken,
    /// Parent of every run's token.
    pub(crate) runs: CancellationToken,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            tracker: TaskTracker::new(),
            flusher: Arc::default(),
            admission: AdmissionLimiter::default(),
            recovery: Arc::new(Semaphore::new(1)),
            shutdown: CancellationToken::new(),
            runs: CancellationToken::new(),
        }
    }
}

impl Services {
    /// Marks the session as changed, for the mirror of sessions as folders.
    pub(crate) fn note_change(&self, workspace: &WorkspaceId, session: &SessionId) {
        if let Some(mirror) = &self.settings.mirror {
            mirror.note(workspace, session);
        }
    }
}
