//! What a model call adds behind the conversation when a turn ends early or without a result.

use models::ModelMessage;

use crate::{context::prompt, run::agent_loop::turn::Offer};

const LAST_STEP: &str = "<turn>\nYou have reached the limit of steps for this turn. Do not call tools any more: say what \
     you found, what is still open, and that the limit was reached.\n</turn>";
const SUMMARISE: &str =
    "<turn>\nYour work ended without a word about its result. Say now what you found or did.\n</turn>";
const NUDGE: &str = "<turn>\nYou have said nothing yet. Do the task, or say why it cannot be done.\n</turn>";
const FINISH: &str =
    "<turn>\nGive your answer with the tool generate_response, in the form it asks for.\n</turn>";

/// The hint for this offer. It comes last in the request and is not stored, so that the cached prefix stays the same.
pub(super) fn of(offer: Offer) -> Option<ModelMessage> {
    let text = match offer {
        Offer::Tools => return None,
        Offer::NoTools => LAST_STEP,
        Offer::Summarise => SUMMARISE,
        Offer::Nudge => NUDGE,
        Offer::Finish => FINISH,
    };
    Some(prompt::facts(text.to_owned()))
}

/// The result of a call that the model makes after the limit.
pub(super) const NO_MORE_CALLS: &str = "The limit of steps for this turn is reached; this call was not made.";

/// The result of a call to a tool that the agent has put away.
pub(super) fn inactive(tool: &str, group: &str) -> String {
    format!(
        "The tool \"{tool}\" belongs to the inactive group \"{group}\"; this call was not made. Activate the group with \
         reset_equipped_tools first."
    )
}

/// The text of a model that wrote nothing at the limit.
pub(super) fn limit_reached(steps: u32) -> String {
    format!(
        "I stopped here: the limit of {steps} steps for one turn is reached. Send a message and I will go on."
    )
}
