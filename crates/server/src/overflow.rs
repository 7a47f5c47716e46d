//! Connections beyond the limit: each gets one answer that says so. `/health` is answered as usual, so that a monitor can
//! tell a full server from a dead one.

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

/// How many connections beyond the limit have their request read before they are answered. More are refused unread.
pub(crate) const MAX_CONCURRENT: usize = 64;
/// How long reading the request and writing its answer may take together.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The smallest buffer that hyper accepts.
const MIN_BUFFER_BYTES: usize = 8 << 10;

const FULL: &str =
    "The server has as many connections open as it may. Try again in a moment, or raise max_connections.";

/// Reads one request and answers it.
pub(crate) async fn answer(stream: TcpStream, router: Router, shutdown: CancellationToken) {
    let refuse_all = Router::new().fallback(server_full).layer(from_fn(error::finish_api_response));
    let service = service_fn(move |request: Request<Incoming>| {
        let router = if request.uri().path() == "/health" { router.clone() } else { refuse_all.clone() };
        async move {
            let response = router.oneshot(request.map(Body::new)).await;
            Ok::<Response, Infallible>(response.unwrap_or_else(|never| match never {}))
        }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(MIN_BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        answered = connection => if let Err(error) = answered {
            tracing::debug!(%error, "a connection beyond the limit ended early");
        },
        () = shutdown.cancelled() => {}
        () = tokio::time::sleep(TIMEOUT) => {}
    }
}

/// Answers without reading the request. A client that is still sending may not see the answer.
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

async fn server_full() -> ApiError {
    ApiError::new(ErrorCode::ServerBusy, FULL)
}
