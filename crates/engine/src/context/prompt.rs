//! The system prompt: the role of an agent and the preface of its session. It is the same in every call of a session, so
//! that the prompt caches of providers are used.

use models::{ModelMessage, UserContent};

use protocol::{RunOptions, WorkspaceId};

use crate::agents::{AgentDefinition, prompt, template_threads::TemplateThreads, tool_set::ToolSet};

/// The role, then the preface. The error is a sentence for a person.
pub(crate) async fn system(
    agent: &AgentDefinition,
    tools: &ToolSet,
    workspace: &WorkspaceId,
    options: &RunOptions,
    caller: Option<&str>,
    preface: &str,
    threads: &TemplateThreads,
) -> Result<String, String> {
    protocol::crash_point!("template", agent.prompt.text());
    let names = tools.names();
    let scene = prompt::Scene { workspace, options, caller, tools: &names, sub_agents: &tools.callable };
    let role = prompt::write(agent, &scene, threads)
        .await
        .map_err(|error| format!("The prompt of \"{}\" cannot be written: {error}.", agent.name))?;
    Ok(if preface.is_empty() { role } else { format!("{role}\n\n{preface}") })
}

/// A text for the model that is not part of the conversation.
pub(crate) fn facts(text: String) -> ModelMessage {
    ModelMessage::User { content: vec![UserContent::Facts(text)] }
}
