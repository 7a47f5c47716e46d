//! `/api/jobs`: the commands of agents that run, or ended a short time ago. They can be watched, typed into and stopped.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use engine::{JobWatch, OpenStream, Principal};
use futures::stream;
use protocol::{ErrorCode, Job, JobId, JobInput, JobList, SessionId};
use serde::Deserialize;
use serde_json::Value;

use crate::{body, chat::bad_id, error::ApiError, state::ServerState};

/// The longest text that can be typed at once.
const MAX_INPUT_BYTES: usize = 64 << 10;
const HEARTBEAT: &[u8] = b": keep-alive\n\n";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatQuery {
    /// Only the jobs of this chat.
    chat_id: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct OffsetQuery {
    /// The place in the output to begin at.
    offset: Option<u64>,
}

fn job_id(text: &str) -> Result<JobId, ApiError> {
    JobId::from_outside(text).map_err(|error| bad_id("The job id", error))
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ChatQuery>,
) -> Result<Json<JobList>, ApiError> {
    let chat = query.chat_id.as_deref().map(SessionId::from_outside).transpose();
    let chat = chat.map_err(|error| bad_id("The chat id", error))?;
    Ok(Json(state.engine.jobs(&principal.workspace, chat.as_ref())))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<Job>, ApiError> {
    Ok(Json(state.engine.job(&principal.workspace, &job_id(&id)?)?))
}

pub(crate) async fn stop(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<Job>, ApiError> {
    Ok(Json(state.engine.stop_job(&principal.workspace, &job_id(&id)?).await?))
}

pub(crate) async fn input(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let bytes = body::read(&state, &headers, body).await?;
    if bytes.len() > MAX_INPUT_BYTES {
        let text = format!("The input is larger than {MAX_INPUT_BYTES} bytes. Send it in pieces.");
        return Err(ApiError::new(ErrorCode::BodyTooLarge, text));
    }
    let input: JobInput = serde_json::from_value(Value::Object(body::parse(&bytes)?)).map_err(|error| {
        ApiError::new(ErrorCode::InvalidJson, format!("The input cannot be read: {error}."))
    })?;
    state.engine.write_to_job(&principal.workspace, &job_id(&id)?, input).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Streams the output, from `offset` on, until the command has ended.
pub(crate) async fn output(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(query): Query<OffsetQuery>,
) -> Result<Response, ApiError> {
    let watch = state.engine.watch_job(&principal.workspace, &job_id(&id)?, query.offset.unwrap_or(0))?;
    let stream = JobStream {
        watch,
        access: state.engine.open_stream(&principal),
        heartbeat: state.settings.heartbeat,
    };
    let events = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(bytes), stream))
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

struct JobStream {
    watch: JobWatch,
    /// Resolves when the caller's token or sign-in is revoked.
    access: OpenStream,
    heartbeat: Duration,
}

impl JobStream {
    /// The next bytes of the body; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        let next = tokio::select! {
            biased;
            () = self.access.revoked() => return None,
            next = tokio::time::timeout(self.heartbeat, self.watch.next()) => next,
        };
        let Ok(event) = next else { return Some(Bytes::from_static(HEARTBEAT)) };
        let mut bytes = b"data: ".to_vec();
        serde_json::to_writer(&mut bytes, &event?).ok()?;
        bytes.extend_from_slice(b"\n\n");
        Some(bytes.into())
    }
}
