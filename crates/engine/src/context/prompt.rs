//! The parts of a model request that are ours: the system prompt, stable from call to call so that provider caches hit,
//! and the words that end a turn which has used up its steps.

use models::{ModelMessage, UserContent};

use crate::agents::AgentDefinition;

/// The role first, then what is so in this session.
pub(crate) fn system(agent: &AgentDefinition, preface: &str) -> String {
    if preface.is_empty() { agent.prompt.clone() } else { format!("{}\n\n{preface}", agent.prompt) }
}

const LAST_STEP: &str = "<turn>\nYou have reached the limit of steps for this turn. Do not call tools any more: say what \
     you found, what is still open, and that the limit was reached.\n</turn>";

/// Stands behind everything else and is not kept, so that nothing before it changes.
pub(crate) fn last_step() -> ModelMessage {
    ModelMessage::User { content: vec![UserContent::Facts(LAST_STEP.to_owned())] }
}

/// The result of a call that is made all the same.
pub(crate) const NO_MORE_CALLS: &str = "The limit of steps for this turn is reached; this call was not made.";

/// Said for a model that had nothing to say at the limit.
pub(crate) fn limit_reached(steps: u32) -> String {
    format!(
        "I stopped here: the limit of {steps} steps for one turn is reached. Send a message and I will go on."
    )
}
