//! The agents a person can talk to.

use std::sync::{Arc, LazyLock};

use crate::EngineError;

/// An agent at work has a role, a set of tools and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    pub display_name: String,
    pub prompt: String,
    /// `provider/model`; the default model when absent.
    pub model: Option<String>,
    /// Asked in this order when the model gives up; the chain of the settings when empty.
    pub fallback: Vec<String>,
    pub max_steps: u32,
}

const MAX_STEPS: u32 = 50;

static GENERAL: LazyLock<Arc<AgentDefinition>> = LazyLock::new(|| {
    Arc::new(AgentDefinition {
        name: "general".to_owned(),
        display_name: "General".to_owned(),
        prompt: include_str!("agents/builtin/general.md").trim_end().to_owned(),
        model: None,
        fallback: Vec::new(),
        max_steps: MAX_STEPS,
    })
});

/// The main agent of a request; a session without a choice talks to `general`.
pub(crate) fn main_agent(name: Option<&str>) -> Result<Arc<AgentDefinition>, EngineError> {
    match name {
        None | Some("general" | "main" | "master") => Ok(Arc::clone(&GENERAL)),
        Some(other) => Err(EngineError::InvalidMessage(format!(
            "There is no agent named \"{other}\". The agents are: general."
        ))),
    }
}
