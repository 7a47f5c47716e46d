//! The system prompt: the agent's role, stable from call to call so that provider caches hit.

use crate::{agents::AgentDefinition, run::turn::Offer};

const LAST_STEP: &str = "\n\nYou have reached a limit of this turn. Do not ask for more tools: \
     say what you found, what is still open, and that the limit was reached.";

/// What is said to the model once, after its own words; it is part of no message.
pub(crate) fn hint(offer: Offer) -> Option<&'static str> {
    match offer {
        Offer::Tools | Offer::NoTools => None,
        Offer::Summarise => {
            Some("Your work ended without a word about its result. Say now what you found or did.")
        }
        Offer::Finish => Some("Give your answer with the tool generate_response, in the form it asks for."),
        Offer::Nudge => Some("You have said nothing yet. Do the task, or say why it cannot be done."),
    }
}

pub(crate) fn system(agent: &AgentDefinition, offer: Offer) -> String {
    match offer {
        Offer::Tools | Offer::Summarise | Offer::Nudge | Offer::Finish => agent.prompt.clone(),
        Offer::NoTools => format!("{}{LAST_STEP}", agent.prompt),
    }
}
