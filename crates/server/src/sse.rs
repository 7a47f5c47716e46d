//! SSE events out: a viewer as an HTTP body. Step 9 of a chat request.
//!
//! A comment opens the stream at once, another follows each silence; `[DONE]` closes it. What is ready together
//! leaves in one write.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use engine::{Following, OpenStream, Principal, ViewError};
use futures::stream;
use protocol::wire::chat::{Chunk, DONE_EVENT};

use crate::{
    revocation::{self, REVOKED},
    state::ServerState,
};

const OPENING: &[u8] = b": concertino\n\n";
const HEARTBEAT: &[u8] = b": keep-alive\n\n";
const BROKEN_OFF: &str =
    "The answer broke off because it could not be stored. Reload to see what was kept, and send again.";

pub(crate) fn response(state: &ServerState, caller: &Principal, following: Following) -> Response {
    let stream = Stream {
        following,
        access: revocation::watch(state, caller),
        heartbeat: state.settings.heartbeat,
        stage: Stage::Opening,
        _open: Open::count(&state.connections),
    };
    let events = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), stream))
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    headers.insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
    response
}

struct Stream {
    following: Following,
    access: OpenStream,
    heartbeat: Duration,
    stage: Stage,
    _open: Open,
}

enum Stage {
    Opening,
    Events,
    Over,
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        match self.stage {
            Stage::Opening => {
                self.stage = Stage::Events;
                Some(Bytes::from_static(OPENING))
            }
            Stage::Events => Some(self.events().await),
            Stage::Over => None,
        }
    }

    async fn events(&mut self) -> Bytes {
        let next = tokio::select! {
            biased;
            () = self.access.revoked() => {
                self.stage = Stage::Over;
                return ended_with(REVOKED);
            }
            next = tokio::time::timeout(self.heartbeat, self.following.next()) => next,
        };
        let Ok(next) = next else { return Bytes::from_static(HEARTBEAT) };
        match next {
            Some(Ok(bytes)) => Bytes::from(bytes),
            Some(Err(ViewError::NotBegun(why))) => {
                self.stage = Stage::Over;
                ended_with(&why.to_string())
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "a stream broke off");
                self.stage = Stage::Over;
                ended_with(BROKEN_OFF)
            }
            None => {
                self.stage = Stage::Over;
                Bytes::from_static(DONE_EVENT)
            }
        }
    }
}

/// An error chunk and the end; never a silent end, which the client would take for success.
fn ended_with(error: &str) -> Bytes {
    let chunk = Chunk::Error { error_text: error.into() };
    let mut out = b"data: ".to_vec();
    out.extend(serde_json::to_vec(&chunk).unwrap_or_default());
    out.extend_from_slice(b"\n\n");
    out.extend_from_slice(DONE_EVENT);
    Bytes::from(out)
}

/// Counts a stream while it is open.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn count(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
