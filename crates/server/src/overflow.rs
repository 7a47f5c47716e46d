//! Connections beyond the limit: each gets one answer that says so. `/health` is answered as always, so that whoever watches the server can tell a full one from a dead one.

use std::{convert::Infallible, time::Duration};

use axum::{Router, body::Body, http::Request, middleware::from_fn, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use protocol::ErrorCode;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{
    error,
    error::{ApiError, RETRY_AFTER},
};

/// How many have their request read before they are answered.
pub(crate) const READ_AT_ONCE: usize = 64;
/// How long one may take, the request and its answer together.
const TIME: Duration = Duration::from_secs(2);
/// The smallest buffer that hyper works with.
const HEAD_BYTES: usize = 8 << 10;

const FULL: &str =
    "The server has as many connections open as it may. Try again in a moment, or raise max_connections.";

/// Reads one request and answers it.
pub(crate) async fn answer(stream: TcpStream, router: Router, ending: CancellationToken) {
    let full = Router::new().fallback(full).layer(from_fn(error::plain_on_chat));
    let service = service_fn(move |request: Request<Incoming>| {
        let router = if request.uri().path() == "/health" { router.clone() } else { full.clone() };
        async move { Ok::<Response, Infallible>(into(router.oneshot(request.map(Body::new)).await)) }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        answered = connection => if let Err(error) = answered {
            tracing::debug!(%error, "a connection beyond the limit ended early");
        },
        () = ending.cancelled() => {}
        () = tokio::time::sleep(TIME) => {}
    }
}

/// Answers without reading the request. A client that is still sending may miss it.
pub(crate) fn refuse(stream: &TcpStream) {
    let code = ErrorCode::ServerBusy.as_str();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nx-error-code: {code}\r\n\
         retry-after: {RETRY_AFTER}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{FULL}",
        FULL.len()
    );
    if let Err(error) = stream.try_write(answer.as_bytes()) {
        tracing::debug!(%error, "a connection beyond the limit ended early");
    }
}

fn into(answer: Result<Response, Infallible>) -> Response {
    answer.unwrap_or_else(|never| match never {})
}

async fn full() -> ApiError {
    ApiError::new(ErrorCode::ServerBusy, FULL)
}
