//! Any server that speaks chat completions: OpenAI and the many that are compatible with it.
//!
//! `request.rs` writes the body, `call.rs` makes the call and its retries, `feed.rs`, `stream.rs`, `calls.rs`
//! and `wire.rs` read the answer. Neither the key nor the URL is ever shown: not in errors, not by `Debug`.

mod call;
mod calls;
mod feed;
mod request;
mod stream;
mod wire;

use std::{fmt, sync::Arc};

use ::http::{
    HeaderValue,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, InvalidHeaderValue},
};
use futures::{FutureExt, StreamExt, future, stream as streams};
use url::Url;

use self::call::Call;
use crate::{
    http::{self, Client, SetupError},
    model::{Model, ModelError, ModelRequest, ModelStream},
    retry::Limits,
};

#[derive(Clone)]
pub struct OpenAiSettings {
    /// What people see, for example `openai/gpt-x`.
    pub name: String,
    /// What `/chat/completions` is appended to, for example `https://api.openai.com/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// What the server calls the model.
    pub model: String,
    pub limits: Limits,
}

impl fmt::Debug for OpenAiSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiSettings")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
pub struct OpenAi {
    server: Arc<Server>,
}

/// What every call of one model needs.
struct Server {
    name: String,
    model: String,
    url: Url,
    key: Option<String>,
    authorization: Option<HeaderValue>,
    limits: Limits,
    client: Client,
}

impl OpenAi {
    /// A model with a client of its own. Several models of one server share one with [`Self::with_client`].
    pub fn new(settings: OpenAiSettings) -> Result<Self, SetupError> {
        let client = http::client(&base_url(&settings)?, &settings.limits)?;
        Self::with_client(settings, client)
    }

    /// `client` is from [`http::client`], so that it follows no redirects and keeps the connect limit.
    pub fn with_client(settings: OpenAiSettings, client: Client) -> Result<Self, SetupError> {
        let mut url = base_url(&settings)?;
        match url.path_segments_mut() {
            Ok(mut path) => path.pop_if_empty().extend(["chat", "completions"]),
            Err(()) => return Err(SetupError::BadUrl(settings.name)),
        };
        let key = settings.api_key.filter(|key| !key.is_empty());
        let authorization = match key.as_deref().map(bearer).transpose() {
            Ok(header) => header,
            Err(_) => return Err(SetupError::BadKey(settings.name)),
        };
        let OpenAiSettings { name, model, limits, .. } = settings;
        Ok(Self { server: Arc::new(Server { name, model, url, key, authorization, limits, client }) })
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.server.name
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let Ok(body) = request::body(&self.server.model, &request) else {
            let message = "the request could not be written as JSON".to_owned();
            return future::ready(Err(ModelError::Refused { status: 400, message })).into_stream().boxed();
        };
        // The request is not needed any more; a call may last for minutes.
        drop(request);
        let call = Box::new(Call::new(Arc::clone(&self.server), body.into()));
        streams::unfold(call, |mut call| async move {
            let item = call.next().await?;
            Some((item, call))
        })
        .boxed()
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("name", &self.server.name).finish_non_exhaustive()
    }
}

fn base_url(settings: &OpenAiSettings) -> Result<Url, SetupError> {
    match Url::parse(settings.base_url.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(SetupError::BadUrl(settings.name.clone())),
    }
}

fn bearer(key: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim()))?;
    value.set_sensitive(true);
    Ok(value)
}

impl Server {
    fn post(&self, body: bytes::Bytes) -> http::Request {
        let mut request = self
            .client
            .post(&self.url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static("text/event-stream"))
            .body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        request
    }
}

#[cfg(test)]
#[path = "openai/http_tests.rs"]
mod http_tests;
