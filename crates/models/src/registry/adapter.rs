//! Which code speaks with a provider: from what its file says to a model that can be asked.

use std::sync::Arc;

use super::ProviderDefinition;
use crate::{
    attached::Reads,
    http::{Client, SetupError},
    model::Model,
    params,
    remote::{RemoteModel, settings::ModelSettings},
};

/// Provider files call a wire format by its name.
pub use crate::remote::settings::WireFormat as Adapter;

/// Where a provider is reached and with which key, after the settings were looked at.
pub struct Access<'a> {
    pub adapter: Adapter,
    pub base_url: &'a str,
    pub api_key: Option<&'a str>,
}

pub fn build(
    provider: &ProviderDefinition,
    model: &str,
    access: &Access<'_>,
    client: Client,
) -> Result<Arc<dyn Model>, SetupError> {
    let settings = ModelSettings {
        api_key: access.api_key.map(str::to_owned),
        headers: provider.headers.clone(),
        body: provider.body.clone(),
        params: provider.model(model).map(params::always).unwrap_or_default(),
        // A limit in a file is what the model can do; only a format that insists on one is told.
        max_output_tokens: match access.adapter {
            Adapter::Anthropic => provider.model(model).and_then(|model| model.output_limit),
            Adapter::OpenAi | Adapter::OpenAiResponses | Adapter::Google => None,
        },
        prompt_cache: provider.prompt_cache,
        reasoning_replay: provider.reasoning_replay,
        price: provider.model(model).and_then(|model| model.price).map(Into::into),
        context_window: provider.model(model).and_then(|model| model.context_window),
        reads: provider.model(model).map(Reads::of).unwrap_or_default(),
        limits: provider.limits,
        ..ModelSettings::new(format!("{}/{model}", provider.id), access.base_url, model)
    };
    Ok(Arc::new(RemoteModel::with_client(access.adapter, settings, client)?))
}
