//! Reading a JSON body: bounded in size, time and by what all bodies together may hold, with an error that says what is
//! wrong.

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

/// Up to here a body is read into a buffer that grows; beyond, room for all that was announced is made at once.
const TRUSTED: usize = 1 << 20;

/// A whole body. Until it is dropped, its bytes count among those that all bodies may hold.
pub(crate) struct Received {
    bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

impl Deref for Received {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

pub(crate) async fn read(state: &ServerState, headers: &HeaderMap, body: Body) -> Result<Received, ApiError> {
    require_json(headers)?;
    let largest = state.settings.max_body_bytes;
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > largest) {
        return Err(too_large(largest));
    }
    let mut arriving = Arriving { first: Bytes::new(), all: Vec::new(), announced, held: None };
    arriving.read(&state.resources, body, largest).await?;
    Ok(arriving.done())
}

/// What has arrived of a body. Most come in one piece, which is not copied.
struct Arriving {
    first: Bytes,
    all: Vec<u8>,
    announced: Option<usize>,
    held: Option<OwnedSemaphorePermit>,
}

impl Arriving {
    async fn read(&mut self, resources: &Resources, mut body: Body, largest: usize) -> Result<(), ApiError> {
        let limits = resources.limits();
        let began = Instant::now();
        loop {
            let deadline = began + time_for(self.length(), limits);
            let frame = tokio::select! {
                biased;
                frame = next(&mut body) => frame,
                () = resources.ending().cancelled() => return Err(shutting_down()),
                () = sleep_until(deadline) => return Err(too_slow(limits)),
            };
            let data = match frame {
                None => return Ok(()),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) => return Err(ApiError::new(ErrorCode::InvalidJson, "The body broke off.")),
            };
            if self.length() + data.len() > largest {
                return Err(too_large(largest));
            }
            let held = tokio::select! {
                biased;
                held = resources.hold(data.len()) => held.ok_or_else(busy)?,
                () = resources.ending().cancelled() => return Err(shutting_down()),
            };
            match &mut self.held {
                Some(all) => all.merge(held),
                none => *none = Some(held),
            }
            self.add(data);
        }
    }

    fn length(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn add(&mut self, data: Bytes) {
        if self.length() == 0 {
            self.first = data;
            return;
        }
        if !self.first.is_empty() {
            self.all = std::mem::take(&mut self.first).to_vec();
        }
        if let Some(announced) = self.announced.filter(|_| self.all.len() >= TRUSTED) {
            self.all.reserve_exact(announced.saturating_sub(self.all.len()));
        }
        self.all.extend_from_slice(&data);
    }

    fn done(self) -> Received {
        let bytes = if self.all.is_empty() { self.first } else { self.all.into() };
        Received { bytes, _held: self.held }
    }
}

async fn next(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

/// How long a body may take of which so much has arrived.
fn time_for(arrived: usize, limits: &Limits) -> Duration {
    let earned = Duration::from_millis((arrived as u64).saturating_mul(1000) / limits.body_rate.max(1));
    (limits.body_time + earned).min(limits.body_longest)
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            ApiError::invalid(format!("The body is not what this route takes: {error}."))
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

fn too_large(largest: usize) -> ApiError {
    ApiError::new(ErrorCode::BodyTooLarge, format!("The body is larger than {largest} bytes."))
}

fn too_slow(limits: &Limits) -> ApiError {
    ApiError::new(
        ErrorCode::RequestTimeout,
        format!(
            "The body did not arrive in time: after the first {} seconds it must come with at least {} bytes a second.",
            limits.body_time.as_secs(),
            limits.body_rate
        ),
    )
}

fn busy() -> ApiError {
    ApiError::new(
        ErrorCode::ServerBusy,
        "The server is reading as many large requests as it may at once. Send this one again in a moment.",
    )
}

fn shutting_down() -> ApiError {
    ApiError::new(
        ErrorCode::ShuttingDown,
        "The server is shutting down and has not taken the request. Send it again in a moment.",
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
        let seconds = |arrived| time_for(arrived, &limits).as_secs();
        assert_eq!([0, 999, 1000, 30_000, 1_000_000].map(seconds), [20, 20, 21, 50, 60]);
    }

    #[tokio::test]
    async fn a_body_counts_among_all_bodies_until_it_is_dropped() {
        let limits = Limits { bodies_bytes: 100, bodies_wait: Duration::from_millis(1), ..Limits::default() };
        let resources = Resources::new(limits);
        let mut arriving = Arriving { first: Bytes::new(), all: Vec::new(), announced: None, held: None };
        arriving.read(&resources, Body::from("x".repeat(60)), 1000).await.unwrap();
        let received = arriving.done();
        assert_eq!((received.len(), resources.bodies_bytes()), (60, 60));
        assert!(resources.hold(60).await.is_none(), "there is no room for another");
        drop(received);
        assert_eq!(resources.bodies_bytes(), 0);
        assert!(resources.hold(60).await.is_some());
    }
}
