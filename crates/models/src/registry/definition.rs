//! The definitions of providers and models, as the rest of the program and `GET /api/models` use them.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Adapter, read::Tag};
use crate::{
    remote::settings::{PromptCache, ReasoningReplay},
    retry::Limits,
};

#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDefinition {
    pub id: String,
    pub label: String,
    pub adapter: Adapter,
    /// The adapter for the user's own server, when the user sets another base URL.
    pub own_server_adapter: Option<Adapter>,
    pub base_url: Option<String>,
    /// Variables for another base URL; the first that is set is used.
    pub base_url_variables: Vec<String>,
    /// Added to an address from such a variable if it has no path.
    pub base_path: Option<String>,
    /// Variables for the key; the first that is set is used. Empty: the provider needs no key.
    pub key_variables: Vec<String>,
    /// Variables for the model to use when none was chosen.
    pub model_variables: Vec<String>,
    /// Runs on the user's machine: works without a key, and is discovered at the start.
    pub local: bool,
    pub default_model: Option<String>,
    /// The most concurrent calls; `None` is no limit.
    pub max_concurrent: Option<usize>,
    pub limits: Limits,
    /// Sent with every call.
    pub headers: Vec<(String, String)>,
    /// Merged into the body of every call.
    pub body: Map<String, Value>,
    pub prompt_cache: PromptCache,
    pub reasoning_replay: ReasoningReplay,
    pub disabled: bool,
    pub models: Vec<Arc<ModelDefinition>>,
}

impl ProviderDefinition {
    pub fn model(&self, id: &str) -> Option<&ModelDefinition> {
        self.models.iter().find(|model| model.id == id).map(AsRef::as_ref)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelDefinition {
    /// What the provider calls it.
    #[serde(deserialize_with = "super::read::model_id")]
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model family, in the spelling of icon sets: OpenAI, DeepSeek, Gemini …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family_id: Option<String>,
    #[serde(default)]
    pub tags: Vec<Tag>,
    /// In tokens, answer included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

impl ModelDefinition {
    /// A model whose name is all that is known.
    pub fn plain(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: None,
            family_id: None,
            tags: vec![Tag::chat()],
            context_window: None,
            output_limit: None,
            price: None,
            capabilities: None,
        }
    }

    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own.as_str() == tag)
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    #[serde(deserialize_with = "super::check::amount")]
    pub input: f64,
    #[serde(deserialize_with = "super::check::amount")]
    pub output: f64,
    /// Input from the provider's cache; the price of input if absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::check::optional_amount"
    )]
    pub cached_input: Option<f64>,
    /// Input written to the cache; the price of input if absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::check::optional_amount"
    )]
    pub cache_write: Option<f64>,
}

impl From<Price> for protocol::Price {
    fn from(price: Price) -> Self {
        Self {
            input: price.input,
            output: price.output,
            cached_read: price.cached_input,
            cached_write: price.cache_write,
        }
    }
}

/// The parameters and files that a model accepts. Never used to choose a model: tags are for that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Capabilities {
    pub common: CommonCapabilities,
    pub params: ParamCapabilities,
    pub input: InputCapabilities,
    pub output: OutputCapabilities,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CommonCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_context_k: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ParamCapabilities {
    pub features: Vec<String>,
    pub fields: Vec<ParamField>,
}

/// A parameter that an interface can offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParamField {
    pub key: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(rename = "type")]
    pub kind: ParamKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Sent with every request.
    #[serde(default)]
    pub request: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind {
    Select,
    Number,
    Boolean,
    Text,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct InputCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_images: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_pdf: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_mask: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_reference_video: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_start_end: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct OutputCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_multi: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_audio: Option<bool>,
}

/// Time limits of a provider's file, in milliseconds; an absent limit does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct FileLimits {
    pub connect_ms: Option<u64>,
    pub first_byte_ms: Option<u64>,
    pub idle_ms: Option<u64>,
    pub attempts: Option<u32>,
}

impl FileLimits {
    pub fn apply_to(self, limits: Limits) -> Limits {
        let time = |ms: Option<u64>, before| ms.map_or(before, Duration::from_millis);
        Limits {
            connect: time(self.connect_ms, limits.connect),
            first_byte: time(self.first_byte_ms, limits.first_byte),
            idle: time(self.idle_ms, limits.idle),
            attempts: self.attempts.unwrap_or(limits.attempts),
            ..limits
        }
    }
}
