//! The catalog as `GET /api/models` and `concertino models` show it.

use std::sync::Arc;

use serde::Serialize;

use super::{
    Catalog,
    provider::{Provider, ServerStatus},
};
use crate::registry::ModelDefinition;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    pub default: DefaultInfo,
    pub models: Vec<ModelInfo>,
    pub providers: Vec<ProviderInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultInfo {
    /// `provider/model`.
    pub id: String,
    pub reason: String,
    pub fallback: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// `provider/model`: what `chatModelId` takes.
    pub id: String,
    pub provider: String,
    pub available: bool,
    /// What to do when it is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub default: bool,
    /// What the provider calls it: the `id` of the definition.
    pub model: String,
    #[serde(flatten)]
    pub details: Details,
}

/// A [`ModelDefinition`] without its id.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_id: Option<String>,
    pub tags: Vec<crate::registry::read::Tag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<crate::registry::Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<crate::registry::Capabilities>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    pub id: String,
    pub label: String,
    pub local: bool,
    pub available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Active calls.
    pub running: usize,
    /// Calls that are queued for a permit or for the end of a rate limit.
    pub waiting: usize,
}

/// Which models to list; a field that is not set does not filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// A model must have all of them.
    pub tags: &'a [String],
    pub provider: Option<&'a str>,
    pub available_only: bool,
}

impl Catalog {
    pub fn list(&self, filter: &Filter<'_>) -> ModelList {
        let default = self.default_model();
        let mut models = Vec::new();
        let mut providers = Vec::new();
        for provider in self.providers() {
            if filter.provider.is_some_and(|wanted| wanted != provider.id()) {
                continue;
            }
            let reason = unavailable(provider);
            let load = provider.load();
            providers.push(ProviderInfo {
                id: provider.id().to_owned(),
                label: provider.definition.label.clone(),
                local: provider.definition.local,
                available: reason.is_none(),
                reason: reason.clone(),
                running: load.map_or(0, |load| load.active),
                waiting: load.map_or(0, |load| load.queued),
            });
            if filter.available_only && reason.is_some() {
                continue;
            }
            let mut add = |definition: &ModelDefinition| {
                if filter.tags.iter().all(|tag| definition.has_tag(tag)) {
                    models.push(info(provider, definition, &default.name, reason.as_ref()));
                }
            };
            provider.definition.models.iter().for_each(|model| add(model));
            let listed = |model: &str| provider.definition.model(model).is_some();
            for model in provider.discovered_models().iter().filter(|model| !listed(model)) {
                add(&ModelDefinition::plain(model));
            }
            // The default of a server without a list of models.
            if let Some(model) =
                default.name.strip_prefix(provider.id()).and_then(|name| name.strip_prefix('/'))
                && !provider.lists(model)
            {
                add(&ModelDefinition::plain(model));
            }
        }
        let default =
            DefaultInfo { id: default.name, reason: default.why, fallback: self.fallback().to_vec() };
        ModelList { default, models, providers }
    }
}

fn info(
    provider: &Arc<Provider>,
    definition: &ModelDefinition,
    default: &str,
    reason: Option<&String>,
) -> ModelInfo {
    let id = format!("{}/{}", provider.id(), definition.id);
    ModelInfo {
        provider: provider.id().to_owned(),
        available: reason.is_none(),
        reason: reason.cloned(),
        default: id == default,
        model: definition.id.clone(),
        details: Details {
            name: definition.name.clone().unwrap_or_else(|| definition.id.clone()),
            family_id: definition.family_id.clone(),
            tags: definition.tags.clone(),
            context_window: definition.context_window,
            output_limit: definition.output_limit,
            price: definition.price,
            capabilities: definition.capabilities.clone(),
        },
        id,
    }
}

fn unavailable(provider: &Provider) -> Option<String> {
    if let Some(missing) = provider.missing() {
        return Some(missing);
    }
    match (provider.remote.is_some() && provider.definition.local, provider.status()) {
        (true, ServerStatus::NotProbed) => Some("not checked yet".to_owned()),
        (true, ServerStatus::NotRunning) => Some("it does not answer on this machine; start it".to_owned()),
        (true, ServerStatus::Running(models)) if models.is_empty() => {
            Some("it runs, but has no model; load one there".to_owned())
        }
        _ => None,
    }
}
