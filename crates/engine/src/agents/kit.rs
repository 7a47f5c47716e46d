//! The tools one agent is offered: those its definition names, of those that exist and may be used where it works.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{AgentKind, AgentSource, RunOptions, ToolSpec, WorkspaceId};
use serde_json::{Map, Value, json};
use tools::{Executor, delegation};

use super::{
    AgentDefinition, AgentRegistry, ToolGroup,
    definition::{DYNAMIC, EVERYTHING},
    groups,
};
use crate::{engine::Parts, run::inline};

/// Where an agent works, as far as it decides what it is offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) workspace: &'a WorkspaceId,
    pub(crate) mode: Option<&'a str>,
    pub(crate) page: Option<&'a str>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(workspace: &'a WorkspaceId, options: &'a RunOptions) -> Self {
        Self { workspace, mode: options.mode.as_deref(), page: options.page_id.as_deref() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Kit {
    pub(crate) specs: Arc<[ToolSpec]>,
    /// Whom it may call at the moment.
    pub(crate) callable: Vec<String>,
    /// The schema of a structured answer.
    pub(crate) finish: Option<Map<String, Value>>,
    /// Groups that the agent can put away.
    pub(crate) groups: Vec<ToolGroup>,
    left: Mutex<Vec<Left>>,
}

/// What was left of the tools when some were put away.
#[derive(Debug)]
struct Left {
    without: Vec<String>,
    specs: Arc<[ToolSpec]>,
}

/// Choices of groups that are remembered for each kit; the oldest goes first.
const CHOICES: usize = 8;

impl Kit {
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == tool)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.specs.iter().map(|spec| spec.name.clone()).collect()
    }

    pub(crate) fn of(
        agent: &AgentDefinition,
        scene: Scene<'_>,
        agents: &AgentRegistry,
        tools: &tools::Registry,
    ) -> Self {
        let callable = callable(agent, scene, agents);
        let everything = agent.tools.iter().any(|key| key == EVERYTHING);
        let background = agent.groups.iter().any(|group| group == "agent");
        let mut specs = Vec::new();
        for key in agents.tools_of(scene.workspace, agent) {
            let Some(tool) = tools.get(&key) else { continue };
            let offered = match tool.executor() {
                Executor::Server => true,
                // Nobody could send a sub-agent's question to the right front end.
                Executor::Client => agent.kind == AgentKind::Main,
                Executor::Engine => match key.as_str() {
                    delegation::SUB_AGENT => false,
                    delegation::SPAWN_AGENT => background && !callable.is_empty(),
                    delegation::SEND_INPUT | delegation::WAIT_AGENT | delegation::ABORT_AGENT => {
                        background && !callable.is_empty()
                    }
                    _ => everything,
                },
            };
            if offered && groups::is_allowed_in(scene.mode, &key) {
                let spec = tool.spec().clone();
                specs.push(if key == delegation::SPAWN_AGENT { naming(spec, &callable) } else { spec });
            }
        }
        if !callable.is_empty()
            && let Some(tool) = tools.get(delegation::SUB_AGENT)
        {
            specs.push(naming(tool.spec().clone(), &callable));
        }
        if !agent.tool_groups.is_empty() {
            specs.push(inline::equip_spec(&agent.tool_groups));
        }
        let callable = callable.into_iter().map(|(name, _)| name).collect();
        let groups = agent.tool_groups.clone();
        Self { specs: specs.into(), callable, finish: None, groups, left: Mutex::default() }
    }

    /// The tools that are left without these. Calls with the same choice share one set, so that it is written once.
    pub(crate) fn without(&self, hidden: &[&str]) -> Arc<[ToolSpec]> {
        if hidden.is_empty() {
            return Arc::clone(&self.specs);
        }
        let mut left = self.left.lock();
        if let Some(known) = left.iter().find(|left| left.without == hidden) {
            return Arc::clone(&known.specs);
        }
        let is_left = |spec: &&ToolSpec| !hidden.contains(&spec.name.as_str());
        let specs: Arc<[ToolSpec]> = self.specs.iter().filter(is_left).cloned().collect();
        if left.len() == CHOICES {
            left.remove(0);
        }
        let without = hidden.iter().map(|&name| name.to_owned()).collect();
        left.push(Left { without, specs: Arc::clone(&specs) });
        specs
    }

    /// The same tools, and the one that ends the work with a structured answer.
    pub(crate) fn finishing(mut self, schema: Option<Map<String, Value>>) -> Self {
        if let Some(schema) = &schema {
            self.specs = self.specs.iter().cloned().chain([inline::finish_spec(schema)]).collect();
        }
        self.finish = schema;
        self
    }
}

/// The kits of main agents, made once for each definition.
#[derive(Default)]
pub(crate) struct Kits {
    made: Mutex<Vec<Made>>,
}

struct Made {
    agent: Arc<AgentDefinition>,
    workspace: WorkspaceId,
    mode: Option<String>,
    page: Option<String>,
    /// The registry as it was.
    generation: u64,
    kit: Arc<Kit>,
}

/// Kits that are remembered; the oldest goes first.
const REMEMBERED: usize = 64;

impl Kits {
    pub(crate) fn of(&self, parts: &Parts, agent: &Arc<AgentDefinition>, scene: Scene<'_>) -> Arc<Kit> {
        let generation = parts.agents.generation();
        let mut made = self.made.lock();
        let known = made.iter().find(|made| {
            Arc::ptr_eq(&made.agent, agent)
                && made.generation == generation
                && made.workspace == *scene.workspace
                && made.mode.as_deref() == scene.mode
                && made.page.as_deref() == scene.page
        });
        if let Some(known) = known {
            return Arc::clone(&known.kit);
        }
        let kit = Arc::new(Kit::of(agent, scene, &parts.agents, &parts.tools));
        if made.len() == REMEMBERED {
            made.remove(0);
        }
        made.push(Made {
            agent: Arc::clone(agent),
            workspace: scene.workspace.clone(),
            mode: scene.mode.map(str::to_owned),
            page: scene.page.map(str::to_owned),
            generation,
            kit: Arc::clone(&kit),
        });
        kit
    }
}

/// Whom an agent may call at the moment, with what each is good for.
fn callable(agent: &AgentDefinition, scene: Scene<'_>, agents: &AgentRegistry) -> Vec<(String, String)> {
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
                let mut own = agents.callable_own(scene.workspace);
                own.retain(|sub| sub.name != agent.name);
                own
            }
            name => agents.sub(scene.workspace, name).into_iter().collect(),
        };
        for sub in subs {
            let known = callable.iter().any(|(known, _)| *known == sub.name);
            let may = sub.source != AgentSource::Database || agents.beyond(agent, &sub).is_empty();
            if !known && may && sub.fits(scene.mode, scene.page) {
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

    fn scene(workspace: &WorkspaceId) -> Scene<'_> {
        Scene { workspace, mode: None, page: None }
    }

    fn kit(agent: &AgentDefinition) -> Vec<String> {
        let tools = tools::Registry::builtin(&[]).unwrap();
        let agents = AgentRegistry::new(tools.names(), WorkspaceTools::default());
        Kit::of(agent, scene(&WorkspaceId::default_workspace()), &agents, &tools).names()
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
        let kit = Kit { specs: names.iter().map(spec).collect(), ..Kit::default() };
        assert!(Arc::ptr_eq(&kit.without(&[]), &kit.specs));
        let left = kit.without(&["update-plan"]);
        assert_eq!(left.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["time-now", "fetch-url"]);
        assert_eq!(kit.without(&["time-now", "update-plan"]).len(), 1);
        assert!(Arc::ptr_eq(&kit.without(&["update-plan"]), &left));
        for other in 0..3 * CHOICES {
            kit.without(&[&other.to_string()]);
            assert!(kit.left.lock().len() <= CHOICES);
        }
    }

    #[test]
    fn the_names_of_the_allow_list_are_an_enum() {
        let tools = tools::Registry::builtin(&[]).unwrap();
        let agents = AgentRegistry::new(tools.names(), WorkspaceTools::default());
        let here = WorkspaceId::default_workspace();
        let general = agents.main(&here, None).unwrap();
        let kit = Kit::of(&general, scene(&here), &agents, &tools);
        let spec = kit.specs.iter().find(|spec| spec.name == "sub-agent").unwrap();
        let names = &spec.input_schema["properties"]["name"]["enum"];
        assert_eq!(*names, json!(["research", "test-approval", "dynamic"]));
        assert!(
            spec.input_schema["properties"]["name"]["description"].as_str().unwrap().contains("- research: ")
        );
    }
}
