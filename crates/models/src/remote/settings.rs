//! Plain settings of a remote model; the registry fills them from data.

use std::fmt;

use protocol::Price;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{attached::FileSupport, params::Params, retry::Limits};

/// The API of a server. Provider files name it as the `adapter`.
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

/// How a request helps the provider to find its beginning in the prompt cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptCache {
    /// Not at all: the provider needs no help, or has no cache.
    Off,
    /// The default of the wire format: marks for Anthropic, a key for Responses, otherwise nothing.
    #[default]
    Usual,
    /// `prompt_cache_key`, the same for all calls of a session.
    Key,
    /// `cache_control` at the end of the part that will not change.
    Marks,
}

/// Which reasoning of earlier answers is sent back to a chat-completions server. The other wire formats define it
/// themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningReplay {
    /// Nothing: many servers refuse a request that has it.
    #[default]
    Never,
    /// The text, as `reasoning_content`.
    Content,
    /// The `reasoning_details` that the server sent, unchanged.
    Details,
}

#[derive(Clone)]
pub struct ModelSettings {
    /// The display name, for example `openai/gpt-x`.
    pub name: String,
    /// The URL without the route of the wire format, for example `https://api.openai.com/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// What the server calls the model.
    pub model: String,
    /// Sent with every call; they replace headers of the wire format.
    pub headers: Vec<(String, String)>,
    /// Merged into the body of every call: fields that have no setting of their own.
    pub body: Map<String, Value>,
    /// Parameters of every call, under our names; those of a request take precedence.
    pub params: Params,
    /// The longest answer. Anthropic requires one and has a default.
    pub max_output_tokens: Option<u32>,
    pub prompt_cache: PromptCache,
    pub reasoning_replay: ReasoningReplay,
    pub limits: Limits,
    /// The price of a million tokens, if known.
    pub price: Option<Price>,
    /// The tokens that one call can read and write, if known.
    pub context_window: Option<u64>,
    /// The kinds of files that it accepts, if known.
    pub file_support: FileSupport,
}

impl ModelSettings {
    /// A model without a key and optional settings.
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
            file_support: FileSupport::default(),
        }
    }
}

/// Shows neither the key nor the URL nor the headers.
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
