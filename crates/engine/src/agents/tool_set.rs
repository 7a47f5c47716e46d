//! The tools that one agent is offered: those its definition names that exist and may be used where the agent works.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{AgentKind, AgentSource, RunOptions, ToolSpec, WorkspaceId};
use serde_json::{Map, Value, json};
use tools::{AnyTool, Executor, delegation};

use super::{
    AgentDefinition, AgentRegistry, ToolGroup,
    definition::{DYNAMIC, EVERYTHING},
    groups,
    loop_tools::LoopTool,
};

/// Where an agent works: what decides which tools it is offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolScope<'a> {
    pub(crate) workspace: &'a WorkspaceId,
    pub(crate) mode: Option<&'a str>,
    pub(crate) page: Option<&'a str>,
}

impl<'a> ToolScope<'a> {
    pub(crate) fn of(workspace: &'a WorkspaceId, options: &'a RunOptions) -> Self {
        Self { workspace, mode: options.mode.as_deref(), page: options.page_id.as_deref() }
    }
}

#[derive(Default)]
pub(crate) struct ToolSet {
    pub(crate) specs: Arc<[ToolSpec]>,
    /// The tools themselves, in the order of the specs.
    tools: Vec<Arc<dyn AnyTool>>,
    /// The sub-agents that it may call.
    pub(crate) callable: Vec<String>,
    /// The schema of the structured answer, if one was asked for.
    pub(crate) finish: Option<Map<String, Value>>,
    /// Tool groups that the agent can switch off.
    pub(crate) groups: Vec<ToolGroup>,
    subsets: Mutex<Vec<Subset>>,
}

/// The tools without those of groups that are switched off.
#[derive(Debug)]
struct Subset {
    without: Vec<String>,
    specs: Arc<[ToolSpec]>,
}

/// How many subsets each tool set remembers; the oldest is dropped first.
const SUBSETS: usize = 8;

impl ToolSet {
    /// A tool that the agent was offered. Every call is looked up here, also after an approval or a restart.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.specs.iter().map(|spec| spec.name.clone()).collect()
    }

    pub(crate) fn of(
        agent: &AgentDefinition,
        scope: ToolScope<'_>,
        agents: &AgentRegistry,
        tools: &tools::Registry,
    ) -> Self {
        let callable = callable(agent, scope, agents);
        let everything = agent.tools.iter().any(|key| key == EVERYTHING);
        let background = agent.groups.iter().any(|group| group == "agent");
        let mut specs = Vec::new();
        let mut offered = Vec::new();
        for key in agents.tools_of(scope.workspace, agent) {
            let Some(tool) = tools.get(&key) else { continue };
            let is_offered = match tool.executor() {
                Executor::Server => true,
                // Nobody could send a sub-agent's question to the right front end.
                Executor::Client => agent.kind == AgentKind::Main,
                Executor::Loop => false,
                Executor::Delegation => match key.as_str() {
                    delegation::SUB_AGENT => false,
                    delegation::SPAWN_AGENT => background && !callable.is_empty(),
                    delegation::SEND_INPUT | delegation::WAIT_AGENT | delegation::ABORT_AGENT => {
                        background && !callable.is_empty()
                    }
                    _ => everything,
                },
            };
            if is_offered && groups::is_allowed_in(scope.mode, &key) {
                let spec = tool.spec().clone();
                specs.push(if key == delegation::SPAWN_AGENT { naming(spec, &callable) } else { spec });
                offered.push(tool);
            }
        }
        if !callable.is_empty()
            && let Some(tool) = tools.get(delegation::SUB_AGENT)
        {
            specs.push(naming(tool.spec().clone(), &callable));
            offered.push(tool);
        }
        if !agent.tool_groups.is_empty() {
            let equip = LoopTool::equip(&agent.tool_groups);
            specs.push(equip.spec().clone());
            offered.push(Arc::new(equip));
        }
        let callable = callable.into_iter().map(|(name, _)| name).collect();
        let groups = agent.tool_groups.clone();
        Self {
            specs: specs.into(),
            tools: offered,
            callable,
            finish: None,
            groups,
            subsets: Mutex::default(),
        }
    }

    /// The tools without those in `hidden`. Calls with the same choice share one set, so that it is serialised once.
    pub(crate) fn without(&self, hidden: &[&str]) -> Arc<[ToolSpec]> {
        if hidden.is_empty() {
            return Arc::clone(&self.specs);
        }
        let mut subsets = self.subsets.lock();
        if let Some(known) = subsets.iter().find(|subset| subset.without == hidden) {
            return Arc::clone(&known.specs);
        }
        let is_shown = |spec: &&ToolSpec| !hidden.contains(&spec.name.as_str());
        let specs: Arc<[ToolSpec]> = self.specs.iter().filter(is_shown).cloned().collect();
        if subsets.len() == SUBSETS {
            subsets.remove(0);
        }
        let without = hidden.iter().map(|&name| name.to_owned()).collect();
        subsets.push(Subset { without, specs: Arc::clone(&specs) });
        specs
    }

    /// Adds the tool that ends the work with a structured answer.
    pub(crate) fn with_structured_answer(mut self, schema: Option<Map<String, Value>>) -> Self {
        if let Some(schema) = &schema {
            let finish = LoopTool::finish(schema);
            self.specs = self.specs.iter().cloned().chain([finish.spec().clone()]).collect();
            self.tools.push(Arc::new(finish));
        }
        self.finish = schema;
        self
    }
}

/// The tool sets of main agents, computed once for each definition.
#[derive(Default)]
pub(crate) struct ToolSets {
    cached: Mutex<Vec<Cached>>,
}

struct Cached {
    agent: Arc<AgentDefinition>,
    workspace: WorkspaceId,
    mode: Option<String>,
    page: Option<String>,
    /// The generation of the registry that the tool set was computed from.
    generation: u64,
    tools: Arc<ToolSet>,
}

/// How many tool sets are cached; the oldest is dropped first.
const MOST_CACHED: usize = 64;

impl ToolSets {
    pub(crate) fn of(
        &self,
        agent: &Arc<AgentDefinition>,
        scope: ToolScope<'_>,
        agents: &AgentRegistry,
        tools: &tools::Registry,
    ) -> Arc<ToolSet> {
        let generation = agents.generation();
        let mut cached = self.cached.lock();
        let known = cached.iter().find(|set| {
            Arc::ptr_eq(&set.agent, agent)
                && set.generation == generation
                && set.workspace == *scope.workspace
                && set.mode.as_deref() == scope.mode
                && set.page.as_deref() == scope.page
        });
        if let Some(known) = known {
            return Arc::clone(&known.tools);
        }
        let set = Arc::new(ToolSet::of(agent, scope, agents, tools));
        if cached.len() == MOST_CACHED {
            cached.remove(0);
        }
        cached.push(Cached {
            agent: Arc::clone(agent),
            workspace: scope.workspace.clone(),
            mode: scope.mode.map(str::to_owned),
            page: scope.page.map(str::to_owned),
            generation,
            tools: Arc::clone(&set),
        });
        set
    }
}

/// The sub-agents that an agent may call, with their descriptions.
fn callable(agent: &AgentDefinition, scope: ToolScope<'_>, agents: &AgentRegistry) -> Vec<(String, String)> {
    let mut callable: Vec<(String, String)> = Vec::new();
    for name in &agent.allowed_sub_agents {
        if name == DYNAMIC {
            let text =
                "An agent you describe yourself in options: its prompt, and which of your tools it has.";
            callable.push((name.clone(), text.to_owned()));
            continue;
        }
        let subs = match name.as_str() {
            EVERYTHING => {
                let mut own = agents.callable_own(scope.workspace);
                own.retain(|sub| sub.name != agent.name);
                own
            }
            name => agents.sub(scope.workspace, name).into_iter().collect(),
        };
        for sub in subs {
            let known = callable.iter().any(|(known, _)| *known == sub.name);
            let may = sub.source != AgentSource::Database || agents.beyond(agent, &sub).is_empty();
            if !known && may && sub.fits(scope.mode, scope.page) {
                callable.push((sub.name.clone(), sub.description.clone()));
            }
        }
    }
    callable
}

fn naming(mut spec: ToolSpec, callable: &[(String, String)]) -> ToolSpec {
    let names: Vec<&String> = callable.iter().map(|(name, _)| name).collect();
    let list: Vec<String> = callable.iter().map(|(name, text)| format!("- {name}: {text}")).collect();
    if let Some(Value::Object(name)) = spec.input_schema.pointer_mut("/properties/name") {
        name.insert("enum".to_owned(), json!(names));
        name.insert("description".to_owned(), json!(format!("Which agent:\n{}", list.join("\n"))));
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::WorkspaceTools;

    fn scope(workspace: &WorkspaceId) -> ToolScope<'_> {
        ToolScope { workspace, mode: None, page: None }
    }

    fn kit(agent: &AgentDefinition) -> Vec<String> {
        let tools = tools::Registry::builtin(&[]).unwrap();
        let agents = AgentRegistry::new(tools.names(), WorkspaceTools::default());
        ToolSet::of(agent, scope(&WorkspaceId::default_workspace()), &agents, &tools).names()
    }

    #[test]
    fn delegation_is_offered_only_to_those_who_may_call_somebody() {
        let mut agent = AgentDefinition::bare(AgentKind::Sub, "a", "p");
        agent.tools = vec!["time-now".to_owned(), "sub-agent".to_owned()];
        assert_eq!(kit(&agent), ["time-now"]);
        agent.allowed_sub_agents = vec!["calendar".to_owned()];
        assert_eq!(kit(&agent), ["time-now"], "an agent that is not available cannot be called");
        agent.allowed_sub_agents.push("research".to_owned());
        assert_eq!(kit(&agent), ["time-now", "sub-agent"]);
    }

    #[test]
    fn the_same_choice_of_groups_is_the_same_set_of_tools() {
        let names = ["time-now", "update-plan", "fetch-url"];
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: json!({}),
        };
        let kit = ToolSet { specs: names.iter().map(spec).collect(), ..ToolSet::default() };
        assert!(Arc::ptr_eq(&kit.without(&[]), &kit.specs));
        let left = kit.without(&["update-plan"]);
        assert_eq!(left.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["time-now", "fetch-url"]);
        assert_eq!(kit.without(&["time-now", "update-plan"]).len(), 1);
        assert!(Arc::ptr_eq(&kit.without(&["update-plan"]), &left));
        for other in 0..3 * SUBSETS {
            kit.without(&[&other.to_string()]);
            assert!(kit.subsets.lock().len() <= SUBSETS);
        }
    }

    #[test]
    fn the_names_of_the_allow_list_are_an_enum() {
        let tools = tools::Registry::builtin(&[]).unwrap();
        let agents = AgentRegistry::new(tools.names(), WorkspaceTools::default());
        let here = WorkspaceId::default_workspace();
        let general = agents.main(&here, None).unwrap();
        let kit = ToolSet::of(&general, scope(&here), &agents, &tools);
        let spec = kit.specs.iter().find(|spec| spec.name == "sub-agent").unwrap();
        let names = &spec.input_schema["properties"]["name"]["enum"];
        assert_eq!(*names, json!(["document", "shell", "research", "test-approval", "dynamic"]));
        assert!(
            spec.input_schema["properties"]["name"]["description"].as_str().unwrap().contains("- research: ")
        );
    }
}
