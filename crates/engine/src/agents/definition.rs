//! What an agent is: one definition for the agents a person talks to and for those they delegate to, whatever
//! source it came from. A definition only *names* tools and other agents; what they do is code.

use protocol::{
    AgentId, AgentKind, AgentSource, AgentType, BudgetLimits, ModelChoice, Timestamp, ToolGroup, WorkspaceId,
    wire::agents::AgentFields,
};
use store::DefinitionRecord;

use super::{groups, prompt::Prompt};

/// Model calls a main agent may make for one message.
pub const MAIN_STEPS: u32 = 50;
/// Model calls a sub-agent may make for one task.
pub const SUB_STEPS: u32 = 20;
/// How deep delegation may go below the main agent.
pub const MAX_DEPTH: u32 = 4;
/// How long one sub-agent may work.
pub const SUB_WALL_TIME_MS: u64 = 10 * 60 * 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct AgentDefinition {
    /// Unique among the agents of a workspace; what a delegation names.
    pub name: String,
    pub kind: AgentKind,
    pub display_name: String,
    /// What it is good for: callers choose by this text.
    pub description: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    pub prompt: Prompt,
    /// The prompt for a task written in Chinese.
    pub prompt_zh: Option<Prompt>,
    /// Another model than the run's.
    pub model: Option<ModelChoice>,
    /// Asked in this order when the model gives up; the chain of the settings when empty.
    pub fallback: Vec<String>,
    /// Tool keys. [`EVERYTHING`] stands for every tool and is for code templates only.
    pub tools: Vec<String>,
    /// Whether tools that a workspace may not use are left out. Otherwise the agent cannot be used there at all.
    pub tools_optional: bool,
    /// Capability groups; see [`super::groups`].
    pub groups: Vec<String>,
    /// Groups of its tools that the agent can put away and take out itself.
    pub tool_groups: Vec<ToolGroup>,
    /// Whom it may delegate to; empty means nobody. [`EVERYTHING`] stands for every agent that a person defined and is
    /// for code templates only.
    pub allowed_sub_agents: Vec<String>,
    /// The suffixes of the files that it and its sub-agents may create or change; empty means all files.
    pub editable_suffixes: Vec<String>,
    pub max_depth: u32,
    pub max_steps: u32,
    pub budget: BudgetLimits,
    /// For a main agent: whether what one sub-agent found is handed to the others' next task.
    pub auto_broadcast: bool,
    /// The modes it can be used in; empty means all.
    pub modes: Vec<String>,
    /// The pages it can be used on; empty means all.
    pub page_ids: Vec<String>,
    pub enabled: bool,
    pub version: u32,
    pub source: AgentSource,
    /// What the database knows it by.
    pub id: Option<AgentId>,
    /// The workspace that defined it; none for what comes with the program or from files.
    pub workspace: Option<WorkspaceId>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// In a code template: all tools, or all agents that a person defined.
pub const EVERYTHING: &str = "*";
/// The name under which a call makes its own agent.
pub const DYNAMIC: &str = "dynamic";
const TEST_APPROVAL: &str = "test-approval";

impl AgentDefinition {
    /// An agent of this kind with the usual limits and nothing it may do. The prompt is literal, whoever wrote it.
    pub fn bare(kind: AgentKind, name: &str, prompt: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            display_name: name.to_owned(),
            description: String::new(),
            aliases: Vec::new(),
            prompt: Prompt::literal(prompt),
            prompt_zh: None,
            model: None,
            fallback: Vec::new(),
            tools: Vec::new(),
            tools_optional: false,
            groups: Vec::new(),
            tool_groups: Vec::new(),
            allowed_sub_agents: Vec::new(),
            editable_suffixes: Vec::new(),
            max_depth: MAX_DEPTH,
            max_steps: match kind {
                AgentKind::Main => MAIN_STEPS,
                AgentKind::Sub => SUB_STEPS,
            },
            budget: BudgetLimits {
                wall_time_ms: (kind == AgentKind::Sub).then_some(SUB_WALL_TIME_MS),
                ..BudgetLimits::default()
            },
            auto_broadcast: true,
            modes: Vec::new(),
            page_ids: Vec::new(),
            enabled: true,
            version: 1,
            source: AgentSource::System,
            id: None,
            workspace: None,
            created_at: None,
            updated_at: None,
        }
    }

    /// An agent from what a person said about it; its prompts may be templates.
    pub fn from_fields(fields: AgentFields, source: AgentSource) -> Self {
        let kind = fields.kind;
        let prompt = |text| Prompt::of_person(text, kind, source);
        Self {
            name: fields.name,
            kind: fields.kind,
            display_name: fields.display_name,
            description: fields.description,
            aliases: fields.aliases,
            prompt: prompt(fields.system_prompt),
            prompt_zh: fields.system_prompt_zh.map(prompt),
            model: fields.model,
            fallback: fields.fallback,
            tools: fields.tool_keys,
            tools_optional: false,
            groups: fields.groups,
            tool_groups: fields.tool_groups,
            allowed_sub_agents: fields.allowed_sub_agents,
            editable_suffixes: fields.editable_file_suffixes,
            max_depth: fields.max_depth,
            max_steps: fields.max_steps,
            budget: fields.budget,
            auto_broadcast: fields.auto_broadcast,
            modes: fields.modes,
            page_ids: fields.page_ids,
            enabled: fields.enabled,
            version: 1,
            source,
            id: None,
            workspace: None,
            created_at: None,
            updated_at: None,
        }
    }

    pub fn from_record(record: DefinitionRecord) -> Self {
        Self {
            version: record.version,
            id: Some(record.id),
            workspace: Some(record.workspace),
            created_at: Some(record.created_at),
            updated_at: Some(record.updated_at),
            ..Self::from_fields(record.fields, AgentSource::Database)
        }
    }

    /// What it says, as a person would write it.
    pub fn fields(&self) -> AgentFields {
        AgentFields {
            name: self.name.clone(),
            kind: self.kind,
            display_name: self.display_name.clone(),
            description: self.description.clone(),
            enabled: self.enabled,
            system_prompt: self.prompt.text().to_owned(),
            system_prompt_zh: self.prompt_zh.as_ref().map(|prompt| prompt.text().to_owned()),
            model: self.model.clone(),
            fallback: self.fallback.clone(),
            tool_keys: self.tools.clone(),
            groups: self.groups.clone(),
            tool_groups: self.tool_groups.clone(),
            allowed_sub_agents: self.allowed_sub_agents.clone(),
            editable_file_suffixes: self.editable_suffixes.clone(),
            max_depth: self.max_depth,
            max_steps: self.max_steps,
            budget: self.budget,
            auto_broadcast: self.auto_broadcast,
            modes: self.modes.clone(),
            page_ids: self.page_ids.clone(),
            aliases: self.aliases.clone(),
        }
    }

    pub fn agent_type(&self) -> AgentType {
        match (self.source, self.name.as_str()) {
            (_, DYNAMIC) => AgentType::Dynamic,
            (AgentSource::Database | AgentSource::File, _) => AgentType::Default,
            (AgentSource::System, TEST_APPROVAL) => AgentType::TestApproval,
            (AgentSource::System, _) => AgentType::System,
        }
    }

    /// Whether it answers to this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.aliases.iter().chain([&self.name]).any(|own| own.eq_ignore_ascii_case(name))
    }

    /// The tool keys it names, those of its groups included; each once.
    pub fn named_tools(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let own = self.tools.iter().chain(self.tool_groups.iter().flat_map(|group| &group.tools));
        let of_groups = self.groups.iter().filter_map(|group| groups::tools_of(group)).flatten().copied();
        for name in own.map(String::as_str).chain(of_groups) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Whether its allow-list has this agent.
    pub fn may_call(&self, other: &Self) -> bool {
        self.allowed_sub_agents.iter().any(|allowed| {
            *allowed == other.name
                || other.aliases.contains(allowed)
                || (allowed == EVERYTHING && other.source != AgentSource::System)
        })
    }

    /// Whether it can be used in this mode and on this page.
    pub fn fits(&self, mode: Option<&str>, page: Option<&str>) -> bool {
        let fits = |allowed: &[String], now: Option<&str>| {
            allowed.is_empty() || now.is_none_or(|now| allowed.iter().any(|one| one == now))
        };
        fits(&self.modes, mode) && fits(&self.page_ids, page)
    }

    /// The prompt for a task in this language.
    pub fn prompt_for(&self, task: &str) -> &Prompt {
        match &self.prompt_zh {
            Some(chinese) if is_chinese(task) => chinese,
            _ => &self.prompt,
        }
    }
}

/// Whether most letters of the text are Chinese.
fn is_chinese(text: &str) -> bool {
    let (mut chinese, mut other) = (0_usize, 0_usize);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()).take(400) {
        if ('\u{4e00}'..='\u{9fff}').contains(&letter) {
            chinese += 1;
        } else {
            other += 1;
        }
    }
    // A Chinese character says about as much as two or three letters.
    chinese * 3 > other && chinese > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_in_chinese_gets_the_chinese_prompt() {
        let mut agent = AgentDefinition::bare(AgentKind::Sub, "a", "english");
        assert_eq!(agent.prompt_for("总结这份文件").text(), "english");
        agent.prompt_zh = Some(Prompt::literal("中文"));
        assert_eq!(agent.prompt_for("总结这份文件 report.pdf").text(), "中文");
        assert_eq!(agent.prompt_for("summarise the file 报告.pdf for me please").text(), "english");
    }

    #[test]
    fn modes_and_pages_limit_where_an_agent_is_offered() {
        let mut agent = AgentDefinition::bare(AgentKind::Sub, "a", "p");
        assert!(agent.fits(Some("settings"), None));
        agent.modes = vec!["project".to_owned()];
        assert!(agent.fits(None, Some("page")) && agent.fits(Some("project"), None));
        assert!(!agent.fits(Some("settings"), None));
    }
}
