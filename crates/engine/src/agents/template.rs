//! The agents that come with the program: a folder each, with `agent.toml`, `prompt.md` and perhaps `prompt.zh.md`.
//!
//! `agent.toml` is also the form of the agents a person writes; there the prompt may stand in the file itself.

use std::sync::Arc;

use protocol::AgentSource;
use serde_json::{Map, Value};

use super::{
    AgentDefinition, draft,
    file::{self, Form, Unreadable},
};

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

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("the agent `{0}` cannot be read: {1}")]
    Unreadable(String, String),
    #[error("the agent `{0}` has no prompt: write it into prompt.md, or as `prompt` into the file")]
    NoPrompt(String),
}

/// The definition in an `agent.toml`, with what stands beside it in its folder: the name and the prompts.
pub fn body(
    name: &str,
    toml: &str,
    prompt: Option<&str>,
    chinese: Option<&str>,
) -> Result<Map<String, Value>, Unreadable> {
    let mut body =
        file::bodies(Form::Toml, toml)?.into_iter().map(|(_, body)| body).next().unwrap_or_default();
    body.entry("name").or_insert_with(|| name.into());
    for (field, text) in [("systemPrompt", prompt), ("systemPromptZh", chinese)] {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        if let Some(text) = text.filter(|_| !body.contains_key(field)) {
            body.insert(field.to_owned(), text.into());
        }
    }
    Ok(body)
}

/// Reads one agent; `name` is that of its folder or file.
pub fn read(
    name: &str,
    toml: &str,
    prompt: Option<&str>,
    chinese: Option<&str>,
) -> Result<AgentDefinition, TemplateError> {
    let unreadable = |text: String| TemplateError::Unreadable(name.to_owned(), text);
    let body = body(name, toml, prompt, chinese).map_err(|error| unreadable(error.to_string()))?;
    if !body.contains_key("systemPrompt") {
        return Err(TemplateError::NoPrompt(name.to_owned()));
    }
    let draft = draft::whole(&body);
    match draft.problems.first() {
        None => Ok(AgentDefinition::from_fields(draft.fields, AgentSource::System)),
        Some(first) => Err(unreadable(format!("{} {}", first.message, first.fix))),
    }
}

/// The agents of the program. One that cannot be read is a defect of the build, told in the log.
pub(super) fn builtin() -> Vec<Arc<AgentDefinition>> {
    FOLDERS
        .iter()
        .filter_map(|folder| match read(folder.name, folder.toml, Some(folder.prompt), folder.chinese) {
            Ok(agent) => Some(Arc::new(agent)),
            Err(error) => {
                tracing::error!(%error, "a built-in agent is left out");
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use protocol::AgentKind;

    use super::*;
    use crate::agents::Prompt;

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
                assert!(
                    matches!(prompt, Prompt::Literal(_)),
                    "{} would be rendered for every run",
                    agent.name
                );
                let prompt = prompt.text();
                assert!(tokens(prompt) < 2000, "{} has {} tokens", agent.name, tokens(prompt));
                assert!(prompt.len() > 300, "{} says too little", agent.name);
            }
            assert!(!agent.description.is_empty() && !agent.display_name.is_empty());
        }
    }

    #[test]
    fn a_file_says_what_differs_from_the_usual() {
        let agent = read(
            "tiny",
            "displayName = \"Tiny\"\ntools = [\"time-now\"]\nprompt = \"Be brief.\"",
            None,
            None,
        );
        let agent = agent.unwrap();
        assert_eq!((agent.name.as_str(), agent.kind, agent.max_steps), ("tiny", AgentKind::Sub, 20));
        let error = read("tiny", "tool = []", Some("p"), None).unwrap_err().to_string();
        assert!(error.contains("tiny") && error.contains("tool"), "{error}");
        assert!(read("tiny", "", None, None).unwrap_err().to_string().contains("prompt"));
    }
}
