//! Requests and responses of `/api/agents`: the definition of an agent, the list of agents, the problems of a definition.

use serde::{Deserialize, Serialize};

use crate::{
    agent::{AgentKind, AgentSource, AgentType, BudgetLimits, ModelChoice, ToolGroup},
    id::{AgentId, WorkspaceId},
    source::Timestamp,
};

/// The definition of an agent. Only `name` and `systemPrompt` are required in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFields {
    /// Unique in the workspace; delegations and `agentId` refer to it.
    pub name: String,
    pub kind: AgentKind,
    pub display_name: String,
    /// Description, by which callers choose an agent.
    pub description: String,
    pub enabled: bool,
    /// The role; a template over the variables that `GET /api/agents` lists.
    pub system_prompt: String,
    /// The role for a task written in Chinese.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_zh: Option<String>,
    /// A model that replaces the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// Fallback models as `provider/model`, tried in this order when the first one fails.
    #[serde(default)]
    pub fallback: Vec<String>,
    #[serde(default)]
    pub tool_keys: Vec<String>,
    /// Capability groups: names for sets of tools.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Groups of tools that the agent can activate and deactivate itself.
    #[serde(default)]
    pub tool_groups: Vec<ToolGroup>,
    /// The agents it may delegate to; none when empty.
    #[serde(default)]
    pub allowed_sub_agents: Vec<String>,
    /// The suffixes of the files that it and its sub-agents may create or change, such as `.md`; all files when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub editable_file_suffixes: Vec<String>,
    /// How deep delegation may go below it.
    pub max_depth: u32,
    /// Model calls it may make for one message or task.
    pub max_steps: u32,
    #[serde(default)]
    pub budget: BudgetLimits,
    /// For a main agent: whether the results of a sub-agent are passed to the next tasks of the others.
    pub auto_broadcast: bool,
    /// The modes it can be used in; all when empty.
    #[serde(default)]
    pub modes: Vec<String>,
    /// The pages it can be used on; all when empty.
    #[serde(default)]
    pub page_ids: Vec<String>,
    /// Alternative names.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// An agent in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Only agents in the database have an id and can be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<AgentId>,
    pub source: AgentSource,
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    #[serde(flatten)]
    pub fields: AgentFields,
    /// Incremented with each change; a change names the version it is based on.
    pub version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Whether it can be used now.
    pub available: bool,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tools it can use: those of its definition that exist and that the workspace may use.
    pub effective_tools: Vec<String>,
    /// Problems that do not prevent its use, but are probably mistakes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FieldProblem>,
}

/// A problem of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldProblem {
    /// The field, as in `toolKeys[1]` or `model.provider`; empty for the whole request.
    pub path: String,
    /// In lower snake case, as in `unknown_tool`.
    pub code: String,
    /// The line, when the field is a text of several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// The result of checking a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentCheck {
    /// Problems that prevent saving.
    pub problems: Vec<FieldProblem>,
    /// Probable mistakes that do not prevent saving.
    pub warnings: Vec<FieldProblem>,
}

/// All agents of a workspace, highest precedence first, and the tools and variables for definitions.
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

/// A variable that a prompt may contain, as in `{{ project }}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptVariable {
    pub name: String,
    pub about: String,
}
