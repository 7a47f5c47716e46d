//! `POST /api/chat/{id}/stop`: ends the run, takes back what waits, and answers when the run has ended. With
//! `{messageId}` only that message is taken back, or the run that answers it stopped. Harmless when nothing runs.

use axum::{
    Json,
    extract::Request,
    http::header,
    response::{IntoResponse, Response},
};
use engine::{Principal, Stopped};
use protocol::{MessageId, SessionId};
use serde::Deserialize;
use serde_json::json;

use super::bad_id;
use crate::{body, error::ApiError, state::ServerState};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stop {
    message_id: Option<String>,
}

pub(super) async fn stop(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let at = named(state, request).await?;
    let stopped = state.engine.stop(principal.workspace, session, at).await?;
    let status = match stopped {
        Stopped::Idle => "idle",
        Stopped::Withdrawn => "withdrawn",
        Stopped::Cancelled => "cancelled",
    };
    Ok(Json(json!({ "stopped": stopped != Stopped::Idle, "status": status })).into_response())
}

/// Most clients send no body at all.
async fn named(state: &ServerState, request: Request) -> Result<Option<MessageId>, ApiError> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(None);
    }
    let bytes = body::read(state, &parts.headers, body).await?;
    let stop: Stop = if bytes.is_empty() { Stop::default() } else { body::parse(&bytes)? };
    let id = stop.message_id.as_deref().map(MessageId::from_outside).transpose();
    id.map_err(|error| bad_id("The message id", error))
}
