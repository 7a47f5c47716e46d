//! Agents as others see them: who wrote a message (`metadata.agent`), and the values that a definition is made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    Main,
    Sub,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    pub kind: AgentKind,
    pub name: String,
    pub display_name: String,
    pub depth: u32,
    /// The agents from the root to this one.
    pub path: Vec<String>,
}

impl AgentRef {
    pub fn main(name: &str, display_name: &str) -> Self {
        Self {
            kind: AgentKind::Main,
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            depth: 0,
            path: vec![name.to_owned()],
        }
    }

    /// An agent that one with this path delegates to.
    pub fn sub(name: &str, display_name: &str, callers: &[String]) -> Self {
        let mut path = callers.to_vec();
        path.push(name.to_owned());
        Self {
            kind: AgentKind::Sub,
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            depth: u32::try_from(callers.len()).unwrap_or(u32::MAX),
            path,
        }
    }
}

/// Where a definition comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentSource {
    /// Comes with the program.
    #[default]
    System,
    /// A folder or a file of the person who runs the server.
    File,
    /// Defined by a workspace, over `/api/agents`.
    Database,
}

/// How an agent is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AgentType {
    /// Comes with the program.
    System,
    /// The fixed agent for trying out approvals.
    TestApproval,
    /// Made from a prompt and tool keys in the call.
    Dynamic,
    /// Defined by a person.
    Default,
}

/// Another model than the run's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelChoice {
    pub provider: String,
    pub model_id: String,
    /// What the model is asked with: `temperature`, `topP`, `maxOutputTokens` and so on.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
