//! One registry of agents: the program's templates, the person's files, a workspace's own definitions.
//!
//! Precedence when several sources define the same name: for main agents a workspace's definition, then
//! `main-agents.toml`, then the agent folders, then the program; for sub-agents the program, then the folders, then the
//! workspace.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::RwLock;
use protocol::{AgentKind, AgentSource, WorkspaceId};

use super::{
    Prompt,
    definition::{AgentDefinition, DYNAMIC, EVERYTHING},
    template,
    workspace_tools::{WorkspaceTools, is_delegation},
};

/// The main agent of a request or session that names none.
pub const DEFAULT_AGENT: &str = "general";

pub struct AgentRegistry {
    state: RwLock<State>,
    /// The keys of the tools that exist; definitions may name no others.
    tools: Vec<String>,
    limits: WorkspaceTools,
}

#[derive(Default)]
struct State {
    builtin: Vec<Arc<AgentDefinition>>,
    /// The agents of `main-agents.toml`, in the order of the list.
    main_file: Vec<Arc<AgentDefinition>>,
    /// The agents of the agent folders.
    folders: Vec<Arc<AgentDefinition>>,
    /// What is wrong with those files, without names and paths.
    file_warnings: Vec<String>,
    workspaces: HashMap<WorkspaceId, Own>,
    generation: u64,
    /// The newest ticket that was given out.
    tickets: u64,
}

/// The agents in the files of whoever runs the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileAgents {
    /// Those of `main-agents.toml`, in the order of the list.
    pub main_file: Vec<AgentDefinition>,
    /// Those of the agent folders.
    pub folders: Vec<AgentDefinition>,
    /// What is wrong with the files, for people who may not see the names in them.
    pub warnings: Vec<String>,
}

/// What a workspace has defined, and the ticket of whoever read it.
#[derive(Clone, Default)]
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

    /// A registry without the agents of files, against which new versions of the files are checked.
    pub fn without_files(&self) -> Self {
        let state = self.state.read();
        let (builtin, workspaces) = (state.builtin.clone(), state.workspaces.clone());
        Self {
            state: RwLock::new(State { builtin, workspaces, ..State::default() }),
            tools: self.tools.clone(),
            limits: self.limits.clone(),
        }
    }

    /// Replaces the agents of files, all at once. Runs keep the definition they began with.
    pub fn set_files(&self, files: FileAgents) {
        let shared = |agents: Vec<AgentDefinition>| agents.into_iter().map(Arc::new).collect();
        let mut state = self.state.write();
        state.main_file = shared(files.main_file);
        state.folders = shared(files.folders);
        state.file_warnings = files.warnings;
        state.generation += 1;
    }

    /// What is wrong with the files of agents, without names and paths.
    pub fn file_warnings(&self) -> Vec<String> {
        self.state.read().file_warnings.clone()
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
        let name = name.unwrap_or(DEFAULT_AGENT);
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

    /// The main agents that a person can select by their id: those of the program first, then those of
    /// `main-agents.toml`, of the agent folders and of the workspace. One that replaces another has its place.
    pub fn main_agents(&self, workspace: &WorkspaceId) -> Vec<Arc<AgentDefinition>> {
        let (strongest, order) = {
            let state = self.state.read();
            let own = state.own(workspace);
            let order = [&state.builtin, &state.main_file, &state.folders].map(Vec::as_slice);
            let order: Vec<_> = order.into_iter().chain([own]).flatten().filter(is_main).cloned().collect();
            let mut strongest: HashMap<String, Arc<AgentDefinition>> = HashMap::new();
            for agent in state.main_by_strength(own) {
                strongest.entry(agent.name.clone()).or_insert_with(|| Arc::clone(agent));
            }
            (strongest, order)
        };
        let mut listed = strongest;
        let agents = order.iter().filter_map(|agent| listed.remove(&agent.name));
        agents.filter(|agent| self.can_be_selected(workspace, agent)).collect()
    }

    /// The agent of [`main_agents`](Self::main_agents) with exactly this id.
    pub fn main_exact(&self, workspace: &WorkspaceId, id: &str) -> Option<Arc<AgentDefinition>> {
        let state = self.state.read();
        let agent = state.main_by_strength(state.own(workspace)).find(|agent| agent.name == id).cloned();
        drop(state);
        agent.filter(|agent| self.can_be_selected(workspace, agent))
    }

    fn can_be_selected(&self, workspace: &WorkspaceId, agent: &AgentDefinition) -> bool {
        is_selectable(&agent.name) && agent.enabled && self.unavailable(workspace, agent).is_none()
    }

    /// The role of the built-in agent `general`.
    pub(super) fn builtin_role(&self) -> Prompt {
        let state = self.state.read();
        let general = state.builtin.iter().find(|agent| agent.name == DEFAULT_AGENT);
        general.map_or_else(|| Prompt::literal(""), |general| general.prompt.clone())
    }

    /// Whether a sub-agent answers to this name, in the program, in the folders or in any workspace.
    pub(super) fn has_sub_agent(&self, name: &str) -> bool {
        let state = self.state.read();
        let own = state.workspaces.values().flat_map(|own| &own.agents);
        let mut all = state.builtin.iter().chain(&state.folders).chain(own);
        all.any(|agent| agent.kind == AgentKind::Sub && agent.is_called(name))
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
        let own = state.own(workspace);
        match kind {
            AgentKind::Main => state.main_by_strength(own).cloned().collect(),
            AgentKind::Sub => {
                let all = state.builtin.iter().chain(&state.folders).chain(own);
                all.filter(|agent| agent.kind == AgentKind::Sub).cloned().collect()
            }
        }
    }

    fn unavailable(&self, workspace: &WorkspaceId, agent: &AgentDefinition) -> Option<String> {
        if agent.tools.iter().any(|key| key == EVERYTHING) {
            return None;
        }
        if agent.tools_optional {
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

impl State {
    fn own(&self, workspace: &WorkspaceId) -> &[Arc<AgentDefinition>] {
        self.workspaces.get(workspace).map_or(&[], |own| own.agents.as_slice())
    }

    /// The main agents by precedence, where `own` are those of a workspace.
    fn main_by_strength<'s>(
        &'s self,
        own: &'s [Arc<AgentDefinition>],
    ) -> impl Iterator<Item = &'s Arc<AgentDefinition>> {
        own.iter().chain(&self.main_file).chain(&self.folders).chain(&self.builtin).filter(is_main)
    }
}

fn is_main(agent: &&Arc<AgentDefinition>) -> bool {
    agent.kind == AgentKind::Main
}

/// Whether a client can name this id when it selects a main agent.
pub(super) fn is_selectable(id: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}

pub(super) fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    (1..=64).contains(&name.chars().count()) && name.chars().all(allowed)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
