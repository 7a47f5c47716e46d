//! The delegation tools: their descriptions and inputs. The engine executes them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    AnyTool,
    typed::{Family, delegating},
};

pub const SUB_AGENT: &str = "sub-agent";
pub const SPAWN_AGENT: &str = "spawn-agent";
pub const SEND_INPUT: &str = "send-input";
pub const WAIT_AGENT: &str = "wait-agent";
pub const ABORT_AGENT: &str = "abort-agent";

pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        delegating::<SubAgentInput>(SUB_AGENT, Family::Contract),
        delegating::<SpawnAgentInput>(SPAWN_AGENT, Family::Contract),
        delegating::<SendInputInput>(SEND_INPUT, Family::Contract),
        delegating::<WaitAgentInput>(WAIT_AGENT, Family::Contract),
        delegating::<AbortAgentInput>(ABORT_AGENT, Family::Contract),
    ]
}

/// Hand a part of the work to a sub-agent and wait for its report. Several calls in one step run at the same time. The
/// sub-agent sees nothing of this conversation but the task and the context you give it; you read a summary of its work.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SubAgentInput {
    /// Which agent.
    pub name: String,
    /// What it shall do, understandable on its own: the goal, what it needs to know, what the result should look like.
    pub task: String,
    /// Facts that belong to the task, such as addresses, paths or earlier results.
    pub context: Option<Map<String, Value>>,
    /// How it shall work.
    pub options: Option<SubAgentOptions>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct SubAgentOptions {
    /// For the agent `dynamic`: its role and rules.
    pub prompt: Option<String>,
    /// For the agent `dynamic`: the tools it may use, of those you have yourself.
    pub tools: Option<Vec<String>>,
    /// A JSON schema; the report is then an object that fits it.
    #[serde(rename = "outputSchema")]
    pub output_schema: Option<Map<String, Value>>,
    /// The mode of the interface it works in.
    pub mode: Option<String>,
}

/// Start a sub-agent that works in the background, and go on. Its report comes with `wait-agent`, or by itself when you
/// would otherwise end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SpawnAgentInput {
    /// Which agent.
    pub name: String,
    /// What it shall do, understandable on its own.
    pub task: String,
    /// Facts that belong to the task.
    pub context: Option<Map<String, Value>>,
    /// How it shall work.
    pub options: Option<SubAgentOptions>,
}

/// Say something to a sub-agent that works in the background; it reads it before its next step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SendInputInput {
    /// The `agentId` that `spawn-agent` gave.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// What it shall know or do differently.
    pub message: String,
}

/// Wait until a background sub-agent has ended, and read its report.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct WaitAgentInput {
    /// The `agentId`s to wait for; the first one that ends is reported.
    #[serde(rename = "agentIds")]
    pub agent_ids: Vec<String>,
    /// How long to wait, in milliseconds; 30000 when absent.
    #[serde(rename = "timeoutMs")]
    pub timeout_ms: Option<u64>,
}

/// Stop a background sub-agent; what it has said so far is kept.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct AbortAgentInput {
    /// The `agentId` that `spawn-agent` gave.
    #[serde(rename = "agentId")]
    pub agent_id: String,
}
