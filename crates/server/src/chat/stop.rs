//! `POST /api/chat/{id}/stop`: cancels the run, withdraws queued messages, and answers when the run has ended. With
//! `{messageId}` it withdraws only that queued message, or cancels the run that answers it. Does nothing when the chat is
//! idle.

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
struct StopBody {
    message_id: Option<String>,
}

pub(super) async fn stop(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let message = message_to_stop(state, request).await?;
    let stopped = state.engine.stop(principal.workspace, session, message).await?;
    let status = match stopped {
        Stopped::Idle => "idle",
        Stopped::Withdrawn => "withdrawn",
        Stopped::Cancelled => "cancelled",
    };
    Ok(Json(json!({ "stopped": stopped != Stopped::Idle, "status": status })).into_response())
}

/// Reads the message id of the body. Most clients send no body.
async fn message_to_stop(state: &ServerState, request: Request) -> Result<Option<MessageId>, ApiError> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(None);
    }
    let bytes = body::read(state, &parts.headers, body).await?;
    let stop = if bytes.is_empty() { StopBody::default() } else { body::parse(&bytes)? };
    let id = stop.message_id.as_deref().map(MessageId::from_outside).transpose();
    id.map_err(|error| bad_id("The message id", error))
}
