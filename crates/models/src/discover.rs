//! Discovers model servers: those on this machine, and the user's own server when its models are not known. Requests
//! only the list of models, with bounds on time and size.

use std::{sync::Arc, time::Duration};

use ::http::header::{AUTHORIZATION, HeaderValue};
use futures::future::join_all;
use serde::Deserialize;
use tokio::time::{Instant, timeout};

use crate::{
    catalog::{
        Catalog, DefaultModel, DefaultStatus,
        provider::{Provider, ServerStatus},
    },
    http,
    model::ModelError,
    retry::Limits,
};

/// How long a server may take to list its models.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_LIST_BYTES: usize = 1 << 20;
const MAX_MODELS: usize = 500;

#[derive(Deserialize)]
struct Listed {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

/// Probes all servers concurrently. If no model was chosen, a model of the first server that has one becomes the default
/// and is returned.
pub async fn discover(catalog: &Catalog) -> Option<DefaultModel> {
    let default = catalog.default_model();
    let is_default = |provider: &Provider| {
        let has_no_model = default.status == DefaultStatus::ServerOnly;
        has_no_model && default.name.split_once('/').is_some_and(|(id, _)| id == provider.id())
    };
    let probed: Vec<_> = catalog
        .providers()
        .iter()
        .filter(|provider| provider.definition.local || is_default(provider))
        .filter(|provider| provider.address().is_some())
        .collect();
    let statuses = join_all(probed.iter().map(|provider| probe(provider))).await;
    for (provider, status) in probed.iter().zip(statuses) {
        provider.set_status(status);
    }
    probed.iter().find_map(|provider| {
        let model = first_chat_model(&provider.discovered_models())?;
        let why = match provider.address_variable().filter(|_| !provider.definition.local) {
            Some(variable) => format!("{variable} is set, and the server there has it"),
            None => format!("{} runs on this machine", provider.definition.label),
        };
        catalog.replace_default(provider, &model, why)
    })
}

/// The first model that can chat; embedding models cannot.
fn first_chat_model(models: &Arc<[String]>) -> Option<String> {
    let chats = |model: &&String| {
        let model = model.to_ascii_lowercase();
        !["embed", "bge-", "rerank", "whisper"].iter().any(|word| model.contains(word))
    };
    models.iter().find(chats).cloned()
}

/// Asks a server for its models.
pub async fn probe(provider: &Provider) -> ServerStatus {
    match timeout(PROBE_TIMEOUT, list(provider)).await {
        Ok(Ok(models)) => ServerStatus::Running(models),
        Ok(Err(_)) | Err(_) => ServerStatus::NotRunning,
    }
}

async fn list(provider: &Provider) -> Result<Arc<[String]>, ModelError> {
    let mut url = provider.address().ok_or(ModelError::Unreachable)?;
    let limits = Limits { connect: Duration::from_millis(500), ..Limits::default() };
    let client = http::client(&url, &limits).map_err(|_| ModelError::Unreachable)?;
    match url.path_segments_mut() {
        Ok(mut path) => path.pop_if_empty().push("models"),
        Err(()) => return Err(ModelError::Unreachable),
    };
    let mut request = client.get(&url);
    if let Some(key) =
        provider.key().and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.trim())).ok())
    {
        request = request.header(AUTHORIZATION, key);
    }
    let deadline = Instant::now() + PROBE_TIMEOUT;
    let mut response =
        http::send(request, deadline, provider.key()).await.map_err(|failure| failure.error)?;
    let body = http::whole_body(&mut response, deadline, PROBE_TIMEOUT, MAX_LIST_BYTES).await?;
    let body = body.ok_or_else(|| ModelError::Garbage("a list that is too long".to_owned()))?;
    // Another program may listen on the port: without a list of models it is not a model server.
    let listed: Listed =
        serde_json::from_slice(&body).map_err(|_| ModelError::Garbage("no list of models".to_owned()))?;
    Ok(listed.data.into_iter().take(MAX_MODELS).map(|model| model.id).collect())
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
