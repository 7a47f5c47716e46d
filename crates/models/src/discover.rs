//! Looks which model servers there are: on this machine when nothing is set, or the user's own when its models are
//! not known. Bounded in time and size; asks only for the list of models.

use std::{sync::Arc, time::Duration};

use ::http::header::{AUTHORIZATION, HeaderValue};
use futures::future::join_all;
use serde::Deserialize;
use tokio::time::{Instant, timeout};

use crate::{
    catalog::{
        Catalog, DefaultModel, Standing,
        provider::{Provider, Seen},
    },
    http,
    model::ModelError,
    retry::Limits,
};

/// How long a server may take to tell what it has.
const LOOK: Duration = Duration::from_secs(2);
const LARGEST_LIST: usize = 1 << 20;
const MOST_MODELS: usize = 500;

#[derive(Deserialize)]
struct Listed {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

/// Looks at every server that may be here, all at once. If nobody chose a model, the first that has one becomes the
/// default; it is given back.
pub async fn look_around(catalog: &Catalog) -> Option<DefaultModel> {
    let default = catalog.default_model();
    let is_asked = |provider: &Provider| {
        let unnamed = default.standing == Standing::Unnamed;
        unnamed && default.name.split_once('/').is_some_and(|(id, _)| id == provider.id())
    };
    let asked: Vec<_> = catalog
        .providers()
        .iter()
        .filter(|provider| provider.definition.local || is_asked(provider))
        .filter(|provider| provider.address().is_some())
        .collect();
    let seen = join_all(asked.iter().map(|provider| look_at(provider))).await;
    for (provider, seen) in asked.iter().zip(seen) {
        provider.saw(seen);
    }
    asked.iter().find_map(|provider| {
        let model = usual(&provider.found())?;
        let why = match provider.address_variable().filter(|_| !provider.definition.local) {
            Some(variable) => format!("{variable} is set, and the server there has it"),
            None => format!("{} runs on this machine", provider.definition.label),
        };
        catalog.settle(provider, &model, why)
    })
}

/// The first model that can chat; embedding models cannot.
fn usual(models: &Arc<[String]>) -> Option<String> {
    let chats = |model: &&String| {
        let model = model.to_ascii_lowercase();
        !["embed", "bge-", "rerank", "whisper"].iter().any(|word| model.contains(word))
    };
    models.iter().find(chats).cloned()
}

/// Which models a server has, by its own list.
pub async fn look_at(provider: &Provider) -> Seen {
    match timeout(LOOK, list(provider)).await {
        Ok(Ok(models)) => Seen::Here(models),
        Ok(Err(_)) | Err(_) => Seen::Away,
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
    let deadline = Instant::now() + LOOK;
    let mut response =
        http::send(request, deadline, provider.key()).await.map_err(|failure| failure.error)?;
    let body = http::whole_body(&mut response, deadline, LOOK, LARGEST_LIST).await?;
    let body = body.ok_or_else(|| ModelError::Garbage("a list that is too long".to_owned()))?;
    // Anything may listen on a customary port: what is no list of models is no model server.
    let listed: Listed =
        serde_json::from_slice(&body).map_err(|_| ModelError::Garbage("no list of models".to_owned()))?;
    Ok(listed.data.into_iter().take(MOST_MODELS).map(|model| model.id).collect())
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
