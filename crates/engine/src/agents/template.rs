//! The agents that come with the program: a folder each, with `agent.toml`, `prompt.md` and perhaps `prompt.zh.md`.
//!
//! `agent.toml` is also the form of the agents a person writes; there the prompt may stand in the file itself.

use std::sync::Arc;

use protocol::{AgentKind, BudgetLimits, ModelChoice, ToolGroup};
use serde::Deserialize;

use super::definition::AgentDefinition;

struct Folder {
    name: &'static str,
    toml: &'static str,
    prompt: &'static str,
    chinese: Option<&'static str>,
}

macro_rules! folders {
    ($($name:literal $(+ $chinese:literal)?),* $(,)?) => {
        [$(Folder {
            name: $name,
            toml: include_str!(concat!("templates/", $name, "/agent.toml")),
            prompt: include_str!(concat!("templates/", $name, "/prompt.md")),
            chinese: folders!(@chinese $name $($chinese)?),
        }),*]
    };
    (@chinese $name:literal) => { None };
    (@chinese $name:literal $chinese:literal) => {
        Some(include_str!(concat!("templates/", $name, "/", $chinese)))
    };
}

static FOLDERS: [Folder; 15] = folders![
    "general",
    "requirement_analyzer",
    "debugger",
    "search" + "prompt.zh.md",
    "browser",
    "file",
    "generate",
    "document",
    "shell",
    "research" + "prompt.zh.md",
    "project",
    "email",
    "calendar",
    "widget",
    "test-approval",
];

/// An agent as a TOML file says it; what is absent has the usual value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentToml {
    #[serde(default = "sub")]
    kind: AgentKind,
    name: Option<String>,
    display_name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    aliases: Vec<String>,
    prompt: Option<String>,
    prompt_zh: Option<String>,
    model: Option<ModelChoice>,
    #[serde(default)]
    fallback: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    tool_groups: Vec<ToolGroup>,
    #[serde(default)]
    allowed_sub_agents: Vec<String>,
    max_depth: Option<u32>,
    max_steps: Option<u32>,
    budget: Option<BudgetLimits>,
    auto_broadcast: Option<bool>,
    #[serde(default)]
    modes: Vec<String>,
    #[serde(default)]
    page_ids: Vec<String>,
    enabled: Option<bool>,
}

fn sub() -> AgentKind {
    AgentKind::Sub
}

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("the agent `{0}` cannot be read: {1}")]
    Toml(String, String),
    #[error("the agent `{0}` has no prompt: write it into prompt.md, or as `prompt` into the file")]
    NoPrompt(String),
}

/// Reads one agent; `name` is that of its folder or file.
pub fn read(name: &str, toml: &str, prompt: Option<&str>) -> Result<AgentDefinition, TemplateError> {
    let raw: AgentToml = toml::from_str(toml)
        .map_err(|error| TemplateError::Toml(name.to_owned(), error.message().to_owned()))?;
    let prompt = raw.prompt.as_deref().or(prompt).map(str::trim).filter(|prompt| !prompt.is_empty());
    let prompt = prompt.ok_or_else(|| TemplateError::NoPrompt(name.to_owned()))?;
    let usual = AgentDefinition::bare(raw.kind, raw.name.as_deref().unwrap_or(name), prompt);
    Ok(AgentDefinition {
        display_name: raw.display_name.unwrap_or_else(|| usual.display_name.clone()),
        description: raw.description,
        aliases: raw.aliases,
        prompt_zh: raw.prompt_zh,
        model: raw.model,
        fallback: raw.fallback,
        tools: raw.tools,
        groups: raw.groups,
        tool_groups: raw.tool_groups,
        allowed_sub_agents: raw.allowed_sub_agents,
        max_depth: raw.max_depth.unwrap_or(usual.max_depth),
        max_steps: raw.max_steps.unwrap_or(usual.max_steps),
        budget: raw.budget.unwrap_or(usual.budget),
        auto_broadcast: raw.auto_broadcast.unwrap_or(true),
        modes: raw.modes,
        page_ids: raw.page_ids,
        enabled: raw.enabled.unwrap_or(true),
        ..usual
    })
}

/// The agents of the program. One that cannot be read is a defect of the build, told in the log.
pub(super) fn builtin() -> Vec<Arc<AgentDefinition>> {
    FOLDERS
        .iter()
        .filter_map(|folder| match read(folder.name, folder.toml, Some(folder.prompt)) {
            Ok(mut agent) => {
                agent.prompt_zh = folder.chinese.map(|text| text.trim().to_owned());
                Some(Arc::new(agent))
            }
            Err(error) => {
                tracing::error!(%error, "a built-in agent is left out");
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word or a Chinese character and a half is about a token; this counts more, never less.
    fn tokens(text: &str) -> usize {
        text.chars().filter(|letter| !letter.is_ascii()).count() + text.len() / 3
    }

    #[test]
    fn every_built_in_agent_can_be_read_and_its_prompt_is_short() {
        let agents = builtin();
        assert_eq!(agents.len(), FOLDERS.len());
        for agent in agents {
            for prompt in [Some(&agent.prompt), agent.prompt_zh.as_ref()].into_iter().flatten() {
                assert!(tokens(prompt) < 2000, "{} has {} tokens", agent.name, tokens(prompt));
                assert!(prompt.len() > 300, "{} says too little", agent.name);
            }
            assert!(!agent.description.is_empty() && !agent.display_name.is_empty());
        }
    }

    #[test]
    fn a_file_says_what_differs_from_the_usual() {
        let agent =
            read("tiny", "displayName = \"Tiny\"\ntools = [\"time-now\"]\nprompt = \"Be brief.\"", None);
        let agent = agent.unwrap();
        assert_eq!((agent.name.as_str(), agent.kind, agent.max_steps), ("tiny", AgentKind::Sub, 20));
        let error = read("tiny", "tool = []", Some("p")).unwrap_err().to_string();
        assert!(error.contains("tiny") && error.contains("tool"), "{error}");
        assert!(read("tiny", "", None).unwrap_err().to_string().contains("prompt"));
    }
}
