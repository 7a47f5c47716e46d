//! A model behind HTTP, in any of the four wire formats.
//!
//! `settings.rs` holds the settings of a model, `request_writer.rs` serialises a request, `call.rs` sends it with its
//! retries, `answer_decoder.rs` decodes the answer, `recorded.rs` reads an answer without a connection. Neither the key
//! nor the URL appears in errors or in `Debug` output.

pub mod answer;
mod answer_decoder;
pub mod bounds;
mod call;
pub mod json_string;
pub mod lenient;
pub(crate) mod prepared;
pub mod recorded;
pub mod request_writer;
#[cfg(test)]
pub mod sample;
pub mod settings;
pub mod tool_cache;

use std::{fmt, sync::Arc};

use ::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream as streams};
use protocol::Price;
use url::Url;

use self::{
    answer::AnswerReader,
    call::Call,
    request_writer::{LONG_HISTORY, RequestWriter},
    settings::{ModelSettings, WireFormat},
};
use crate::{
    anthropic,
    attached::FileSupport,
    gemini,
    http::{self, Client, SetupError},
    model::{Model, ModelError, ModelMessage, ModelRequest, ModelStream},
    openai, openai_responses,
    retry::Limits,
};

#[derive(Clone)]
pub struct RemoteModel {
    server: Arc<Server>,
}

/// What all calls of one model share.
struct Server {
    format: WireFormat,
    name: String,
    url: Url,
    key: Option<String>,
    headers: HeaderMap,
    writer: RequestWriter,
    limits: Limits,
    price: Option<Price>,
    context_window: Option<u64>,
    client: Client,
}

impl RemoteModel {
    /// Creates a model with its own client. Models of one server share a client with [`Self::with_client`].
    pub fn new(format: WireFormat, settings: ModelSettings) -> Result<Self, SetupError> {
        let client = http::client(&base_url(&settings)?, &settings.limits)?;
        Self::with_client(format, settings, client)
    }

    /// Creates a model with a client from [`http::client`], which follows no redirects and has the connect limit.
    pub fn with_client(
        format: WireFormat,
        settings: ModelSettings,
        client: Client,
    ) -> Result<Self, SetupError> {
        let mut url = base_url(&settings)?;
        match url.path_segments_mut() {
            Ok(mut path) => path.pop_if_empty().extend(route(format, &settings.model)),
            Err(()) => return Err(SetupError::BadUrl(settings.name)),
        };
        if format == WireFormat::Google {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        let key = settings.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned);
        let headers = headers(format, key.as_deref(), &settings)?;
        let ModelSettings { name, limits, price, context_window, .. } = settings.clone();
        let writer = RequestWriter::new(settings);
        let server =
            Server { format, name, url, key, headers, writer, limits, price, context_window, client };
        Ok(Self { server: Arc::new(server) })
    }
}

impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.server.name
    }

    fn price(&self) -> Option<Price> {
        self.server.price
    }

    fn context_window(&self) -> Option<u64> {
        self.server.context_window
    }

    fn file_support(&self) -> FileSupport {
        self.server.writer.file_support
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let server = Arc::clone(&self.server);
        if !server.writer.is_slow(&request) {
            let body = server.body(&request);
            return server.call(body);
        }
        let serialized = async move {
            let for_body = Arc::clone(&server);
            let body = tokio::task::spawn_blocking(move || for_body.body(&request)).await;
            server.call(body.unwrap_or_else(|_| Err(not_serialized())))
        };
        serialized.flatten_stream().boxed()
    }

    fn prepare<'a>(&'a self, messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        async move {
            let server = Arc::clone(&self.server);
            if messages.len() < LONG_HISTORY || !server.writer.can_prepare(server.format) {
                return;
            }
            let messages = messages.to_vec();
            if tokio::task::spawn_blocking(move || server.writer.prepare(&messages)).await.is_err() {
                tracing::debug!("a history could not be serialised in advance");
            }
        }
        .boxed()
    }
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.server;
        f.debug_struct("RemoteModel")
            .field("name", &server.name)
            .field("format", &server.format)
            .finish_non_exhaustive()
    }
}

impl WireFormat {
    /// Creates a reader for one answer. `key` is removed from messages of the server that repeat it.
    fn reader(self, key: Option<String>) -> Box<dyn AnswerReader> {
        match self {
            Self::OpenAi => Box::new(openai::stream::Reader::new(key)),
            Self::OpenAiResponses => Box::new(openai_responses::stream::Reader::new(key)),
            Self::Anthropic => Box::new(anthropic::stream::Reader::new(key)),
            Self::Google => Box::new(gemini::stream::Reader::new(key)),
        }
    }
}

fn base_url(settings: &ModelSettings) -> Result<Url, SetupError> {
    match Url::parse(settings.base_url.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(SetupError::BadUrl(settings.name.clone())),
    }
}

fn route(format: WireFormat, model: &str) -> Vec<String> {
    match format {
        WireFormat::OpenAi => vec!["chat".to_owned(), "completions".to_owned()],
        WireFormat::OpenAiResponses => vec!["responses".to_owned()],
        WireFormat::Anthropic => vec!["messages".to_owned()],
        WireFormat::Google => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            vec!["models".to_owned(), format!("{model}:streamGenerateContent")]
        }
    }
}

fn headers(format: WireFormat, key: Option<&str>, settings: &ModelSettings) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if format == WireFormat::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    }
    if let Some(key) = key {
        let (name, value) = match format {
            WireFormat::OpenAi | WireFormat::OpenAiResponses => (AUTHORIZATION, format!("Bearer {key}")),
            WireFormat::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
            WireFormat::Google => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
        };
        headers.insert(name, secret(&value).ok_or_else(|| SetupError::BadKey(settings.name.clone()))?);
    }
    for (name, value) in &settings.headers {
        let bad = || SetupError::BadHeader(settings.name.clone());
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| bad())?;
        headers.insert(name, secret(value).ok_or_else(bad)?);
    }
    Ok(headers)
}

fn not_serialized() -> ModelError {
    ModelError::Refused { status: 400, message: "the request could not be written as JSON".to_owned() }
}

/// A header value that `Debug` does not show, because any header may hold a key.
fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Server {
    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        self.writer.body(self.format, request).map_err(|_| not_serialized())
    }

    /// Sends the body and reads the answer, once the stream is polled.
    fn call(self: Arc<Self>, body: Result<Vec<u8>, ModelError>) -> ModelStream {
        let body = match body {
            Ok(body) => body,
            Err(error) => return streams::iter([Err(error)]).boxed(),
        };
        let call = Box::new(Call::new(self, body.into()));
        streams::unfold(call, |mut call| async move {
            let item = call.next().await?;
            Some((item, call))
        })
        .boxed()
    }

    fn post(&self, body: bytes::Bytes) -> http::Request {
        self.client.post(&self.url).headers(self.headers.clone()).body(body)
    }

    fn reader(&self) -> Box<dyn AnswerReader> {
        self.format.reader(self.key.clone())
    }
}

#[cfg(test)]
#[path = "remote/golden_tests.rs"]
mod golden_tests;
#[cfg(test)]
#[path = "remote/http_tests.rs"]
mod http_tests;
