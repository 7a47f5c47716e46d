//! What `/api/agents` takes and gives: the definition of an agent, the agents there are, what is wrong with one.

use serde::{Deserialize, Serialize};

use crate::{
    agent::{AgentKind, AgentSource, AgentType, BudgetLimits, ModelChoice, ToolGroup},
    id::{AgentId, WorkspaceId},
    source::Timestamp,
};

/// What somebody says about an agent. A request may leave out all but `name` and `systemPrompt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFields {
    /// Unique in the workspace; what a delegation and `agentId` name.
    pub name: String,
    pub kind: AgentKind,
    pub display_name: String,
    /// What it is good for: callers choose by this text.
    pub description: String,
    pub enabled: bool,
    /// The role; a template over the variables that `GET /api/agents` lists.
    pub system_prompt: String,
    /// The role for a task written in Chinese.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_zh: Option<String>,
    /// Another model than the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// Models as `provider/model`, asked in this order when the first gives up.
    #[serde(default)]
    pub fallback: Vec<String>,
    #[serde(default)]
    pub tool_keys: Vec<String>,
    /// Capability groups: names for sets of tools.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Groups of tools that the agent can put away and take out itself.
    #[serde(default)]
    pub tool_groups: Vec<ToolGroup>,
    /// Whom it may delegate to; empty means nobody.
    #[serde(default)]
    pub allowed_sub_agents: Vec<String>,
    /// How deep delegation may go below it.
    pub max_depth: u32,
    /// Model calls it may make for one message or task.
    pub max_steps: u32,
    #[serde(default)]
    pub budget: BudgetLimits,
    /// For a main agent: whether what one sub-agent found is handed to the others' next task.
    pub auto_broadcast: bool,
    /// The modes it can be used in; empty means all.
    #[serde(default)]
    pub modes: Vec<String>,
    /// The pages it can be used on; empty means all.
    #[serde(default)]
    pub page_ids: Vec<String>,
    /// Other names it answers to.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// An agent as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Only what the database holds has an id and can be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<AgentId>,
    pub source: AgentSource,
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    #[serde(flatten)]
    pub fields: AgentFields,
    /// Counts the changes; a change names the version it is made from.
    pub version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Whether it can be used now.
    pub available: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tools it has here: those it names, of those that exist and the workspace may use.
    pub effective_tools: Vec<String>,
    /// What does not stop it from working, but is probably not meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FieldProblem>,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldProblem {
    /// The field, as in `toolKeys[1]` or `model.provider`; empty for the whole.
    pub path: String,
    /// In lower snake case, as in `unknown_tool`.
    pub code: String,
    /// The line, where the field is a text of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// What a definition would be answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentCheck {
    /// It cannot be saved as it is.
    pub problems: Vec<FieldProblem>,
    /// It can, but this is probably not meant.
    pub warnings: Vec<FieldProblem>,
}

/// All agents of a workspace, strongest first, and what definitions are written with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentList {
    pub agents: Vec<AgentInfo>,
    pub groups: Vec<CapabilityGroup>,
    pub variables: Vec<PromptVariable>,
}

/// A name for a set of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapabilityGroup {
    pub name: String,
    pub tools: Vec<String>,
    /// Whether all its tools exist and the workspace may use them.
    pub available: bool,
}

/// What a prompt may refer to, as in `{{ project }}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptVariable {
    pub name: String,
    pub about: String,
}
