//! Every model this process can ask, and which one answers: what the request names, what the session chose, the
//! agent's, else the default.
//!
//! Settings are read once and handed in. The default may change once, when a look at a server finds a model
//! ([`Catalog::settle`]); everything else stays as it was at the start.

pub mod explain;
pub mod list;
pub mod provider;

use std::sync::Arc;

use parking_lot::RwLock;

use self::provider::Provider;
use crate::{
    dispatch::{Dispatch, Link},
    http::SetupError,
    model::Model,
    params::{self, ParamProblem, Params, with_params},
    registry::{Adapter, ModelDefinition, ProviderDefinition, Registry},
    remote::settings::{PromptCache, ReasoningReplay},
    retry::Limits,
    schedule::line::Lane,
};

/// What a server of the user's own is asked for when nobody knows what it has.
const UNNAMED: &str = "default";
/// The word for "no choice".
const AUTO: &str = "auto";

pub struct CatalogSettings<'a> {
    pub registry: &'a Registry,
    /// The environment, or what stands in for it. An empty variable counts as unset.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// `provider/model`, or a provider alone.
    pub chosen: Option<&'a str>,
    /// Asked in this order when the default gives up.
    pub fallback: Vec<String>,
    /// Answers when there is nothing else.
    pub last_resort: Arc<dyn Model>,
}

pub struct Catalog {
    providers: Vec<Arc<Provider>>,
    fallback: Vec<String>,
    default: RwLock<DefaultModel>,
}

/// The model that answers when nobody chose one.
#[derive(Clone)]
pub struct DefaultModel {
    pub name: String,
    /// For people: where the choice comes from.
    pub why: String,
    pub standing: Standing,
    link: Link,
}

/// How firm the choice of the default is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Settled,
    /// The user named a server but no model: a look at what the server has may name one.
    Unnamed,
    /// Nobody asked for it: a model server that is found on this machine takes its place.
    LastResort,
}

/// Which model a run wants; the first that says something wins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// `chatModelId` of the request, or of the session.
    pub id: Option<&'a str>,
    /// `chatModelSource`: a provider, or `local` or `cloud`.
    pub source: Option<&'a str>,
    /// What the agent's definition says.
    pub agent: Option<&'a str>,
    /// What the agent's model is asked with; for that model only.
    pub params: Option<&'a Params>,
    /// The agent's own chain; the settings' chain when empty.
    pub fallback: &'a [String],
}

/// Why no model was found: a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error("{0}")]
    Unknown(String),
    /// It is known, but a key or an address is missing.
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
        providers.push(Arc::new(fixed(&settings.last_resort, "Built in")));
        let last_resort = DefaultModel {
            name: settings.last_resort.name().to_owned(),
            why: "no key is set and no model server is known".to_owned(),
            standing: Standing::LastResort,
            link: inside(&settings.last_resort),
        };
        let catalog = Self { providers, fallback: settings.fallback, default: RwLock::new(last_resort) };
        if let Some(default) = catalog.choose(settings.chosen, settings.variable)? {
            *catalog.default.write() = default;
        }
        Ok(catalog)
    }

    /// A catalog with this model alone.
    pub fn of(model: Arc<dyn Model>) -> Self {
        let default = DefaultModel {
            name: model.name().to_owned(),
            why: "it is the only one".to_owned(),
            standing: Standing::Settled,
            link: inside(&model),
        };
        let providers = vec![Arc::new(fixed(&model, "This process"))];
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

    /// What is known about a model, by `provider/model`.
    pub fn definition(&self, name: &str) -> Option<&ModelDefinition> {
        let (provider, model) = name.split_once('/')?;
        self.provider(provider)?.definition.model(model)
    }

    /// The fallback chain of the settings, for doctor.
    pub fn fallback(&self) -> &[String] {
        &self.fallback
    }

    /// The model of one run. `lane` is its session: calls of different sessions take turns.
    pub fn resolve(&self, wanted: &Wanted<'_>, lane: Lane) -> Result<Arc<dyn Model>, ChoiceError> {
        let id = wanted.id.filter(|id| *id != AUTO);
        if id.is_none() && wanted.agent.is_none() && wanted.fallback.is_empty() && self.fallback.is_empty() {
            // The usual case: nothing to look up.
            return Ok(through_the_gate(self.default.read().link.clone(), [], lane));
        }
        let first = match (id, wanted.agent) {
            (Some(id), _) => self.link(id, wanted.source)?,
            (None, Some(agent)) => {
                let link = self.link(agent, None)?;
                Link { model: with_params(link.model, wanted.params.unwrap_or(&Params::new())), ..link }
            }
            (None, None) => self.default.read().link.clone(),
        };
        // Who names a model gets that one or an error, never another.
        let others: Vec<Link> = if id.is_some() { Vec::new() } else { self.others(&first, wanted.fallback) };
        Ok(through_the_gate(first, others, lane))
    }

    /// What is wrong with parameters for a model; nothing when the model is not known.
    pub fn param_problems(&self, name: &str, params: &Params) -> Vec<ParamProblem> {
        let Ok((provider, model)) = self.find(name, None) else { return Vec::new() };
        params::problems(name, provider.adapter(), provider.definition.model(model), params)
    }

    /// The chain behind `first`; what cannot be asked is left out.
    fn others(&self, first: &Link, fallback: &[String]) -> Vec<Link> {
        let names = if fallback.is_empty() { &self.fallback } else { fallback };
        let mut links: Vec<Link> = Vec::new();
        for name in names {
            match self.link(name, None) {
                Ok(link) => {
                    let known = std::iter::once(first)
                        .chain(&links)
                        .any(|other| other.model.name() == link.model.name());
                    if !known {
                        links.push(link);
                    }
                }
                Err(error) => tracing::debug!(name, %error, "a model of the fallback chain cannot be asked"),
            }
        }
        links
    }

    fn link(&self, id: &str, source: Option<&str>) -> Result<Link, ChoiceError> {
        let (provider, model) = self.find(id, source)?;
        let name = format!("{}/{model}", provider.id());
        if let Some(missing) = provider.missing() {
            return Err(ChoiceError::NotReady(format!(
                "{name} cannot be asked: {missing}, and start again. Or choose another model."
            )));
        }
        match provider.link(model) {
            Ok(Some(link)) => Ok(link),
            Ok(None) => Err(unknown(&name)),
            Err(error) => Err(ChoiceError::NotReady(setup(&provider.definition, &error))),
        }
    }

    /// `provider/model`, `provider:model`, a model with its provider as `source`, or a model that one of the
    /// providers lists. A provider is also asked for models it does not list: lists grow old.
    fn find<'a>(&self, id: &'a str, source: Option<&str>) -> Result<(&Arc<Provider>, &'a str), ChoiceError> {
        let id = id.trim();
        if let Some(provider) = source.and_then(|source| self.provider(source)) {
            let model = id.strip_prefix(provider.id()).and_then(|rest| rest.strip_prefix(['/', ':']));
            // "openrouter/auto" of openrouter is a model's whole name.
            let model = if provider.knows(id) { id } else { model.unwrap_or(id) };
            return named(provider, model);
        }
        let wanted_place = match source {
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
            |provider: &&Arc<Provider>| wanted_place.is_none_or(|local| provider.definition.local == local);
        let lists = |provider: &&Arc<Provider>| fits(provider) && provider.knows(id);
        let mut listing: Vec<_> = self.providers.iter().filter(lists).collect();
        // One that can be asked before one that lacks its key.
        listing.sort_by_key(|provider| provider.missing().is_some());
        if let Some(provider) = listing.first() {
            return named(provider, id);
        }
        // A server whose models nobody listed may have it.
        let default = self.default.read().name.clone();
        let own = default.split_once('/').and_then(|(provider, _)| self.provider(provider));
        match own.filter(|own| fits(own) && own.remote.is_some() && own.definition.models.is_empty()) {
            Some(own) => named(own, id),
            None => Err(unknown(id)),
        }
    }

    /// What the settings say about the default. `None`: they say nothing.
    fn choose(
        &self,
        chosen: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<DefaultModel>, ChoiceError> {
        if let Some(chosen) = chosen.filter(|chosen| *chosen != AUTO) {
            let name = match self.provider(chosen) {
                Some(provider) => format!("{chosen}/{}", usual_model(provider, variable)?.0),
                None => chosen.to_owned(),
            };
            let link = self.link(&name, None)?;
            return Ok(Some(DefaultModel::settled(link, "you chose it".to_owned())));
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
        let (model, named) = usual_model(provider, variable)?;
        let link = self.link(&format!("{}/{model}", provider.id()), None)?;
        let mut default =
            DefaultModel::settled(link, format!("{} is set", variable_name.unwrap_or_default()));
        if !named {
            default.standing = Standing::Unnamed;
        }
        Ok(Some(default))
    }

    /// Takes a model that was found for the default, if nobody chose one; gives the new default.
    pub fn settle(&self, provider: &Provider, model: &str, why: String) -> Option<DefaultModel> {
        let link = provider.link(model).ok().flatten()?;
        let mut default = self.default.write();
        let may_take_its_place = match default.standing {
            Standing::Settled => false,
            Standing::Unnamed => default.name.split_once('/').is_some_and(|(id, _)| id == provider.id()),
            Standing::LastResort => provider.definition.local,
        };
        if !may_take_its_place {
            return None;
        }
        *default = DefaultModel::settled(link, why);
        Some(default.clone())
    }
}

impl DefaultModel {
    fn settled(link: Link, why: String) -> Self {
        Self { name: link.model.name().to_owned(), why, standing: Standing::Settled, link }
    }

    /// The model itself, without chain and turns.
    pub fn model(&self) -> Arc<dyn Model> {
        through_the_gate(self.link.clone(), [], 0)
    }
}

fn through_the_gate(first: Link, others: impl IntoIterator<Item = Link>, lane: Lane) -> Arc<dyn Model> {
    let mut others = others.into_iter().peekable();
    if first.gate.is_none() && others.peek().is_none() {
        return first.model;
    }
    Arc::new(Dispatch::new(first, others, lane))
}

fn named<'p, 'a>(
    provider: &'p Arc<Provider>,
    model: &'a str,
) -> Result<(&'p Arc<Provider>, &'a str), ChoiceError> {
    if model.is_empty() {
        return Err(ChoiceError::Unknown(format!(
            "Name a model of {}: {}/ and what it calls the model.",
            provider.definition.label,
            provider.id()
        )));
    }
    Ok((provider, model))
}

/// The model of a provider when only the provider is known, and whether anybody named it.
fn usual_model(
    provider: &Provider,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, bool), ChoiceError> {
    let definition = &provider.definition;
    if let Some(model) = definition.model_variables.iter().find_map(|name| variable(name)) {
        return Ok((model, true));
    }
    match (&definition.default_model, definition.models.first(), provider.is_own_server()) {
        (_, _, true) => Ok((UNNAMED.to_owned(), false)),
        (Some(model), _, false) => Ok((model.clone(), true)),
        (None, Some(model), false) => Ok((model.id.clone(), true)),
        (None, None, false) => Err(ChoiceError::Unknown(format!(
            "Say which model of {} to use: {}/ and what it calls the model.",
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

fn setup(definition: &ProviderDefinition, error: &SetupError) -> String {
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

/// A model inside this process needs no gate.
fn inside(model: &Arc<dyn Model>) -> Link {
    Link { model: Arc::clone(model), gate: None, facts: None }
}

/// A provider that is one model inside this process; it is listed under the name the model gives itself.
fn fixed(model: &Arc<dyn Model>, label: &str) -> Provider {
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
    Provider::fixed(definition, id, inside(model))
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
