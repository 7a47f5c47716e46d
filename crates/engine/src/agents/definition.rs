//! What an agent is: one definition for the agents a person talks to and for those they delegate to, whatever
//! source it came from. A definition only *names* tools and other agents; what they do is code.

use protocol::{AgentKind, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Model calls a main agent may make for one message.
pub const MAIN_STEPS: u32 = 50;
/// Model calls a sub-agent may make for one task.
pub const SUB_STEPS: u32 = 20;
/// How deep delegation may go below the main agent.
pub const MAX_DEPTH: u32 = 4;
/// How long one sub-agent may work.
pub const SUB_WALL_TIME_MS: u64 = 10 * 60 * 1000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// Unique among the agents of a workspace; what a delegation names.
    pub name: String,
    pub kind: AgentKind,
    pub display_name: String,
    /// What it is good for: callers choose by this text.
    pub description: String,
    /// Other names it answers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub prompt: String,
    /// The prompt for a task written in Chinese.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_zh: Option<String>,
    /// Another model than the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// Asked in this order when the model gives up; the chain of the settings when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Tool keys. `*` stands for every tool and is for code templates only.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Capability groups; see [`super::groups`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Groups of its tools that the agent can put away and take out itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_groups: Vec<ToolGroup>,
    /// Whom it may delegate to; empty means nobody.
    #[serde(default)]
    pub allowed_sub_agents: Vec<String>,
    pub max_depth: u32,
    pub max_steps: u32,
    #[serde(default)]
    pub budget: BudgetLimits,
    /// For a main agent: whether what one sub-agent found is handed to the others' next task.
    #[serde(default = "yes")]
    pub auto_broadcast: bool,
    /// The modes it can be used in; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// The pages it can be used on; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_ids: Vec<String>,
    pub enabled: bool,
    pub version: u32,
    /// The workspace that defined it; none for what comes with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChoice {
    pub provider: String,
    pub model_id: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

impl ModelChoice {
    /// `provider/model`, as the catalog knows it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model_id)
    }
}

/// Tools that are equipped together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolGroup {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub tools: Vec<String>,
    /// Whether the agent begins with it.
    #[serde(default)]
    pub active: bool,
}

/// What an agent and everything below it may use up. Absent means: only what its caller has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Model calls of the agent and all agents below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time_ms: Option<u64>,
}

/// Agents that are equal to the program's own way of making one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentType {
    /// Comes with the program.
    System,
    /// The fixed agent for trying out approvals.
    TestApproval,
    /// Made from a prompt and tool keys in the call.
    Dynamic,
    /// Defined by a workspace.
    Default,
}

/// The name under which a call makes its own agent.
pub const DYNAMIC: &str = "dynamic";
const TEST_APPROVAL: &str = "test-approval";

impl AgentDefinition {
    /// An agent of this kind with the usual limits and nothing it may do.
    pub fn bare(kind: AgentKind, name: &str, prompt: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            display_name: name.to_owned(),
            description: String::new(),
            aliases: Vec::new(),
            prompt: prompt.to_owned(),
            prompt_zh: None,
            model: None,
            fallback: Vec::new(),
            tools: Vec::new(),
            groups: Vec::new(),
            tool_groups: Vec::new(),
            allowed_sub_agents: Vec::new(),
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
            workspace: None,
        }
    }

    pub fn agent_type(&self) -> AgentType {
        match (&self.workspace, self.name.as_str()) {
            (_, DYNAMIC) => AgentType::Dynamic,
            (Some(_), _) => AgentType::Default,
            (None, TEST_APPROVAL) => AgentType::TestApproval,
            (None, _) => AgentType::System,
        }
    }

    /// Whether it can be used in this mode and on this page.
    pub fn fits(&self, mode: Option<&str>, page: Option<&str>) -> bool {
        let fits = |allowed: &[String], now: Option<&str>| {
            allowed.is_empty() || now.is_none_or(|now| allowed.iter().any(|one| one == now))
        };
        fits(&self.modes, mode) && fits(&self.page_ids, page)
    }

    /// The prompt for a task in this language.
    pub fn prompt_for(&self, task: &str) -> &str {
        match &self.prompt_zh {
            Some(chinese) if is_chinese(task) => chinese,
            _ => &self.prompt,
        }
    }
}

fn yes() -> bool {
    true
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
        assert_eq!(agent.prompt_for("总结这份文件"), "english");
        agent.prompt_zh = Some("中文".to_owned());
        assert_eq!(agent.prompt_for("总结这份文件 report.pdf"), "中文");
        assert_eq!(agent.prompt_for("summarise the file 报告.pdf for me please"), "english");
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
