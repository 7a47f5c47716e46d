//! The system prompt: the agent's role, stable from call to call so that provider caches hit.

use crate::{agents::AgentDefinition, run::turn::Offer};

const LAST_STEP: &str = "\n\nYou have reached the limit of steps for this turn. Do not ask for more tools: \
     say what you found, what is still open, and that the limit was reached.";

pub(crate) fn system(agent: &AgentDefinition, offer: Offer) -> String {
    match offer {
        Offer::Tools => agent.prompt.clone(),
        Offer::NoTools => format!("{}{LAST_STEP}", agent.prompt),
    }
}
