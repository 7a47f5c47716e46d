//! One registry of agents: the program's templates, the person's files, a workspace's own definitions.
//!
//! A name is looked up in that order of strength for its kind: a person's main agent replaces the built-in one of
//! the same name; a built-in sub-agent stands before a file's, a file's before a workspace's.

use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use protocol::{AgentKind, WorkspaceId};

use super::{
    definition::{AgentDefinition, DYNAMIC},
    groups, template,
};

pub struct AgentRegistry {
    state: RwLock<State>,
    /// The keys of the tools that exist; definitions may name no others.
    tools: Vec<String>,
}

#[derive(Default)]
struct State {
    builtin: Vec<Arc<AgentDefinition>>,
    files: Vec<Arc<AgentDefinition>>,
    workspaces: HashMap<WorkspaceId, Vec<Arc<AgentDefinition>>>,
    generation: u64,
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
    /// The built-in agents, over the tools that exist.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a str>) -> Self {
        let state = State { builtin: template::builtin(), ..State::default() };
        Self { state: RwLock::new(state), tools: tools.into_iter().map(str::to_owned).collect() }
    }

    /// Replaces the agents of the person's files.
    pub fn set_files(&self, agents: Vec<AgentDefinition>) {
        let mut state = self.state.write();
        state.files = agents.into_iter().map(Arc::new).collect();
        state.generation += 1;
    }

    /// Replaces the agents a workspace has defined; what runs keeps the definition it began with.
    pub fn set_workspace(&self, workspace: &WorkspaceId, agents: Vec<AgentDefinition>) {
        let agents = agents.into_iter().map(Arc::new).collect();
        let mut state = self.state.write();
        state.workspaces.insert(workspace.clone(), agents);
        state.generation += 1;
    }

    /// Counts the changes.
    pub(crate) fn generation(&self) -> u64 {
        self.state.read().generation
    }

    /// The main agent of a request; without a name it is `general`.
    pub fn main(&self, workspace: &WorkspaceId, name: Option<&str>) -> Result<Arc<AgentDefinition>, NoAgent> {
        self.find(workspace, AgentKind::Main, name.unwrap_or("general"))
    }

    pub fn sub(&self, workspace: &WorkspaceId, name: &str) -> Result<Arc<AgentDefinition>, NoAgent> {
        self.find(workspace, AgentKind::Sub, name)
    }

    /// All agents of a workspace, strongest first, each name once.
    pub fn list(&self, workspace: &WorkspaceId) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        for agent in
            self.all(workspace, AgentKind::Main).into_iter().chain(self.all(workspace, AgentKind::Sub))
        {
            if !listed.iter().any(|one| one.agent.name == agent.name && one.agent.kind == agent.kind) {
                let unavailable = self.unavailable(&agent);
                listed.push(Listed { agent, unavailable });
            }
        }
        listed
    }

    /// The tool keys of a definition that exist, in the registry's order.
    pub fn tools_of(&self, agent: &AgentDefinition) -> Vec<String> {
        let named = named(agent);
        let all = agent.tools.iter().any(|key| key == "*");
        self.tools.iter().filter(|tool| all || named.iter().any(|name| name == *tool)).cloned().collect()
    }

    /// What is wrong with a definition somebody wants to save; empty when nothing is.
    pub fn problems(&self, agent: &AgentDefinition) -> Vec<String> {
        let mut problems = Vec::new();
        if !is_name(&agent.name) {
            problems.push("name: 1 to 64 letters, digits, `-` and `_`".to_owned());
        }
        if agent.name == DYNAMIC {
            problems.push(format!("name: `{DYNAMIC}` is what calls use to make their own agent"));
        }
        if agent.prompt.trim().is_empty() {
            problems.push("prompt: must not be empty".to_owned());
        }
        for key in agent.tools.iter().filter(|key| !self.tools.contains(key)) {
            problems.push(format!("tools: there is no tool named `{key}`"));
        }
        for group in agent.groups.iter().filter(|group| groups::tools_of(group).is_none()) {
            problems.push(format!("groups: there is no capability group named `{group}`"));
        }
        if agent.max_steps == 0 || agent.max_steps > 500 {
            problems.push("maxSteps: 1 to 500".to_owned());
        }
        if agent.max_depth == 0 || agent.max_depth > 16 {
            problems.push("maxDepth: 1 to 16".to_owned());
        }
        problems
    }

    fn find(
        &self,
        workspace: &WorkspaceId,
        kind: AgentKind,
        name: &str,
    ) -> Result<Arc<AgentDefinition>, NoAgent> {
        let name = name.trim();
        let all = self.all(workspace, kind);
        let exact = all.iter().find(|agent| agent.name == name);
        let answers_to = |agent: &&Arc<AgentDefinition>| {
            agent.aliases.iter().chain([&agent.name]).any(|alias| alias.eq_ignore_ascii_case(name))
        };
        let Some(agent) = exact.or_else(|| all.iter().find(answers_to)) else {
            let mut known: Vec<String> = Vec::new();
            for agent in all.iter().filter(|agent| agent.enabled && self.unavailable(agent).is_none()) {
                if !known.contains(&agent.name) {
                    known.push(agent.name.clone());
                }
            }
            if kind == AgentKind::Sub {
                known.push(DYNAMIC.to_owned());
            }
            return Err(NoAgent::Unknown { name: name.to_owned(), known });
        };
        if !agent.enabled {
            return Err(NoAgent::Disabled(agent.name.clone()));
        }
        match self.unavailable(agent) {
            Some(reason) => Err(NoAgent::Unavailable { name: agent.name.clone(), reason }),
            None => Ok(Arc::clone(agent)),
        }
    }

    /// Strongest first.
    fn all(&self, workspace: &WorkspaceId, kind: AgentKind) -> Vec<Arc<AgentDefinition>> {
        let state = self.state.read();
        let own = state.workspaces.get(workspace).map_or(&[][..], Vec::as_slice);
        let order = match kind {
            AgentKind::Main => [own, state.files.as_slice(), state.builtin.as_slice()],
            AgentKind::Sub => [state.builtin.as_slice(), state.files.as_slice(), own],
        };
        order.into_iter().flatten().filter(|agent| agent.kind == kind).cloned().collect()
    }

    fn unavailable(&self, agent: &AgentDefinition) -> Option<String> {
        if agent.tools.iter().any(|key| key == "*") {
            return None;
        }
        let missing: Vec<String> = named(agent).into_iter().filter(|key| !self.tools.contains(key)).collect();
        match missing.as_slice() {
            [] => None,
            [one] => Some(format!("the tool {one} does not exist")),
            more => Some(format!("the tools {} do not exist", more.join(", "))),
        }
    }
}

fn named(agent: &AgentDefinition) -> Vec<String> {
    let mut names = agent.tools.clone();
    names.extend(agent.tool_groups.iter().flat_map(|group| group.tools.iter().cloned()));
    for tools in agent.groups.iter().filter_map(|group| groups::tools_of(group)) {
        names.extend(tools.iter().map(|tool| (*tool).to_owned()));
    }
    names
}

fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    (1..=64).contains(&name.chars().count()) && name.chars().all(allowed)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
