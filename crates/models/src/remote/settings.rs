//! What a model behind HTTP is told about itself, whoever read it from wherever. Plain values; the registry fills
//! them from data.

use std::fmt;

use protocol::Price;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{attached::Reads, params::Params, retry::Limits};

/// The language a server speaks; the name is what provider files call the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireFormat {
    /// Chat completions: `POST {base}/chat/completions`.
    #[serde(rename = "openai")]
    OpenAi,
    /// Responses: `POST {base}/responses`.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Messages: `POST {base}/messages`.
    Anthropic,
    /// Gemini: `POST {base}/models/{model}:streamGenerateContent`.
    Google,
}

impl WireFormat {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Google];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// How a provider is helped to find the beginning of a request in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptCache {
    /// Not at all: the provider does it by itself, or has no cache.
    Off,
    /// As is usual for the wire format: marks for Anthropic, a key for Responses, else nothing.
    #[default]
    Usual,
    /// `prompt_cache_key`, the same for all calls of a session.
    Key,
    /// `cache_control` at the end of what will not change.
    Marks,
}

/// What a chat-completions server wants back of the reasoning in earlier answers. The other wire formats know by
/// themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningReplay {
    /// Nothing: many servers refuse a request that has it.
    #[default]
    Never,
    /// The text, as `reasoning_content`.
    Content,
    /// What the server itself sent as `reasoning_details`, unchanged.
    Details,
}

#[derive(Clone)]
pub struct ModelSettings {
    /// What people see, for example `openai/gpt-x`.
    pub name: String,
    /// What the route of the wire format is appended to, for example `https://api.openai.com/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// What the server calls the model.
    pub model: String,
    /// Sent with every call, over the ones of the wire format.
    pub headers: Vec<(String, String)>,
    /// Laid over the body of every call, object by object: what no other setting has a word for.
    pub body: Map<String, Value>,
    /// Parameters of every call, under our names; those of a request lie over them.
    pub params: Params,
    /// The longest answer. Anthropic insists on one, so it has a default there.
    pub max_output_tokens: Option<u32>,
    pub prompt_cache: PromptCache,
    pub reasoning_replay: ReasoningReplay,
    pub limits: Limits,
    /// What a million tokens cost, where it is known.
    pub price: Option<Price>,
    /// How many tokens it can read and write in one call, where it is known.
    pub context_window: Option<u64>,
    /// Which files it can be shown, where it is known.
    pub reads: Reads,
}

impl ModelSettings {
    /// A model without key and extras.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            headers: Vec::new(),
            body: Map::new(),
            params: Params::new(),
            max_output_tokens: None,
            prompt_cache: PromptCache::default(),
            reasoning_replay: ReasoningReplay::default(),
            limits: Limits::default(),
            price: None,
            context_window: None,
            reads: Reads::default(),
        }
    }
}

/// Shows neither key nor URL, and of the headers not even the names.
impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_format_has_one_name_everywhere() {
        for format in WireFormat::ALL {
            assert_eq!(WireFormat::from_name(format.name()), Some(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
        assert_eq!(WireFormat::from_name("deepseek"), None);
    }

    #[test]
    fn settings_do_not_show_the_key_or_the_server() {
        let mut settings = ModelSettings::new("test/m", "https://host.example/v1", "m");
        settings.api_key = Some("secret".to_owned());
        settings.headers.push(("x-key".to_owned(), "hidden".to_owned()));
        let shown = format!("{settings:?}");
        assert!(shown.contains("test/m"), "{shown}");
        assert!(!shown.contains("secret") && !shown.contains("host.example") && !shown.contains("hidden"));
    }
}
