//! `POST /api/chat/{id}/message`: says something to the agent that is at work in this chat, a sub-agent's included.

use axum::{
    Json,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{ErrorCode, SessionId};
use serde::Deserialize;
use serde_json::json;

use crate::{body, error::ApiError, state::ServerState};

/// The longest thing that can be said at once, in bytes.
const MAX_TEXT: usize = 64 << 10;

#[derive(Deserialize)]
struct Said {
    text: String,
}

pub(super) async fn message(
    state: &ServerState,
    principal: Principal,
    chat: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = body::read(state, &parts.headers, body).await?;
    let Said { text } = body::parse(&bytes)?;
    if text.trim().is_empty() {
        return Err(ApiError::new(ErrorCode::EmptyMessage, "The field text must say something."));
    }
    if text.len() > MAX_TEXT {
        return Err(ApiError::new(
            ErrorCode::MessageTooLarge,
            format!("The text has {} bytes; at most {MAX_TEXT} are allowed.", text.len()),
        ));
    }
    state.engine.steer(principal.workspace, chat, text).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "accepted": true }))).into_response())
}
