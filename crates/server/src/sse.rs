//! A viewer of a session as a body of server-sent events.
//!
//! The stream begins with a comment, so that the client sees the response at once. It sends another comment after each
//! silence and ends with `[DONE]`. Events that are ready together are returned together and sent in one write.

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

use crate::state::ServerState;

const OPENING: &[u8] = b": concertino\n\n";
const HEARTBEAT: &[u8] = b": keep-alive\n\n";
const NOT_STORED: &str = "The answer was cut off because it could not be stored. Reload to see what was kept, then send your message again.";
const REVOKED: &str = "Your access was revoked, so the answer is no longer shown here. The answer is still being written and is kept; \
    sign in again to see it.";

/// Returns the response that streams what `following` reads, until it ends or the caller's access is revoked.
pub(crate) fn response(state: &ServerState, caller: &Principal, following: Following) -> Response {
    let stream = SseStream {
        following,
        access: state.engine.open_stream(caller),
        heartbeat: state.settings.heartbeat,
        stage: Stage::Opening,
        _counted: CountedStream::count(&state.open_streams),
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

struct SseStream {
    following: Following,
    /// Resolves when the caller's token or sign-in is revoked.
    access: OpenStream,
    heartbeat: Duration,
    stage: Stage,
    _counted: CountedStream,
}

enum Stage {
    Opening,
    Events,
    Ended,
}

impl SseStream {
    /// Returns the next bytes of the body; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        match self.stage {
            Stage::Opening => {
                self.stage = Stage::Events;
                Some(Bytes::from_static(OPENING))
            }
            Stage::Events => Some(self.next_events().await),
            Stage::Ended => None,
        }
    }

    async fn next_events(&mut self) -> Bytes {
        let next = tokio::select! {
            biased;
            () = self.access.revoked() => {
                self.stage = Stage::Ended;
                return error_and_end(REVOKED);
            }
            next = tokio::time::timeout(self.heartbeat, self.following.next()) => next,
        };
        let Ok(next) = next else { return Bytes::from_static(HEARTBEAT) };
        match next {
            Some(Ok(bytes)) => Bytes::from(bytes),
            Some(Err(ViewError::NotBegun(why))) => {
                self.stage = Stage::Ended;
                error_and_end(&why.to_string())
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "a stream was cut off: its events could not be read");
                self.stage = Stage::Ended;
                error_and_end(NOT_STORED)
            }
            None => {
                self.stage = Stage::Ended;
                Bytes::from_static(DONE_EVENT)
            }
        }
    }
}

/// Returns an error chunk and the end of the stream. Without the error the client would take the end for success.
fn error_and_end(error: &str) -> Bytes {
    let chunk = Chunk::Error { error_text: error.into() };
    let mut out = b"data: ".to_vec();
    out.extend(serde_json::to_vec(&chunk).unwrap_or_default());
    out.extend_from_slice(b"\n\n");
    out.extend_from_slice(DONE_EVENT);
    Bytes::from(out)
}

/// Counts an open stream until it is dropped.
struct CountedStream(Arc<AtomicUsize>);

impl CountedStream {
    fn count(open_streams: &Arc<AtomicUsize>) -> Self {
        open_streams.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open_streams))
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
