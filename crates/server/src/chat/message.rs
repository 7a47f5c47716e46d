//! `POST /api/chat/{id}/message`: sends a message to the agent that is working in this chat, also to a sub-agent.

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

const MAX_TEXT_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
struct MessageBody {
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
    let MessageBody { text } = body::parse(&bytes)?;
    if text.trim().is_empty() {
        return Err(ApiError::new(ErrorCode::EmptyMessage, "The field text is empty. Write a message."));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(ApiError::new(
            ErrorCode::MessageTooLarge,
            format!("The text has {} bytes; at most {MAX_TEXT_BYTES} are allowed.", text.len()),
        ));
    }
    state.engine.steer(principal.workspace, chat, text).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "accepted": true }))).into_response())
}
