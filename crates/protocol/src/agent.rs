//! The agent that wrote a message (`metadata.agent`), and the values that an agent's definition consists of.

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

    /// A sub-agent of the agent with this path.
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

/// A main agent that a session can be given, as clients see it. Its prompt and its tools stay on the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MainAgent {
    pub id: String,
    pub name: String,
    pub description: String,
}

/// The origin of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentSource {
    /// Built into the program.
    #[default]
    System,
    /// A folder or file of the server's operator.
    File,
    /// Defined by a workspace, over `/api/agents`.
    Database,
}

/// The kind of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AgentType {
    /// Built into the program.
    System,
    /// The fixed agent for trying out approvals.
    TestApproval,
    /// Made from a prompt and tool keys in the delegating call.
    Dynamic,
    /// Defined by a person.
    Default,
}

/// A model that replaces the run's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelChoice {
    pub provider: String,
    pub model_id: String,
    /// Parameters of the model request: `temperature`, `topP`, `maxOutputTokens` and so on.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

impl ModelChoice {
    /// `provider/model`, as the catalog knows it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model_id)
    }
}

/// Tools that are activated together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolGroup {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub tools: Vec<String>,
    /// Whether it is active from the start.
    #[serde(default)]
    pub active: bool,
}

/// Limits of an agent and all agents below it. An absent limit means that only the caller's remaining budget applies.
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
