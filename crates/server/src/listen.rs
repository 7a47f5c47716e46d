//! Accepting connections: HTTP/1.1, a limit on how long a request may take to begin, and an end in two stages:
//! first no new connections and no new requests, then whatever is still open is cut.

use std::{convert::Infallible, time::Duration};

use axum::{Router, body::Body, http::Request, response::Response};
use futures::future::BoxFuture;
use hyper::{body::Incoming, server::conn::http1, service::Service};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{net::TcpListener, task::JoinSet};
use tower::ServiceExt;

/// How long the head of a request may take, and how long a kept connection may be silent.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until `end` resolves, then until the open requests are answered.
pub async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let open = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    tokio::pin!(end);
    loop {
        let accepted = tokio::select! {
            () = &mut end => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or a client that was gone at once: the next may do.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Frames are written whole; waiting for more would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection will be slower");
        }
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // A stream does not listen for the other side meanwhile, which would hold a buffer for each; one that is
            // gone is noticed at the next frame or heartbeat. Runs do not depend on it.
            .half_close(true)
            .header_read_timeout(HEAD_TIME)
            .serve_connection(TokioIo::new(stream), Routed(router.clone()));
        let connection = open.watch(connection);
        connections.spawn(async move {
            if let Err(error) = connection.await {
                // A client that went away is no failure of ours.
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    open.shutdown().await;
}

/// The router as hyper calls it.
#[derive(Clone)]
struct Routed(Router);

impl Service<Request<Incoming>> for Routed {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        Box::pin(self.0.clone().oneshot(request.map(Body::new)))
    }
}
