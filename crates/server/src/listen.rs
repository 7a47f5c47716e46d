//! Accepting connections, up to a limit, and an end in two stages: first no new connections and no new requests, then
//! whatever is still open is cut.

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{connection, limits::Resources, overflow};

/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// How often at most the log says that all connections are taken.
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

/// How many requests are read at once. More would only stand between the events of open streams and their readers.
const READ_AT_ONCE: usize = 2;

/// Serves until `end` resolves, then until the open requests are answered.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    resources: Resources,
    end: impl Future<Output = ()>,
) {
    let turnstile = Arc::new(Semaphore::new(READ_AT_ONCE));
    let spare = Arc::new(Semaphore::new(overflow::READ_AT_ONCE));
    let mut complained: Option<Instant> = None;
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
            sleep(PAUSE).await;
            continue;
        };
        // SSE events are written whole; waiting for more would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection will be slower");
        }
        let Some(admitted) = resources.admit() else {
            if complained.is_none_or(|when| when.elapsed() > COMPLAIN_EVERY) {
                complained = Some(Instant::now());
                let limit = resources.limits().connections;
                tracing::warn!(limit, "all connections are taken; new ones are answered 503");
            }
            match Arc::clone(&spare).try_acquire_owned() {
                Ok(place) => {
                    let answer = overflow::answer(stream, router.clone(), resources.ending().clone());
                    connections.spawn(async move {
                        answer.await;
                        drop(place);
                    });
                }
                Err(_) => overflow::refuse(&stream),
            }
            continue;
        };
        let connection = connection::serve(stream, router.clone(), Arc::clone(&turnstile), resources.clone());
        connections.spawn(async move {
            if let Err(error) = connection.await {
                // A client that went away is no failure of ours.
                tracing::debug!(%error, "a connection ended early");
            }
            drop(admitted);
        });
    }
    drop(listener);
    resources.ending().cancel();
    while connections.join_next().await.is_some() {}
}
