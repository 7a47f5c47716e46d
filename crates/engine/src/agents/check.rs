//! Whether a definition can be saved: everything that is wrong with it at once, each with what to do about it.
//!
//! A definition only names tools, models and other agents; here is decided whether they exist and may be named.

use models::{Catalog, ChoiceError, ModelSelection};
use protocol::{
    AgentId, AgentKind, AgentSource, WorkspaceId,
    wire::agents::{AgentCheck, AgentFields, FieldProblem},
};
use tools::EditLimit;

use super::{
    AgentDefinition, AgentRegistry, Listed,
    definition::{DYNAMIC, EVERYTHING},
    draft::problem,
    groups, prompt,
    registry::is_name,
    workspace_tools::is_delegation,
};

/// How many entries a list of a definition may have.
const MOST_ENTRIES: usize = 128;
const LONGEST_NAME_SHOWN: usize = 80;
const LONGEST_DESCRIPTION: usize = 1000;
/// How many definitions a workspace may have.
pub const MOST_DEFINITIONS: usize = 500;

/// What a definition is checked against.
pub struct Checker<'a> {
    pub agents: &'a AgentRegistry,
    /// What the registry lists for the workspace.
    pub listed: &'a [Listed],
    pub catalog: &'a Catalog,
    pub workspace: &'a WorkspaceId,
    /// The stored definition that this one replaces.
    pub id: Option<&'a AgentId>,
    pub source: AgentSource,
}

impl Checker<'_> {
    pub fn check(&self, fields: &AgentFields) -> AgentCheck {
        let mut checked = AgentCheck::default();
        self.names(fields, &mut checked);
        self.texts(fields, &mut checked);
        self.prompts(fields, &mut checked);
        self.model(fields, &mut checked);
        self.tools(fields, &mut checked);
        self.sub_agents(fields, &mut checked);
        self.callers(fields, &mut checked);
        limits(fields, &mut checked);
        checked
    }

    /// What [`check`](Self::check) warns of. The prompts are not read for this: they never give a warning.
    pub fn warnings(&self, fields: &AgentFields) -> Vec<FieldProblem> {
        let mut checked = AgentCheck::default();
        self.texts(fields, &mut checked);
        self.model(fields, &mut checked);
        self.sub_agents(fields, &mut checked);
        checked.warnings
    }

    fn names(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        let own = [("name".to_owned(), &fields.name)];
        let aliases = fields.aliases.iter().enumerate().map(|(at, alias)| (format!("aliases[{at}]"), alias));
        for (path, name) in own.into_iter().chain(aliases) {
            if name.is_empty() && path == "name" {
                checked.add(&path, "bad_name", "The name is empty.", "Give the agent a name.");
                continue;
            }
            if !is_name(name) {
                let text = format!("\"{name}\" cannot be a name.");
                checked.add(&path, "bad_name", text, "Use 1 to 64 letters, digits, - and _.");
            }
            if name == DYNAMIC || name == EVERYTHING {
                let text =
                    format!("\"{name}\" has a meaning of its own: calls use it to make their own agent.");
                checked.add(&path, "reserved_name", text, "Choose another name.");
            }
            self.taken(&path, name, fields, checked);
        }
    }

    fn taken(&self, path: &str, name: &str, fields: &AgentFields, checked: &mut AgentCheck) {
        for Listed { agent: other, .. } in self.listed {
            let is_itself = other.id.is_some() && other.id.as_ref() == self.id;
            // What a file says stands before what a workspace says.
            let behind = self.source == AgentSource::File && other.source == AgentSource::Database;
            if is_itself || behind || !other.is_called(name) {
                continue;
            }
            let replaces = fields.kind == AgentKind::Main
                && other.kind == AgentKind::Main
                && other.source != self.source
                && other.name == *name
                && path == "name";
            let same_source = other.source == self.source;
            if replaces || (!same_source && other.kind != fields.kind) {
                continue;
            }
            let (text, fix) = match other.source {
                AgentSource::Database => (
                    format!("An agent named \"{}\" is defined already.", other.name),
                    "Choose another name, or change that one.",
                ),
                AgentSource::File | AgentSource::System if other.kind == AgentKind::Main => (
                    format!("\"{name}\" is another name of the main agent \"{}\".", other.name),
                    "Choose another name, or use its own name to replace it.",
                ),
                AgentSource::File | AgentSource::System => (
                    format!("\"{name}\" means the sub-agent \"{}\", which stands before yours.", other.name),
                    "Choose another name.",
                ),
            };
            checked.add(path, "name_taken", text, fix);
            return;
        }
    }

    fn texts(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        let shown = fields.display_name.trim();
        if shown.is_empty()
            || shown.chars().count() > LONGEST_NAME_SHOWN
            || shown.chars().any(char::is_control)
        {
            let fix = format!("Use one line of 1 to {LONGEST_NAME_SHOWN} characters.");
            checked.add("displayName", "bad_text", "The name for people cannot be shown.", fix);
        }
        if fields.description.chars().count() > LONGEST_DESCRIPTION {
            let fix = format!("Use at most {LONGEST_DESCRIPTION} characters.");
            checked.add("description", "too_long", "The description is too long.", fix);
        }
        if fields.description.trim().is_empty() && fields.kind == AgentKind::Sub {
            let fix = "Say in a sentence what the agent is good for.";
            checked.warn("description", "no_description", "Callers choose an agent by its description.", fix);
        }
    }

    fn prompts(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        let prompts = [("systemPrompt", Some(&fields.system_prompt))];
        for (path, text) in prompts.into_iter().chain([("systemPromptZh", fields.system_prompt_zh.as_ref())])
        {
            let Some(text) = text else { continue };
            if text.trim().is_empty() {
                checked.add(path, "empty", "The prompt is empty.", "Say who the agent is and how it works.");
            } else if text.len() > prompt::LONGEST_PROMPT {
                let message = format!("The prompt has {} bytes.", text.len());
                let fix = format!("Use at most {} bytes.", prompt::LONGEST_PROMPT);
                checked.add(path, "too_long", message, fix);
            } else if !prompt::is_literal(fields.kind, self.source) {
                checked.problems.extend(prompt::problems(path, text));
            }
        }
    }

    fn model(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        if let Some(model) = &fields.model {
            for (path, text) in [("model.provider", &model.provider), ("model.modelId", &model.model_id)] {
                if text.trim().is_empty() {
                    checked.add(
                        path,
                        "empty",
                        format!("{path} is empty."),
                        "Name the provider and the model.",
                    );
                }
            }
            self.resolves("model", &model.name(), checked);
            for wrong in self.catalog.param_problems(&model.name(), &model.params) {
                let path = format!("model.params.{}", wrong.key);
                checked.add(&path, "bad_param", wrong.message, wrong.fix);
            }
        }
        for (at, name) in fields.fallback.iter().enumerate() {
            self.resolves(&format!("fallback[{at}]"), name, checked);
        }
    }

    fn resolves(&self, path: &str, name: &str, checked: &mut AgentCheck) {
        let wanted = ModelSelection { id: Some(name), ..ModelSelection::default() };
        match self.catalog.resolve(&wanted, 0) {
            Ok(_) => {}
            Err(ChoiceError::Unknown(text)) => {
                let fix = "GET /api/models and `concertino models` list the models.";
                checked.add(path, "unknown_model", text, fix);
            }
            Err(ChoiceError::NotReady(text)) => {
                checked.warn(path, "model_not_ready", text, "Until then the agent cannot be used.");
            }
        }
    }

    fn tools(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        for (at, key) in fields.tool_keys.iter().enumerate() {
            self.tool(&format!("toolKeys[{at}]"), key, fields, checked);
        }
        for (at, group) in fields.tool_groups.iter().enumerate() {
            let path = format!("toolGroups[{at}]");
            if !is_name(&group.name) {
                let text = format!("\"{}\" cannot be a group's name.", group.name);
                checked.add(
                    &format!("{path}.name"),
                    "bad_name",
                    text,
                    "Use 1 to 64 letters, digits, - and _.",
                );
            }
            if fields.tool_groups[..at].iter().any(|other| other.name == group.name) {
                let text = format!("There are two groups named \"{}\".", group.name);
                checked.add(&format!("{path}.name"), "name_taken", text, "Give each group its own name.");
            }
            for (place, key) in group.tools.iter().enumerate() {
                self.tool(&format!("{path}.tools[{place}]"), key, fields, checked);
            }
        }
        for (at, group) in fields.groups.iter().enumerate() {
            let path = format!("groups[{at}]");
            let Some(tools) = groups::tools_of(group) else {
                let names: Vec<&str> = groups::GROUPS.iter().map(|(name, _)| *name).collect();
                let text = format!("There is no capability group named \"{group}\".");
                checked.add(&path, "unknown_group", text, known("groups", group, &names));
                continue;
            };
            let missing: Vec<&str> = tools.iter().copied().filter(|tool| !self.agents.exists(tool)).collect();
            if !missing.is_empty() {
                let text =
                    format!("The group {group} has tools that do not exist here: {}.", missing.join(", "));
                checked.add(&path, "unknown_tool", text, "Leave the group out, or name single tools.");
            }
            let forbidden = tools.iter().filter(|tool| !self.may_name(tool));
            let forbidden: Vec<&str> = forbidden.copied().collect();
            if !forbidden.is_empty() {
                let text =
                    format!("This workspace may not use {} of the group {group}.", forbidden.join(", "));
                checked.add(&path, "tool_not_allowed", text, "Leave the group out, or name single tools.");
            }
        }
    }

    /// A file is for all workspaces: each offers what it may use.
    fn may_name(&self, tool: &str) -> bool {
        self.source != AgentSource::Database || self.agents.allows(self.workspace, tool)
    }

    fn tool(&self, path: &str, key: &str, fields: &AgentFields, checked: &mut AgentCheck) {
        let nameable = self.agents.nameable(self.workspace);
        if key == EVERYTHING {
            let text = "* stands for every tool only in what comes with the program.";
            checked.add(path, "unknown_tool", text, known("tools", key, &nameable));
        } else if is_delegation(key) {
            let text = format!("{key} is not given as a tool.");
            let fix = "Name the agents it may call in allowedSubAgents; for agents in the background add the group agent.";
            checked.add(path, "delegation_tool", text, fix);
        } else if !self.agents.exists(key) {
            let text = format!("There is no tool named \"{key}\".");
            checked.add(path, "unknown_tool", text, known("tools", key, &nameable));
        } else if !self.may_name(key) {
            let text = format!("This workspace may not use the tool {key}.");
            checked.add(path, "tool_not_allowed", text, known("tools", key, &nameable));
        } else if !fields.modes.is_empty()
            && fields.modes.iter().all(|mode| !groups::is_allowed_in(Some(mode), key))
        {
            let text = format!("{key} cannot be used in the mode {}.", fields.modes.join(", "));
            checked.add(path, "not_in_mode", text, "Leave the tool out, or add a mode.");
        }
    }

    fn sub_agents(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        let caller = AgentDefinition::from_fields(fields.clone(), self.source);
        for (at, name) in fields.allowed_sub_agents.iter().enumerate() {
            let path = format!("allowedSubAgents[{at}]");
            if name == EVERYTHING {
                let text = "* stands for every agent only in what comes with the program.";
                checked.add(&path, "unknown_agent", text, "Name the agents.");
                continue;
            }
            if name == DYNAMIC {
                continue;
            }
            if caller.is_called(name) {
                let text = "An agent cannot call itself.";
                checked.add(&path, "recursion", text, "Leave it out.");
                continue;
            }
            let Some(sub) = self.agents.look_up(self.workspace, AgentKind::Sub, name) else {
                let names: Vec<&str> = self
                    .listed
                    .iter()
                    .filter(|one| one.agent.kind == AgentKind::Sub)
                    .map(|one| one.agent.name.as_str())
                    .chain([DYNAMIC])
                    .collect();
                let text = format!("There is no sub-agent named \"{name}\".");
                checked.warn(&path, "unknown_agent", text, known("sub-agents", name, &names));
                continue;
            };
            if let Err(error) = self.agents.sub(self.workspace, name) {
                checked.warn(
                    &path,
                    "agent_unavailable",
                    error.to_string(),
                    "Until then it cannot be called.",
                );
            }
            let more = self.agents.beyond(&caller, &sub);
            if sub.source == AgentSource::Database && !more.is_empty() {
                let text = format!(
                    "\"{}\" has tools that this agent does not have: {}. An agent cannot call one that may do more \
                     than itself.",
                    sub.name,
                    more.join(", ")
                );
                checked.add(&path, "more_than_parent", text, "Add them to toolKeys, or leave the agent out.");
            }
        }
    }

    /// Those who may call it must not get more through it than they have.
    fn callers(&self, fields: &AgentFields, checked: &mut AgentCheck) {
        if self.source != AgentSource::Database {
            return;
        }
        let agent = AgentDefinition::from_fields(fields.clone(), self.source);
        for Listed { agent: caller, .. } in self.listed {
            let is_itself = caller.id.is_some() && caller.id.as_ref() == self.id;
            if is_itself || caller.source == AgentSource::System || !caller.may_call(&agent) {
                continue;
            }
            for key in self.agents.beyond(caller, &agent) {
                let at = fields.tool_keys.iter().position(|own| *own == key);
                let path = at.map_or_else(|| "groups".to_owned(), |at| format!("toolKeys[{at}]"));
                let text = format!("\"{}\" may call this agent and does not have {key} itself.", caller.name);
                let fix = format!("Leave {key} out, or give it to \"{}\" first.", caller.name);
                checked.add(&path, "more_than_parent", text, fix);
            }
        }
    }
}

fn limits(fields: &AgentFields, checked: &mut AgentCheck) {
    for (path, number, most) in [("maxDepth", fields.max_depth, 16), ("maxSteps", fields.max_steps, 500)] {
        if number == 0 || number > most {
            let text = format!("{path} is {number}.");
            checked.add(path, "out_of_range", text, format!("Use 1 to {most}."));
        }
    }
    let budget = fields.budget;
    let amounts = [
        ("budget.steps", budget.steps.map(u64::from)),
        ("budget.tokens", budget.tokens),
        ("budget.microUsd", budget.micro_usd),
        ("budget.wallTimeMs", budget.wall_time_ms),
    ];
    for (path, _) in amounts.into_iter().filter(|(_, amount)| *amount == Some(0)) {
        let fix = "Use a number above 0, or leave it out.";
        checked.add(path, "out_of_range", format!("{path} is 0: nothing could be done."), fix);
    }
    let lists = [
        ("fallback", fields.fallback.len()),
        ("toolKeys", fields.tool_keys.len()),
        ("groups", fields.groups.len()),
        ("toolGroups", fields.tool_groups.len()),
        ("allowedSubAgents", fields.allowed_sub_agents.len()),
        ("editableFileSuffixes", fields.editable_file_suffixes.len()),
        ("modes", fields.modes.len()),
        ("pageIds", fields.page_ids.len()),
        ("aliases", fields.aliases.len()),
    ];
    for (path, count) in lists.into_iter().filter(|(_, count)| *count > MOST_ENTRIES) {
        let fix = format!("Use at most {MOST_ENTRIES}.");
        checked.add(path, "too_long", format!("{path} has {count} entries."), fix);
    }
    for (at, suffix) in fields.editable_file_suffixes.iter().enumerate() {
        if !EditLimit::is_suffix(suffix) {
            let fix = "A suffix begins with a dot, such as .md.";
            let text = format!("\"{suffix}\" is no suffix of a file's name.");
            checked.add(&format!("editableFileSuffixes[{at}]"), "bad_suffix", text, fix);
        }
    }
    let named = fields.modes.iter().enumerate().map(|(at, mode)| (format!("modes[{at}]"), mode));
    let pages = fields.page_ids.iter().enumerate().map(|(at, page)| (format!("pageIds[{at}]"), page));
    for (path, text) in named.chain(pages) {
        if text.trim().is_empty()
            || text.len() > protocol::id::MAX_ID_BYTES
            || text.chars().any(char::is_control)
        {
            let fix = format!("Use 1 to {} bytes on one line.", protocol::id::MAX_ID_BYTES);
            checked.add(&path, "bad_text", format!("{path} cannot be used."), fix);
        }
    }
}

/// `toolKeys` of `toolKeys[1]`.
fn root(path: &str) -> &str {
    path.split(['[', '.']).next().unwrap_or(path)
}

/// The names there are, the one that was probably meant first.
fn known(what: &str, written: &str, names: &[&str]) -> String {
    let meant = tools::names::resolve(written, names.iter().copied()).filter(|meant| *meant != written);
    let meant = meant.map_or(String::new(), |meant| format!("Did you mean {meant}? "));
    format!("{meant}The {what} are: {}.", names.join(", "))
}

/// With what could not be read: told once, not a second time for the value that stands in its place.
pub fn after(unread: Vec<FieldProblem>, checked: AgentCheck) -> AgentCheck {
    let told: Vec<String> = unread.iter().map(|one| root(&one.path).to_owned()).collect();
    let fresh = |one: &FieldProblem| !told.iter().any(|path| path == root(&one.path));
    let problems = unread.into_iter().chain(checked.problems.into_iter().filter(fresh)).collect();
    AgentCheck { problems, warnings: checked.warnings.into_iter().filter(fresh).collect() }
}

trait Tell {
    fn add(&mut self, path: &str, code: &str, message: impl Into<String>, fix: impl Into<String>);
    fn warn(&mut self, path: &str, code: &str, message: impl Into<String>, fix: impl Into<String>);
}

impl Tell for AgentCheck {
    fn add(&mut self, path: &str, code: &str, message: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(problem(path, code, message, fix));
    }

    fn warn(&mut self, path: &str, code: &str, message: impl Into<String>, fix: impl Into<String>) {
        self.warnings.push(problem(path, code, message, fix));
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
