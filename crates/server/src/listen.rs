//! Accepts connections, up to a limit. Shutdown has two stages: first no new connections and requests, then the caller of
//! [`serve`] drops it and with it the connections that are still open.

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{limits::Resources, overflow, socket::serve_connection};

/// How long to wait after an accept failed, for example because too many files are open.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// How often at most the log says that all connections are in use.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// How many requests are read at the same time. Reading more at once would delay the events of open streams.
const MAX_CONCURRENT_READS: usize = 2;

/// Serves until `shutdown` resolves, then until the open requests are answered.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    resources: Resources,
    shutdown: impl Future<Output = ()>,
) {
    let read_slots = Arc::new(Semaphore::new(MAX_CONCURRENT_READS));
    let overflow_slots = Arc::new(Semaphore::new(overflow::MAX_CONCURRENT));
    let mut last_warning: Option<Instant> = None;
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or the client closed at once: the next accept may succeed.
            sleep(ACCEPT_RETRY).await;
            continue;
        };
        // Events are written whole; Nagle's algorithm would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set; this connection will be slower");
        }
        let Some(permit) = resources.admit_connection() else {
            if last_warning.is_none_or(|when| when.elapsed() > WARN_EVERY) {
                last_warning = Some(Instant::now());
                let limit = resources.limits().connections;
                tracing::warn!(limit, "all connections are in use; new ones are answered 503");
            }
            match Arc::clone(&overflow_slots).try_acquire_owned() {
                Ok(slot) => {
                    let answer = overflow::answer(stream, router.clone(), resources.shutdown().clone());
                    connections.spawn(async move {
                        answer.await;
                        drop(slot);
                    });
                }
                Err(_) => overflow::refuse(&stream),
            }
            continue;
        };
        let connection = serve_connection(stream, router.clone(), Arc::clone(&read_slots), resources.clone());
        connections.spawn(async move {
            if let Err(error) = connection.await {
                // A client that closed its connection is no failure of the server.
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    resources.shutdown().cancel();
    while connections.join_next().await.is_some() {}
}
