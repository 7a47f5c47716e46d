//! The HTTP/1.1 client for model servers. It is our own instead of a library's: the task that waits for an answer reads
//! the socket itself (ADR 5 and 26).
//!
//! Redirects are never followed, because they would send the key to another host. No error contains a URL, a host or a
//! key. Dropping a [`Response`] closes its connection unless the answer was read to its end.

pub mod server_error;

mod client;
mod connect;
mod exchange;
mod framing;
mod idle_pool;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use http::{HeaderMap, StatusCode, header};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

pub use self::{
    client::{Client, Request},
    exchange::Response,
};
use crate::{
    model::{ModelError, TimeLimit},
    retry::{self, Failure, Limits},
};

/// The most bytes of an error's body that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Why a model could not be set up. The text is for the operator and names the setting, never its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the base URL of {0} is not an http or https URL")]
    BadUrl(String),
    #[error("the key of {0} has characters that cannot be sent")]
    BadKey(String),
    #[error("an extra header of {0} has a name or a value that cannot be sent")]
    BadHeader(String),
    #[error("the HTTP client could not be set up; are the system's root certificates installed?")]
    Client,
}

/// Installs the TLS implementation of the process. May be called repeatedly.
pub fn install_tls() {
    if rustls::crypto::CryptoProvider::get_default().is_none()
        && rustls::crypto::ring::default_provider().install_default().is_err()
    {
        tracing::debug!("another thread chose the TLS implementation first");
    }
}

/// Creates a client for the server at `base`. Clones share their connections: create one per server.
pub fn client(base: &Url, limits: &Limits) -> Result<Client, SetupError> {
    install_tls();
    Client::new(base, limits, is_loopback(base))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Sends the request once. An answer without a 2xx status is an error; `key` is removed from the server's message.
pub async fn send(request: Request, deadline: Instant, key: Option<&str>) -> Result<Response, Failure> {
    let response = match timeout_at(deadline, request.send()).await {
        Err(_) => return Err(ModelError::TimedOut(TimeLimit::FirstByte).into()),
        Ok(Err(error)) => return Err(error.into()),
        Ok(Ok(response)) => response,
    };
    if response.status().is_success() {
        return Ok(response);
    }
    Err(refused(response, deadline, key).await)
}

/// The next chunk of the body, or `None` at its end.
pub async fn next_chunk(
    response: &mut Response,
    deadline: Instant,
    limit: TimeLimit,
) -> Result<Option<Bytes>, ModelError> {
    match timeout_at(deadline, response.chunk()).await {
        Err(_) => Err(ModelError::TimedOut(limit)),
        Ok(Err(_)) => Err(ModelError::Cut),
        Ok(Ok(chunk)) => Ok(chunk),
    }
}

/// The whole body, or `None` if it is larger than `bound`.
pub async fn whole_body(
    response: &mut Response,
    mut deadline: Instant,
    idle: Duration,
    bound: usize,
) -> Result<Option<Bytes>, ModelError> {
    let mut limit = TimeLimit::FirstByte;
    let mut body = BytesMut::new();
    while let Some(chunk) = next_chunk(response, deadline, limit).await? {
        if body.len() + chunk.len() > bound {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
        deadline = Instant::now() + idle;
        limit = TimeLimit::Idle;
    }
    Ok(Some(body.freeze()))
}

/// Reads the rest of a body whose answer is complete, so that the connection can be used again. Returns at once; a task
/// waits for what has not arrived yet.
pub fn drain(mut response: Response) {
    const TIMEOUT: Duration = Duration::from_secs(1);
    loop {
        match response.chunk().now_or_never() {
            Some(Ok(Some(_))) => {}
            Some(Ok(None) | Err(_)) => return,
            None => break,
        }
    }
    response.client().spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        if timeout(TIMEOUT, rest).await.is_err() {
            tracing::debug!("a model's server did not close its answer after the end");
        }
    });
}

async fn refused(mut response: Response, deadline: Instant, key: Option<&str>) -> Failure {
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let body = error_body(&mut response, deadline).await;
    let error = server_error::from_status(status.as_u16(), &body, reason(status), key, retry_after);
    Failure { error, retry_after }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    text(header::RETRY_AFTER).and_then(|value| retry::retry_after(value, text(header::DATE)))
}

/// The start of the body. Errors are ignored, because the status is enough.
async fn error_body(response: &mut Response, deadline: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(chunk)) = next_chunk(response, deadline, TimeLimit::Idle).await
    {
        let room = MAX_ERROR_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    body
}

fn reason(status: StatusCode) -> &'static str {
    if status.is_redirection() {
        return "it points to another address; check the base URL";
    }
    status.canonical_reason().unwrap_or("no explanation given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tls_implementation_may_be_chosen_twice() {
        install_tls();
        install_tls();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }

    #[test]
    fn a_server_on_this_machine_needs_no_proxy() {
        let loopback = |url: &str| is_loopback(&Url::parse(url).unwrap());
        assert!(loopback("http://localhost:11434/v1"));
        assert!(loopback("http://127.0.0.1:8000"));
        assert!(loopback("http://[::1]:8000"));
        assert!(!loopback("https://api.example.com/v1"));
        assert!(!loopback("http://10.0.0.1/v1"));
    }
}
