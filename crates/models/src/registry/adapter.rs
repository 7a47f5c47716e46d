//! Creates a callable model from a provider's definition.

use std::sync::Arc;

use super::ProviderDefinition;
use crate::{
    attached::FileSupport,
    http::{Client, SetupError},
    model::Model,
    params,
    remote::{RemoteModel, settings::ModelSettings},
};

/// Provider files call the wire format the adapter.
pub use crate::remote::settings::WireFormat as Adapter;

/// The address and the key of a provider, with the settings applied.
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
        params: provider.model(model).map(params::request_defaults).unwrap_or_default(),
        // The limit of a definition is what the model can do; it is sent only in the format that requires one.
        max_output_tokens: match access.adapter {
            Adapter::Anthropic => provider.model(model).and_then(|model| model.output_limit),
            Adapter::OpenAi | Adapter::OpenAiResponses | Adapter::Google => None,
        },
        prompt_cache: provider.prompt_cache,
        reasoning_replay: provider.reasoning_replay,
        price: provider.model(model).and_then(|model| model.price).map(Into::into),
        context_window: provider.model(model).and_then(|model| model.context_window),
        file_support: provider.model(model).map(FileSupport::of).unwrap_or_default(),
        limits: provider.limits,
        ..ModelSettings::new(format!("{}/{model}", provider.id), access.base_url, model)
    };
    Ok(Arc::new(RemoteModel::with_client(access.adapter, settings, client)?))
}
