//! Reads JSON bodies, bounded in size, in time and by the memory that all bodies together may use.

use std::{future::poll_fn, ops::Deref, pin::Pin, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, header},
};
use bytes::Bytes;
use hyper::body::{Body as _, Frame};
use protocol::ErrorCode;
use serde::Deserialize;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until},
};

use crate::{
    error::ApiError,
    limits::{Limits, Resources},
    state::ServerState,
};

/// Up to this size the buffer grows as bytes arrive. Beyond it the whole announced size is allocated at once.
const GROWING_BYTES: usize = 1 << 20;

/// A complete body. Its bytes count against the limit of all bodies until it is dropped.
pub(crate) struct BodyBytes {
    bytes: Bytes,
    _reserved: Option<OwnedSemaphorePermit>,
}

impl Deref for BodyBytes {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

/// Reads the whole body. Refuses it when it is not declared as JSON, too large, too slow, or when there is no memory for it.
pub(crate) async fn read(
    state: &ServerState,
    headers: &HeaderMap,
    body: Body,
) -> Result<BodyBytes, ApiError> {
    require_json(headers)?;
    let max_bytes = state.settings.max_body_bytes;
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > max_bytes) {
        return Err(too_large(max_bytes));
    }
    let mut reader = BodyReader { first: Bytes::new(), all: Vec::new(), announced, reserved: None };
    reader.read(&state.resources, body, max_bytes).await?;
    Ok(reader.finish())
}

/// Collects the bytes of a body. Most bodies arrive in one piece, which is not copied.
struct BodyReader {
    /// The only piece so far.
    first: Bytes,
    /// All pieces, once there are several.
    all: Vec<u8>,
    /// The Content-Length header.
    announced: Option<usize>,
    reserved: Option<OwnedSemaphorePermit>,
}

impl BodyReader {
    async fn read(
        &mut self,
        resources: &Resources,
        mut body: Body,
        max_bytes: usize,
    ) -> Result<(), ApiError> {
        let limits = resources.limits();
        let began = Instant::now();
        loop {
            let deadline = began + time_allowed(self.length(), limits);
            let frame = tokio::select! {
                biased;
                frame = next_frame(&mut body) => frame,
                () = resources.shutdown().cancelled() => return Err(shutting_down()),
                () = sleep_until(deadline) => return Err(too_slow(limits)),
            };
            let data = match frame {
                None => return Ok(()),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) => {
                    return Err(ApiError::new(
                        ErrorCode::InvalidJson,
                        "The body ended before it was complete. Send the request again.",
                    ));
                }
            };
            if self.length() + data.len() > max_bytes {
                return Err(too_large(max_bytes));
            }
            let reserved = tokio::select! {
                biased;
                reserved = resources.reserve_body_bytes(data.len()) => reserved.ok_or_else(busy)?,
                () = resources.shutdown().cancelled() => return Err(shutting_down()),
            };
            match &mut self.reserved {
                Some(all) => all.merge(reserved),
                none => *none = Some(reserved),
            }
            self.push(data);
        }
    }

    fn length(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn push(&mut self, data: Bytes) {
        if self.length() == 0 {
            self.first = data;
            return;
        }
        if !self.first.is_empty() {
            self.all = std::mem::take(&mut self.first).to_vec();
        }
        if let Some(announced) = self.announced.filter(|_| self.all.len() >= GROWING_BYTES) {
            self.all.reserve_exact(announced.saturating_sub(self.all.len()));
        }
        self.all.extend_from_slice(&data);
    }

    fn finish(self) -> BodyBytes {
        let bytes = if self.all.is_empty() { self.first } else { self.all.into() };
        BodyBytes { bytes, _reserved: self.reserved }
    }
}

async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

/// Returns how long a body may take in all, given how many bytes have arrived.
fn time_allowed(arrived: usize, limits: &Limits) -> Duration {
    let earned = Duration::from_millis((arrived as u64).saturating_mul(1000) / limits.body_rate.max(1));
    (limits.body_time + earned).min(limits.body_longest)
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            ApiError::invalid(format!("The body does not have the fields that this route expects: {error}."))
        } else {
            ApiError::new(ErrorCode::InvalidJson, format!("The body is not valid JSON: {error}."))
        }
    })
}

fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "The body must be JSON: send the header content-type: application/json.",
        ))
    }
}

fn too_large(max_bytes: usize) -> ApiError {
    ApiError::new(ErrorCode::BodyTooLarge, format!("The body is larger than {max_bytes} bytes."))
}

fn too_slow(limits: &Limits) -> ApiError {
    ApiError::new(
        ErrorCode::RequestTimeout,
        format!(
            "The body did not arrive in time: after the first {} seconds it must be sent at {} bytes per second or faster.",
            limits.body_time.as_secs(),
            limits.body_rate
        ),
    )
}

fn busy() -> ApiError {
    ApiError::new(
        ErrorCode::ServerBusy,
        "The server is reading as many large requests as it may at once. Send this request again in a moment.",
    )
}

fn shutting_down() -> ApiError {
    ApiError::new(
        ErrorCode::ShuttingDown,
        "The server is shutting down and did not accept the request. Send it again in a moment.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_earns_time_by_arriving_up_to_the_longest() {
        let limits = Limits {
            body_time: Duration::from_secs(20),
            body_rate: 1000,
            body_longest: Duration::from_secs(60),
            ..Limits::default()
        };
        let seconds = |arrived| time_allowed(arrived, &limits).as_secs();
        assert_eq!([0, 999, 1000, 30_000, 1_000_000].map(seconds), [20, 20, 21, 50, 60]);
    }

    #[tokio::test]
    async fn a_body_counts_among_all_bodies_until_it_is_dropped() {
        let limits = Limits { bodies_bytes: 100, bodies_wait: Duration::from_millis(1), ..Limits::default() };
        let resources = Resources::new(limits);
        let mut reader = BodyReader { first: Bytes::new(), all: Vec::new(), announced: None, reserved: None };
        reader.read(&resources, Body::from("x".repeat(60)), 1000).await.unwrap();
        let received = reader.finish();
        assert_eq!((received.len(), resources.bodies_bytes()), (60, 60));
        assert!(resources.reserve_body_bytes(60).await.is_none(), "there is no room for another");
        drop(received);
        assert_eq!(resources.bodies_bytes(), 0);
        assert!(resources.reserve_body_bytes(60).await.is_some());
    }
}
