//! The HTTP client of the terminal commands. Its errors are sentences for the person at the terminal.

use std::{fmt, time::Duration};

use anyhow::{Context, Result, bail};
use protocol::{
    UiMessage,
    wire::{
        agents::FieldProblem,
        rest::{Problem, SessionList},
    },
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::stream::ChunkStream;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For all requests but streams.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    token: Option<String>,
}

#[derive(Debug)]
pub(crate) enum ClientError {
    /// No server listens at this URL.
    NoServer(String),
    /// The server refused the request.
    Refused { status: StatusCode, code: String, sentence: String, problems: Vec<FieldProblem> },
    /// The connection to this URL was lost.
    ConnectionLost(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer(url) => write!(f, "no server at {url}; start one with `concertino`"),
            Self::Refused { status: StatusCode::UNAUTHORIZED, .. } => f.write_str(
                "the server does not accept this token; pass a valid one with --token or CONCERTINO_TOKEN \
                 (`concertino link` shows it on the machine where the server runs)",
            ),
            Self::Refused { status, sentence, .. } if sentence.is_empty() => {
                write!(f, "the server answered {status}; it may not be a Concertino server")
            }
            Self::Refused { sentence, .. } => f.write_str(sentence),
            Self::ConnectionLost(url) => write!(f, "the connection to {url} was lost; try again"),
        }
    }
}

impl std::error::Error for ClientError {}

type ClientResult<T> = Result<T, ClientError>;

impl Client {
    pub(crate) fn new(base: &str, token: Option<String>) -> Result<Self> {
        models::install_tls();
        let base: Url =
            base.parse().with_context(|| format!("\"{base}\" is not a URL; write http://HOST:PORT"))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            bail!("\"{base}\" is not an http or https URL; write http://HOST:PORT");
        }
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .tcp_nodelay(true)
            .user_agent(concat!("concertino/", env!("CARGO_PKG_VERSION")));
        if is_local(&base) {
            builder = builder.no_proxy();
        }
        if base.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().context("cannot set up the HTTP client")?;
        Ok(Self { http, base, token })
    }

    pub(crate) fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// `POST /api/chat`.
    pub(crate) async fn send(&self, body: &Value) -> ClientResult<ChunkStream> {
        let request = self.request(Method::POST, &["chat"]).json(body);
        Ok(ChunkStream::new(self.answer(request).await?))
    }

    /// Streams the message that is being written in the chat, from its beginning; `None` when there is none.
    pub(crate) async fn resume(&self, chat: &str) -> ClientResult<Option<ChunkStream>> {
        let response = self.answer(self.request(Method::GET, &["chat", chat, "stream"])).await?;
        Ok((response.status() != StatusCode::NO_CONTENT).then(|| ChunkStream::new(response)))
    }

    /// Stops the run of the chat; returns whether there was one.
    pub(crate) async fn stop(&self, chat: &str) -> ClientResult<bool> {
        #[derive(Deserialize)]
        struct Stopped {
            stopped: bool,
        }
        let request = self.request(Method::POST, &["chat", chat, "stop"]).timeout(TIMEOUT);
        let response = self.answer(request).await?;
        response.json::<Stopped>().await.map(|stopped| stopped.stopped).map_err(|error| self.failed(&error))
    }

    /// Returns the messages of a chat, oldest first; empty when the chat does not exist.
    pub(crate) async fn history(&self, chat: &str) -> ClientResult<Vec<UiMessage>> {
        let request = self.request(Method::GET, &["chat", chat, "messages"]).timeout(TIMEOUT);
        match self.answer(request).await {
            Ok(response) => response.json().await.map_err(|error| self.failed(&error)),
            Err(ClientError::Refused { status: StatusCode::NOT_FOUND, code, .. })
                if code == "session_not_found" =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the id of the chat that was used last.
    pub(crate) async fn newest_chat(&self) -> ClientResult<Option<String>> {
        let mut url = self.address(&["sessions"]);
        url.set_query(Some("limit=1"));
        let request = self.request_at(Method::GET, url).timeout(TIMEOUT);
        let list: SessionList =
            self.answer(request).await?.json().await.map_err(|error| self.failed(&error))?;
        Ok(list.sessions.first().map(|session| session.id.to_string()))
    }

    /// Calls any route that answers with JSON.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: Option<&str>,
        body: Option<&Value>,
    ) -> ClientResult<T> {
        let mut url = self.address(path);
        url.set_query(query);
        let mut request = self.request_at(method, url).timeout(TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.answer(request).await?.json().await.map_err(|error| self.failed(&error))
    }

    /// Calls a route that deletes something and answers without a body.
    pub(crate) async fn delete(&self, path: &[&str], query: Option<&str>) -> ClientResult<()> {
        let mut url = self.address(path);
        url.set_query(query);
        self.answer(self.request_at(Method::DELETE, url).timeout(TIMEOUT)).await.map(|_| ())
    }

    fn address(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("api").extend(path);
        }
        url
    }

    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        self.request_at(method, self.address(path))
    }

    fn request_at(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn answer(&self, request: RequestBuilder) -> ClientResult<Response> {
        let response = request.send().await.map_err(|error| self.failed(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let header = |name| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let (code, kind) = (header("x-error-code"), header("content-type"));
        let body = response.text().await.unwrap_or_default();
        let (sentence, problems) = if kind.contains("json") {
            let problem: Option<Problem> = serde_json::from_str(&body).ok();
            problem.map(|problem| (problem.detail, problem.problems)).unwrap_or_default()
        } else if kind.starts_with("text/plain") {
            (body, Vec::new())
        } else {
            (String::new(), Vec::new())
        };
        Err(ClientError::Refused { status, code, sentence, problems })
    }

    fn failed(&self, error: &reqwest::Error) -> ClientError {
        if error.is_connect() {
            ClientError::NoServer(self.url().to_owned())
        } else {
            ClientError::ConnectionLost(self.url().to_owned())
        }
    }
}

/// Returns whether the server is on this machine. It is then called without a proxy and may get the token of the data
/// folder.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(base: &str, parts: &[&str]) -> String {
        let client = Client::new(base, None).unwrap();
        client.request(Method::GET, parts).build().unwrap().url().to_string()
    }

    #[test]
    fn a_chat_id_is_one_segment_of_the_path() {
        assert_eq!(
            path("http://localhost:1", &["chat", "a/b ü", "stop"]),
            "http://localhost:1/api/chat/a%2Fb%20%C3%BC/stop"
        );
        assert_eq!(path("http://h/under/", &["chat"]), "http://h/under/api/chat");
        assert_eq!(path("http://h/under?x#y", &["chat"]), "http://h/under/api/chat");
    }

    #[test]
    fn only_http_urls_are_accepted() {
        for wrong in ["localhost:4860", "ftp://x", "", "http://"] {
            let error = Client::new(wrong, None).err().unwrap().to_string();
            assert!(error.contains("http://HOST:PORT"), "{wrong}: {error}");
        }
    }
}
