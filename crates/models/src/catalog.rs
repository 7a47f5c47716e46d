//! Every model that this process can call, and the choice between them: the model of the request, of the session, of
//! the agent, else the default.
//!
//! Settings are read once and passed in. The default may change once, when discovery finds a model
//! ([`Catalog::replace_default`]); everything else stays as it was at the start.

pub mod explain;
pub mod list;
pub mod provider;

use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

use self::provider::Provider;
use crate::{
    dispatch::{Dispatch, Endpoint},
    http::SetupError,
    model::Model,
    params::{self, ParamProblem, Params, with_params},
    provider_limiter::fair_queue::FairnessKey,
    registry::{Adapter, ModelDefinition, ProviderDefinition, Registry},
    remote::settings::{PromptCache, ReasoningReplay},
    retry::Limits,
};

/// The model name that is sent to a user's own server whose models are not known.
const PLACEHOLDER_MODEL: &str = "default";
/// The model id that means "no choice".
const AUTO: &str = "auto";

pub struct CatalogSettings<'a> {
    pub registry: &'a Registry,
    /// Reads an environment variable. An empty variable counts as unset.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// `provider/model`, or a provider alone.
    pub chosen: Option<&'a str>,
    /// Called in this order when the default fails.
    pub fallback: Vec<String>,
    /// Answers when there is no other model.
    pub last_resort: Arc<dyn Model>,
}

pub struct Catalog {
    providers: Vec<Arc<Provider>>,
    fallback: Vec<String>,
    default: RwLock<DefaultModel>,
}

/// The model that answers when none was chosen.
#[derive(Clone)]
pub struct DefaultModel {
    pub name: String,
    /// Where the choice comes from, as text for a person.
    pub why: String,
    pub status: DefaultStatus,
    endpoint: Endpoint,
}

/// Whether discovery may replace the default model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultStatus {
    Final,
    /// The user named a server but no model: a model that the server lists may replace it.
    ServerOnly,
    /// Nobody chose it: a model server that is found on this machine may replace it.
    LastResort,
}

/// Which model a run asks for; the first field that is set decides.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelSelection<'a> {
    /// `chatModelId` of the request, or of the session.
    pub id: Option<&'a str>,
    /// `chatModelSource`: a provider, or `local` or `cloud`.
    pub source: Option<&'a str>,
    /// The model of the agent's definition.
    pub agent: Option<&'a str>,
    /// Parameters for the agent's model, and for no other.
    pub params: Option<&'a Params>,
    /// The agent's own fallback chain; the settings' chain when empty.
    pub fallback: &'a [String],
}

/// Why no model was found: a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error("{0}")]
    Unknown(String),
    /// The model is known, but its key or address is missing.
    #[error("{0}")]
    NotReady(String),
}

impl Catalog {
    pub fn new(settings: CatalogSettings<'_>) -> Result<Self, ChoiceError> {
        let mut providers: Vec<_> = settings
            .registry
            .providers()
            .map(|definition| Arc::new(Provider::new(Arc::clone(definition), settings.variable)))
            .collect();
        providers.push(Arc::new(in_process_provider(&settings.last_resort, "Built in")));
        let last_resort = DefaultModel {
            name: settings.last_resort.name().to_owned(),
            why: "no key is set and no model server is known".to_owned(),
            status: DefaultStatus::LastResort,
            endpoint: in_process(&settings.last_resort),
        };
        let catalog = Self { providers, fallback: settings.fallback, default: RwLock::new(last_resort) };
        if let Some(default) = catalog.choose(settings.chosen, settings.variable)? {
            *catalog.default.write() = default;
        }
        Ok(catalog)
    }

    /// A catalog with this model only.
    pub fn of(model: Arc<dyn Model>) -> Self {
        let default = DefaultModel {
            name: model.name().to_owned(),
            why: "it is the only one".to_owned(),
            status: DefaultStatus::Final,
            endpoint: in_process(&model),
        };
        let providers = vec![Arc::new(in_process_provider(&model, "This process"))];
        Self { providers, fallback: Vec::new(), default: RwLock::new(default) }
    }

    pub fn default_model(&self) -> DefaultModel {
        self.default.read().clone()
    }

    pub fn providers(&self) -> &[Arc<Provider>] {
        &self.providers
    }

    pub fn provider(&self, id: &str) -> Option<&Arc<Provider>> {
        self.providers.iter().find(|provider| provider.id() == id)
    }

    /// The definition of a model, by `provider/model`.
    pub fn definition(&self, name: &str) -> Option<&ModelDefinition> {
        let (provider, model) = name.split_once('/')?;
        self.provider(provider)?.definition.model(model)
    }

    /// The fallback chain of the settings.
    pub fn fallback(&self) -> &[String] {
        &self.fallback
    }

    /// The model of one run. `key` stands for its session: queued calls of different sessions take turns.
    pub fn resolve(
        &self,
        selection: &ModelSelection<'_>,
        key: FairnessKey,
    ) -> Result<Arc<dyn Model>, ChoiceError> {
        let id = selection.id.filter(|id| *id != AUTO);
        if id.is_none()
            && selection.agent.is_none()
            && selection.fallback.is_empty()
            && self.fallback.is_empty()
        {
            // The common case: nothing to look up.
            return Ok(dispatched(self.default.read().endpoint.clone(), [], key));
        }
        let first = match (id, selection.agent) {
            (Some(id), _) => self.endpoint(id, selection.source)?,
            (None, Some(agent)) => {
                let endpoint = self.endpoint(agent, None)?;
                let params = selection.params.unwrap_or(&NO_PARAMS);
                Endpoint { model: with_params(endpoint.model, params), ..endpoint }
            }
            (None, None) => self.default.read().endpoint.clone(),
        };
        // A request that names a model gets that model or an error, never another model.
        let fallbacks = if id.is_some() { Vec::new() } else { self.fallbacks(&first, selection.fallback) };
        Ok(dispatched(first, fallbacks, key))
    }

    /// Checks parameters for a model; finds nothing when the model is not known.
    pub fn param_problems(&self, name: &str, params: &Params) -> Vec<ParamProblem> {
        let Ok(NamedModel { provider, model }) = self.find(name, None) else { return Vec::new() };
        params::problems(name, provider.adapter(), provider.definition.model(model), params)
    }

    /// The fallbacks of `first`, without models that cannot be called.
    fn fallbacks(&self, first: &Endpoint, fallback: &[String]) -> Vec<Endpoint> {
        let names = if fallback.is_empty() { &self.fallback } else { fallback };
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for name in names {
            match self.endpoint(name, None) {
                Ok(endpoint) => {
                    let known = std::iter::once(first)
                        .chain(&endpoints)
                        .any(|other| other.model.name() == endpoint.model.name());
                    if !known {
                        endpoints.push(endpoint);
                    }
                }
                Err(error) => tracing::debug!(name, %error, "a model of the fallback chain cannot be called"),
            }
        }
        endpoints
    }

    fn endpoint(&self, id: &str, source: Option<&str>) -> Result<Endpoint, ChoiceError> {
        let NamedModel { provider, model } = self.find(id, source)?;
        let name = format!("{}/{model}", provider.id());
        if let Some(missing) = provider.missing() {
            return Err(ChoiceError::NotReady(format!(
                "{name} cannot be used: {missing}, and start again. Or choose another model."
            )));
        }
        match provider.endpoint(model) {
            Ok(Some(endpoint)) => Ok(endpoint),
            Ok(None) => Err(unknown(&name)),
            Err(error) => Err(ChoiceError::NotReady(setup_message(&provider.definition, &error))),
        }
    }

    /// Finds a model by `provider/model`, `provider:model`, a name with its provider as `source`, or a name that one of
    /// the providers lists. A named provider is also used for models it does not list, because lists become outdated.
    fn find<'a>(&'a self, id: &'a str, source: Option<&str>) -> Result<NamedModel<'a>, ChoiceError> {
        let id = id.trim();
        if let Some(provider) = source.and_then(|source| self.provider(source)) {
            let model = id.strip_prefix(provider.id()).and_then(|rest| rest.strip_prefix(['/', ':']));
            // A model may start with the provider's name: "openrouter/auto" of openrouter.
            let model = if provider.lists(id) { id } else { model.unwrap_or(id) };
            return named(provider, model);
        }
        let must_be_local = match source {
            Some("local") => Some(true),
            Some("cloud" | "saas") => Some(false),
            Some(AUTO) | None => None,
            Some(other) => {
                return Err(ChoiceError::Unknown(format!(
                    "There is no provider \"{other}\". `concertino models` lists the providers and their models."
                )));
            }
        };
        for separator in ['/', ':'] {
            if let Some((provider, model)) = id.split_once(separator)
                && let Some(provider) = self.provider(provider)
            {
                return named(provider, model);
            }
        }
        let fits =
            |provider: &&Arc<Provider>| must_be_local.is_none_or(|local| provider.definition.local == local);
        let lists = |provider: &&Arc<Provider>| fits(provider) && provider.lists(id);
        let mut listing: Vec<_> = self.providers.iter().filter(lists).collect();
        // A provider that can be called comes before one that lacks its key.
        listing.sort_by_key(|provider| provider.missing().is_some());
        if let Some(provider) = listing.first() {
            return named(provider, id);
        }
        // A server without a list of models may have it.
        let default = self.default.read().name.clone();
        let own = default.split_once('/').and_then(|(provider, _)| self.provider(provider));
        match own.filter(|own| fits(own) && own.remote.is_some() && own.definition.models.is_empty()) {
            Some(own) => named(own, id),
            None => Err(unknown(id)),
        }
    }

    /// The default model that the settings choose, if they choose one.
    fn choose(
        &self,
        chosen: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<DefaultModel>, ChoiceError> {
        if let Some(chosen) = chosen.filter(|chosen| *chosen != AUTO) {
            let name = match self.provider(chosen) {
                Some(provider) => format!("{chosen}/{}", default_of(provider, variable)?.model),
                None => chosen.to_owned(),
            };
            let endpoint = self.endpoint(&name, None)?;
            return Ok(Some(DefaultModel::final_choice(endpoint, "you chose it".to_owned())));
        }
        let of_own_server =
            |provider: &&Arc<Provider>| provider.is_own_server() && !provider.definition.local;
        let with_key = |provider: &&Arc<Provider>| {
            provider.key_variable().is_some() && provider.missing().is_none() && !provider.definition.local
        };
        let by_address = self.providers.iter().find(of_own_server);
        let Some(provider) = by_address.or_else(|| self.providers.iter().find(with_key)) else {
            return Ok(None);
        };
        let variable_name = match by_address {
            Some(provider) => provider.address_variable(),
            None => provider.key_variable(),
        };
        let ProviderDefault { model, is_named } = default_of(provider, variable)?;
        let endpoint = self.endpoint(&format!("{}/{model}", provider.id()), None)?;
        let mut default =
            DefaultModel::final_choice(endpoint, format!("{} is set", variable_name.unwrap_or_default()));
        if !is_named {
            default.status = DefaultStatus::ServerOnly;
        }
        Ok(Some(default))
    }

    /// Makes a discovered model the default if none was chosen, and returns the new default.
    pub fn replace_default(&self, provider: &Provider, model: &str, why: String) -> Option<DefaultModel> {
        let endpoint = provider.endpoint(model).ok().flatten()?;
        let mut default = self.default.write();
        let is_replaceable = match default.status {
            DefaultStatus::Final => false,
            DefaultStatus::ServerOnly => {
                default.name.split_once('/').is_some_and(|(id, _)| id == provider.id())
            }
            DefaultStatus::LastResort => provider.definition.local,
        };
        if !is_replaceable {
            return None;
        }
        *default = DefaultModel::final_choice(endpoint, why);
        Some(default.clone())
    }
}

impl DefaultModel {
    fn final_choice(endpoint: Endpoint, why: String) -> Self {
        Self { name: endpoint.model.name().to_owned(), why, status: DefaultStatus::Final, endpoint }
    }

    /// The model without fallbacks.
    pub fn model(&self) -> Arc<dyn Model> {
        dispatched(self.endpoint.clone(), [], 0)
    }
}

fn dispatched(
    first: Endpoint,
    fallbacks: impl IntoIterator<Item = Endpoint>,
    key: FairnessKey,
) -> Arc<dyn Model> {
    let mut fallbacks = fallbacks.into_iter().peekable();
    if first.limiter.is_none() && fallbacks.peek().is_none() {
        return first.model;
    }
    Arc::new(Dispatch::new(first, fallbacks, key))
}

static NO_PARAMS: LazyLock<Params> = LazyLock::new(Params::new);

/// A model of a provider, as the provider calls it.
struct NamedModel<'a> {
    provider: &'a Arc<Provider>,
    model: &'a str,
}

fn named<'a>(provider: &'a Arc<Provider>, model: &'a str) -> Result<NamedModel<'a>, ChoiceError> {
    if model.is_empty() {
        return Err(ChoiceError::Unknown(format!(
            "Name a model of {}: {}/ and what it calls the model.",
            provider.definition.label,
            provider.id()
        )));
    }
    Ok(NamedModel { provider, model })
}

/// The model of a provider when only the provider was chosen.
struct ProviderDefault {
    model: String,
    /// Whether the settings or the provider's file name it.
    is_named: bool,
}

fn default_of(
    provider: &Provider,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<ProviderDefault, ChoiceError> {
    let definition = &provider.definition;
    let is_named = |model: &str| Ok(ProviderDefault { model: model.to_owned(), is_named: true });
    if let Some(model) = definition.model_variables.iter().find_map(|name| variable(name)) {
        return is_named(&model);
    }
    match (&definition.default_model, definition.models.first(), provider.is_own_server()) {
        (_, _, true) => Ok(ProviderDefault { model: PLACEHOLDER_MODEL.to_owned(), is_named: false }),
        (Some(model), _, false) => is_named(model),
        (None, Some(model), false) => is_named(&model.id),
        (None, None, false) => Err(ChoiceError::Unknown(format!(
            "Name the model of {} to use: {}/ and what it calls the model.",
            definition.label, definition.id
        ))),
    }
}

fn unknown(name: &str) -> ChoiceError {
    ChoiceError::Unknown(format!(
        "There is no model \"{name}\" here. Name it as provider/model; `concertino models` and GET /api/models list \
         what is known."
    ))
}

fn setup_message(definition: &ProviderDefinition, error: &SetupError) -> String {
    match error {
        SetupError::BadUrl(_) => format!(
            "The base URL of {} is not a URL. Check {}; it looks like https://api.example.com/v1.",
            definition.label,
            definition.base_url_variables.first().map_or("baseUrl", String::as_str)
        ),
        error => {
            let text = error.to_string();
            let mut letters = text.chars();
            letters
                .next()
                .map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
        }
    }
}

/// A model inside this process needs no limiter.
fn in_process(model: &Arc<dyn Model>) -> Endpoint {
    Endpoint { model: Arc::clone(model), limiter: None, facts: None }
}

/// A provider that is one model inside this process, listed under the model's own name.
fn in_process_provider(model: &Arc<dyn Model>, label: &str) -> Provider {
    let name = model.name();
    let (provider, id) = name.split_once('/').unwrap_or((name, name));
    let definition = ProviderDefinition {
        id: provider.to_owned(),
        label: label.to_owned(),
        adapter: Adapter::OpenAi,
        own_server_adapter: None,
        base_url: None,
        base_url_variables: Vec::new(),
        base_path: None,
        key_variables: Vec::new(),
        model_variables: Vec::new(),
        local: true,
        default_model: Some(id.to_owned()),
        max_concurrent: None,
        limits: Limits::default(),
        headers: Vec::new(),
        body: serde_json::Map::new(),
        prompt_cache: PromptCache::default(),
        reasoning_replay: ReasoningReplay::default(),
        disabled: false,
        models: vec![Arc::new(ModelDefinition::plain(id))],
    };
    Provider::in_process(definition, id, in_process(model))
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
