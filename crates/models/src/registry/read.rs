//! Reads a provider's file. Every error has the file, the line, the column and what to do.
//!
//! Single values are checked while they are parsed, so that the parser's position is known; models are parsed one by one
//! from their position in the text.

use std::{collections::HashSet, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{
    Adapter, check,
    definition::{FileLimits, ModelDefinition, ProviderDefinition},
};
use crate::{
    remote::settings::{PromptCache, ReasoningReplay},
    retry::Limits,
};

const LONGEST_ID: usize = 200;
const LONGEST_TAG: usize = 40;
const MOST_MODELS: usize = 2000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError {
    pub file: String,
    /// From 1.
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for RegistryError {}

/// A label for filters: lower-case letters, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tag(String);

impl Tag {
    /// The tag of every model: it can chat.
    pub fn chat() -> Self {
        Self("chat".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check::text(deserializer, |tag| {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if tag.is_empty() || tag.len() > LONGEST_TAG || !tag.chars().all(fits) {
                return Err(format!(
                    "\"{tag}\" is not a valid tag; use 1 to {LONGEST_TAG} lower-case letters, digits and underscores, \
                     like image_input"
                ));
            }
            Ok(Self(tag.to_owned()))
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields<'a> {
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    id: ProviderId,
    label: Option<String>,
    #[serde(default, deserialize_with = "adapter")]
    adapter: Option<Adapter>,
    #[serde(default, deserialize_with = "adapter")]
    own_server_adapter: Option<Adapter>,
    #[serde(default, deserialize_with = "base_url")]
    base_url: Option<String>,
    base_url_variables: Option<Vec<Variable>>,
    base_path: Option<String>,
    key_variables: Option<Vec<Variable>>,
    model_variables: Option<Vec<Variable>>,
    local: Option<bool>,
    default_model: Option<String>,
    max_concurrent: Option<std::num::NonZeroU32>,
    #[serde(default)]
    limits: FileLimits,
    headers: Option<Map<String, Value>>,
    body: Option<Map<String, Value>>,
    prompt_cache: Option<PromptCache>,
    reasoning_replay: Option<ReasoningReplay>,
    disabled: Option<bool>,
    #[serde(borrow, default)]
    models: Vec<&'a RawValue>,
}

/// Reads the id of a model: what the provider calls it.
pub fn model_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    check::text(deserializer, |id| {
        if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!(
                "a model's id is what the provider calls it: 1 to {LONGEST_ID} bytes without spaces"
            ));
        }
        Ok(id.to_owned())
    })
}

struct ProviderId(String);

impl<'de> Deserialize<'de> for ProviderId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check::text(deserializer, |id| {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
            if matches!(id, "demo" | "auto" | "local" | "cloud" | "saas") {
                return Err(format!("\"{id}\" is a reserved word; choose another id"));
            }
            if id.is_empty() || id.len() > 64 || !id.chars().all(fits) {
                return Err(
                    "a provider's id is 1 to 64 lower-case letters, digits, dots, dashes and underscores"
                        .to_owned(),
                );
            }
            Ok(Self(id.to_owned()))
        })
    }
}

struct Variable(String);

impl<'de> Deserialize<'de> for Variable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check::text(deserializer, |name| {
            let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if name.is_empty() || name.len() > 100 || !name.chars().all(fits) {
                // The value is not repeated, because it may be a key.
                return Err(
                    "this is the name of an environment variable, like MY_API_KEY, never the key itself"
                        .to_owned(),
                );
            }
            Ok(Self(name.to_owned()))
        })
    }
}

fn adapter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Adapter>, D::Error> {
    check::text(deserializer, |name| match Adapter::from_name(name) {
        Some(adapter) => Ok(Some(adapter)),
        None => Err(format!("there is no adapter \"{name}\"; the adapters are {}", adapters())),
    })
}

fn adapters() -> String {
    Adapter::ALL.map(Adapter::name).join(", ")
}

fn base_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    check::text(deserializer, |url| match url::Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {
            Ok(Some(url.to_owned()))
        }
        _ => Err("a base URL begins with http:// or https://, like https://api.example.com/v1".to_owned()),
    })
}

/// A parsed file, ready to be merged into the registry.
pub struct ProviderFile<'a> {
    file: String,
    fields: Fields<'a>,
    models: Vec<Arc<ModelDefinition>>,
}

impl<'a> ProviderFile<'a> {
    pub fn read(file: &str, text: &'a str) -> Result<Self, RegistryError> {
        // Some editors write a byte order mark; it has no width, so positions stay correct.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let at = |place: Position, error: &serde_json::Error| parse_error(file, place, error);
        let mut fields: Fields<'_> =
            serde_json::from_str(text).map_err(|error| at(Position::START, &error))?;
        let raw_models = std::mem::take(&mut fields.models);
        if raw_models.len() > MOST_MODELS {
            return Err(file_error(
                file,
                Position::START,
                format!("at most {MOST_MODELS} models fit in a file"),
            ));
        }
        let mut seen = HashSet::new();
        let mut models = Vec::with_capacity(raw_models.len());
        for raw in raw_models {
            let place = Position::of(text, raw.get());
            let model: ModelDefinition =
                serde_json::from_str(raw.get()).map_err(|error| at(place, &error))?;
            if !seen.insert(model.id.clone()) {
                let message = format!("the model \"{}\" is listed twice; remove one", model.id);
                return Err(file_error(file, place, message));
            }
            models.push(Arc::new(model));
        }
        Ok(Self { file: file.to_owned(), fields, models })
    }

    pub fn id(&self) -> &str {
        &self.fields.id.0
    }

    /// Creates a new provider.
    pub fn into_provider(self) -> Result<ProviderDefinition, RegistryError> {
        let id = self.id().to_owned();
        let Some(adapter) = self.fields.adapter.or_else(|| Adapter::from_name(&id)) else {
            let message = format!(
                "the new provider \"{id}\" needs \"adapter\": the API of its server, one of {}",
                adapters()
            );
            return Err(file_error(&self.file, Position::START, message));
        };
        if self.fields.base_url.is_none() && self.fields.base_url_variables.is_none() {
            let message = format!("the new provider \"{id}\" needs \"baseUrl\" or \"baseUrlVariables\"");
            return Err(file_error(&self.file, Position::START, message));
        }
        self.apply_to(ProviderDefinition {
            label: id.clone(),
            id,
            adapter,
            own_server_adapter: None,
            base_url: None,
            base_url_variables: Vec::new(),
            base_path: None,
            key_variables: Vec::new(),
            model_variables: Vec::new(),
            local: false,
            default_model: None,
            max_concurrent: None,
            limits: Limits::default(),
            headers: Vec::new(),
            body: Map::new(),
            prompt_cache: PromptCache::default(),
            reasoning_replay: ReasoningReplay::default(),
            disabled: false,
            models: Vec::new(),
        })
    }

    /// Merges this file into an existing provider.
    pub fn apply_to(self, mut provider: ProviderDefinition) -> Result<ProviderDefinition, RegistryError> {
        let Self { file, fields, models } = self;
        let names = |variables: Vec<Variable>| variables.into_iter().map(|variable| variable.0).collect();
        if let Some(headers) = fields.headers {
            provider.headers = headers
                .into_iter()
                .map(|(name, value)| match value {
                    Value::String(value) => Ok((name, value)),
                    _ => Err(file_error(
                        &file,
                        Position::START,
                        format!("the header \"{name}\" must be a text"),
                    )),
                })
                .collect::<Result<_, _>>()?;
        }
        replace(&mut provider.label, fields.label);
        replace(&mut provider.adapter, fields.adapter);
        replace(&mut provider.base_url_variables, fields.base_url_variables.map(names));
        replace(&mut provider.key_variables, fields.key_variables.map(names));
        replace(&mut provider.model_variables, fields.model_variables.map(names));
        replace(&mut provider.local, fields.local);
        replace(&mut provider.body, fields.body);
        replace(&mut provider.prompt_cache, fields.prompt_cache);
        replace(&mut provider.reasoning_replay, fields.reasoning_replay);
        replace(&mut provider.disabled, fields.disabled);
        provider.own_server_adapter = fields.own_server_adapter.or(provider.own_server_adapter);
        provider.base_path = fields.base_path.or(provider.base_path);
        provider.base_url = fields.base_url.or(provider.base_url);
        provider.default_model = fields.default_model.or(provider.default_model);
        provider.max_concurrent =
            fields.max_concurrent.map(|limit| limit.get() as usize).or(provider.max_concurrent);
        provider.limits = fields.limits.apply_to(provider.limits);
        for model in models {
            match provider.models.iter_mut().find(|known| known.id == model.id) {
                Some(known) => *known = model,
                None => provider.models.push(model),
            }
        }
        Ok(provider)
    }
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Line and column, both from 1.
#[derive(Clone, Copy)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    const START: Self = Self { line: 1, column: 1 };

    /// The position of a part of the text.
    fn of(text: &str, part: &str) -> Self {
        let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let before = text.get(..offset).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().len() + 1;
        Self { line, column }
    }
}

fn file_error(file: &str, place: Position, message: String) -> RegistryError {
    RegistryError { file: file.to_owned(), line: place.line, column: place.column, message }
}

/// The parser's error in a part of the file that starts at `start`.
fn parse_error(file: &str, start: Position, error: &serde_json::Error) -> RegistryError {
    let (line, column) = (error.line().max(1), error.column().max(1));
    let place = Position {
        line: start.line + line - 1,
        column: if line == 1 { start.column + column - 1 } else { column },
    };
    let text = error.to_string();
    let message = match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    };
    file_error(file, place, message)
}
