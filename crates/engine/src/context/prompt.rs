//! The parts of a model request that are ours: the system prompt, stable from call to call so that provider caches hit,
//! and the words that end a turn which has used up its steps.

use models::{ModelMessage, UserContent};

use protocol::{RunOptions, WorkspaceId};

use crate::{
    agents::{AgentDefinition, kit::Kit, prompt, template_threads::TemplateThreads},
    run::turn::Offer,
};

/// The role first, then what is so in this session. The error is a sentence for a person.
pub(crate) async fn system(
    agent: &AgentDefinition,
    kit: &Kit,
    workspace: &WorkspaceId,
    options: &RunOptions,
    caller: Option<&str>,
    preface: &str,
    threads: &TemplateThreads,
) -> Result<String, String> {
    protocol::crash_point!("template", agent.prompt.text());
    let tools = kit.names();
    let scene = prompt::Scene { workspace, options, caller, tools: &tools, sub_agents: &kit.callable };
    let role = prompt::write(agent, &scene, threads)
        .await
        .map_err(|error| format!("The prompt of \"{}\" cannot be written: {error}.", agent.name))?;
    Ok(if preface.is_empty() { role } else { format!("{role}\n\n{preface}") })
}

const LAST_STEP: &str = "<turn>\nYou have reached the limit of steps for this turn. Do not call tools any more: say what \
     you found, what is still open, and that the limit was reached.\n</turn>";
const SUMMARISE: &str =
    "<turn>\nYour work ended without a word about its result. Say now what you found or did.\n</turn>";
const NUDGE: &str = "<turn>\nYou have said nothing yet. Do the task, or say why it cannot be done.\n</turn>";
const FINISH: &str =
    "<turn>\nGive your answer with the tool generate_response, in the form it asks for.\n</turn>";

/// Stands behind everything else and is not kept, so that nothing before it changes.
pub(crate) fn hint(offer: Offer) -> Option<ModelMessage> {
    let text = match offer {
        Offer::Tools => return None,
        Offer::NoTools => LAST_STEP,
        Offer::Summarise => SUMMARISE,
        Offer::Nudge => NUDGE,
        Offer::Finish => FINISH,
    };
    Some(facts(text.to_owned()))
}

/// Something said to the model once.
pub(crate) fn facts(text: String) -> ModelMessage {
    ModelMessage::User { content: vec![UserContent::Facts(text)] }
}

/// The result of a call that is made all the same.
pub(crate) const NO_MORE_CALLS: &str = "The limit of steps for this turn is reached; this call was not made.";

/// Said for a model that had nothing to say at the limit.
pub(crate) fn limit_reached(steps: u32) -> String {
    format!(
        "I stopped here: the limit of {steps} steps for one turn is reached. Send a message and I will go on."
    )
}
