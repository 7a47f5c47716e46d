//! One registry of agents: the program's templates, the person's files, a workspace's own definitions.
//!
//! A name is looked up in that order of strength for its kind: a person's main agent replaces the built-in one of
//! the same name; a built-in sub-agent stands before a file's, a file's before a workspace's.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::RwLock;
use protocol::{AgentKind, AgentSource, WorkspaceId};

use super::{
    definition::{AgentDefinition, DYNAMIC, EVERYTHING},
    template,
    workspace_tools::{WorkspaceTools, is_delegation},
};

pub struct AgentRegistry {
    state: RwLock<State>,
    /// The keys of the tools that exist; definitions may name no others.
    tools: Vec<String>,
    limits: WorkspaceTools,
}

#[derive(Default)]
struct State {
    builtin: Vec<Arc<AgentDefinition>>,
    files: Vec<Arc<AgentDefinition>>,
    workspaces: HashMap<WorkspaceId, Own>,
    generation: u64,
    /// The newest ticket that was given out.
    tickets: u64,
}

/// What a workspace has defined, and the ticket of whoever read it.
#[derive(Default)]
struct Own {
    agents: Vec<Arc<AgentDefinition>>,
    ticket: u64,
}

/// Why a name gives no agent; each text is for the one who wrote the name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAgent {
    #[error("There is no agent named \"{name}\". The agents are: {}.", .known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error("The agent \"{0}\" is switched off.")]
    Disabled(String),
    #[error("The agent \"{name}\" is not available here: {reason}.")]
    Unavailable { name: String, reason: String },
}

/// An agent as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub agent: Arc<AgentDefinition>,
    /// Why it cannot be used at the moment.
    pub unavailable: Option<String>,
}

impl AgentRegistry {
    /// The built-in agents, over the tools that exist and what each workspace may use of them.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a str>, limits: WorkspaceTools) -> Self {
        let state = State { builtin: template::builtin(), ..State::default() };
        Self { state: RwLock::new(state), tools: tools.into_iter().map(str::to_owned).collect(), limits }
    }

    /// Replaces the agents of the person's files.
    pub fn set_files(&self, agents: Vec<AgentDefinition>) {
        let mut state = self.state.write();
        state.files = agents.into_iter().map(Arc::new).collect();
        state.generation += 1;
    }

    /// Replaces the agents a workspace has defined; what runs keeps the definition it began with.
    pub fn set_workspace(&self, workspace: &WorkspaceId, agents: Vec<AgentDefinition>) {
        self.set_read(workspace, self.ticket(), agents);
    }

    /// To be taken before the definitions of a workspace are read: of two readers, the later one has seen more.
    pub(crate) fn ticket(&self) -> u64 {
        let mut state = self.state.write();
        state.tickets += 1;
        state.tickets
    }

    /// Replaces what a workspace has defined, unless somebody who read later has done so already.
    pub(crate) fn set_read(&self, workspace: &WorkspaceId, ticket: u64, agents: Vec<AgentDefinition>) {
        let agents = agents.into_iter().map(Arc::new).collect();
        let mut state = self.state.write();
        let own = state.workspaces.entry(workspace.clone()).or_default();
        if own.ticket < ticket {
            *own = Own { agents, ticket };
            state.generation += 1;
        }
    }

    /// Counts the changes.
    pub(crate) fn generation(&self) -> u64 {
        self.state.read().generation
    }

    /// The main agent of a request; without a name it is `general`. A sub-agent that a person defined can be talked
    /// to as well.
    pub fn main(&self, workspace: &WorkspaceId, name: Option<&str>) -> Result<Arc<AgentDefinition>, NoAgent> {
        let name = name.unwrap_or("general");
        let own_sub = || {
            let agent = self.look_up(workspace, AgentKind::Sub, name)?;
            (agent.source != AgentSource::System).then_some(agent)
        };
        match self.look_up(workspace, AgentKind::Main, name).or_else(own_sub) {
            Some(agent) => self.usable(workspace, agent),
            None => Err(self.unknown(workspace, AgentKind::Main, name)),
        }
    }

    pub fn sub(&self, workspace: &WorkspaceId, name: &str) -> Result<Arc<AgentDefinition>, NoAgent> {
        match self.look_up(workspace, AgentKind::Sub, name) {
            Some(agent) => self.usable(workspace, agent),
            None => Err(self.unknown(workspace, AgentKind::Sub, name)),
        }
    }

    /// The agent of this name, usable or not.
    pub fn look_up(
        &self,
        workspace: &WorkspaceId,
        kind: AgentKind,
        name: &str,
    ) -> Option<Arc<AgentDefinition>> {
        let name = name.trim();
        let all = self.all(workspace, kind);
        let exact = all.iter().find(|agent| agent.name == name);
        exact.or_else(|| all.iter().find(|agent| agent.is_called(name))).cloned()
    }

    /// All agents of a workspace, strongest first, each name once.
    pub fn list(&self, workspace: &WorkspaceId) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        for kind in [AgentKind::Main, AgentKind::Sub] {
            let mut known: HashSet<String> = HashSet::new();
            for agent in self.all(workspace, kind) {
                if known.insert(agent.name.clone()) {
                    let unavailable = self.unavailable(workspace, &agent);
                    listed.push(Listed { agent, unavailable });
                }
            }
        }
        listed
    }

    /// What the workspace itself has defined.
    pub fn own(&self, workspace: &WorkspaceId) -> Vec<Arc<AgentDefinition>> {
        self.state.read().workspaces.get(workspace).map(|own| own.agents.clone()).unwrap_or_default()
    }

    /// The names of the agents that a person defined and that can be called now.
    pub(crate) fn callable_own(&self, workspace: &WorkspaceId) -> Vec<Arc<AgentDefinition>> {
        let listed = self.list(workspace).into_iter();
        let usable = listed.filter(|one| one.unavailable.is_none() && one.agent.enabled);
        usable
            .map(|one| one.agent)
            .filter(|agent| agent.kind == AgentKind::Sub && agent.source != AgentSource::System)
            .collect()
    }

    /// The tool keys of a definition that exist and may be used here, in the registry's order.
    pub fn tools_of(&self, workspace: &WorkspaceId, agent: &AgentDefinition) -> Vec<String> {
        let named = agent.named_tools();
        let all = agent.tools.iter().any(|key| key == EVERYTHING);
        let has = |tool: &&String| (all || named.contains(tool)) && self.limits.allow(workspace, tool);
        self.tools.iter().filter(has).cloned().collect()
    }

    /// What `agent` has beyond `caller`: an agent of the database may be called only by those who have all its tools.
    pub fn beyond(&self, caller: &AgentDefinition, agent: &AgentDefinition) -> Vec<String> {
        if caller.tools.iter().any(|key| key == EVERYTHING) {
            return Vec::new();
        }
        let has = caller.named_tools();
        agent.named_tools().into_iter().filter(|tool| !is_delegation(tool) && !has.contains(tool)).collect()
    }

    pub(super) fn exists(&self, tool: &str) -> bool {
        self.tools.iter().any(|key| key == tool)
    }

    pub(super) fn allows(&self, workspace: &WorkspaceId, tool: &str) -> bool {
        self.limits.allow(workspace, tool)
    }

    /// The tools that definitions of this workspace can name.
    pub(super) fn nameable(&self, workspace: &WorkspaceId) -> Vec<&str> {
        let nameable = |tool: &&String| !is_delegation(tool) && self.limits.allow(workspace, tool);
        self.tools.iter().filter(nameable).map(String::as_str).collect()
    }

    fn usable(
        &self,
        workspace: &WorkspaceId,
        agent: Arc<AgentDefinition>,
    ) -> Result<Arc<AgentDefinition>, NoAgent> {
        if !agent.enabled {
            return Err(NoAgent::Disabled(agent.name.clone()));
        }
        match self.unavailable(workspace, &agent) {
            Some(reason) => Err(NoAgent::Unavailable { name: agent.name.clone(), reason }),
            None => Ok(agent),
        }
    }

    fn unknown(&self, workspace: &WorkspaceId, kind: AgentKind, name: &str) -> NoAgent {
        let mut known: Vec<String> = Vec::new();
        let all = self.all(workspace, kind);
        for agent in all.iter().filter(|agent| agent.enabled && self.unavailable(workspace, agent).is_none())
        {
            if !known.contains(&agent.name) {
                known.push(agent.name.clone());
            }
        }
        match kind {
            AgentKind::Sub => known.push(DYNAMIC.to_owned()),
            AgentKind::Main => {
                known.extend(self.callable_own(workspace).iter().map(|agent| agent.name.clone()));
            }
        }
        NoAgent::Unknown { name: name.trim().to_owned(), known }
    }

    /// Strongest first.
    fn all(&self, workspace: &WorkspaceId, kind: AgentKind) -> Vec<Arc<AgentDefinition>> {
        let state = self.state.read();
        let own = state.workspaces.get(workspace).map_or(&[][..], |own| own.agents.as_slice());
        let order = match kind {
            AgentKind::Main => [own, state.files.as_slice(), state.builtin.as_slice()],
            AgentKind::Sub => [state.builtin.as_slice(), state.files.as_slice(), own],
        };
        order.into_iter().flatten().filter(|agent| agent.kind == kind).cloned().collect()
    }

    fn unavailable(&self, workspace: &WorkspaceId, agent: &AgentDefinition) -> Option<String> {
        if agent.tools.iter().any(|key| key == EVERYTHING) {
            return None;
        }
        let named = agent.named_tools();
        let missing: Vec<&str> = named.iter().map(String::as_str).filter(|key| !self.exists(key)).collect();
        let forbidden: Vec<&str> =
            named.iter().map(String::as_str).filter(|key| !self.limits.allow(workspace, key)).collect();
        match (missing.as_slice(), forbidden.as_slice()) {
            ([], []) => None,
            ([], [one]) => Some(format!("this workspace may not use the tool {one}")),
            ([], more) => Some(format!("this workspace may not use the tools {}", more.join(", "))),
            ([one], _) => Some(format!("the tool {one} does not exist")),
            (more, _) => Some(format!("the tools {} do not exist", more.join(", "))),
        }
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    (1..=64).contains(&name.chars().count()) && name.chars().all(allowed)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
