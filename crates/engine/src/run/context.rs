//! What every step of one agent needs. The main agent and its sub-agents each have their own.

use std::sync::{Arc, atomic::AtomicBool};

use models::Model;
use protocol::{RunId, RunOptions, SessionId, WorkspaceId};
use tokio_util::sync::CancellationToken;

use super::{
    delegation::{position::Position, tree::AgentTree},
    frame::Frame,
};
use crate::{
    agents::{AgentDefinition, tool_set::ToolSet},
    context::cache::History,
    files::call_files::RunFiles,
    hooks::HookPoint,
    services::Services,
};

#[derive(Clone)]
pub(crate) struct AgentContext {
    pub(crate) services: Arc<Services>,
    pub(crate) run: Arc<RunScope>,
    pub(crate) agent: AgentSetup,
    /// The branch before this run's message; for a sub-agent, its task.
    pub(crate) history: History,
    pub(crate) cancel: CancellationToken,
    /// What the agents of the run share.
    pub(crate) tree: Arc<AgentTree>,
    pub(crate) position: Arc<Position>,
}

/// What is the same for all agents of a run.
pub(crate) struct RunScope {
    pub(crate) id: RunId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) chat: SessionId,
    pub(crate) options: RunOptions,
    /// The person rejected a call and with it the run; it is being cancelled.
    pub(crate) rejected: Arc<AtomicBool>,
    /// The files that its agents work on, and what they have read and changed.
    pub(crate) files: Arc<RunFiles>,
}

/// An agent as it works in one run: its definition, its model, its tools and its system prompt.
#[derive(Clone)]
pub(crate) struct AgentSetup {
    pub(crate) definition: Arc<AgentDefinition>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) tools: Arc<ToolSet>,
    /// Role and preface: the same bytes in every call of the session.
    pub(crate) system_prompt: Arc<str>,
    /// The project's notes in the preface of the session; sub-agents that work with files get the same.
    pub(crate) project_notes: Arc<str>,
}

impl AgentContext {
    /// Where the loop is, for hooks.
    pub(crate) fn hook_point(&self, frame: &Frame) -> HookPoint {
        HookPoint {
            agent: self.agent.definition.name.clone(),
            path: self.position.path.clone(),
            message: self.position.message.clone(),
            step: frame.steps(),
        }
    }
}
