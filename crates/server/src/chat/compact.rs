//! `POST /api/chat/{id}/compact`: summarises the older part of the chat for the model, like the message `/compact`.
//! Answers when the summary is stored.

use axum::{
    Json,
    extract::Request,
    http::header,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;
use serde::Deserialize;
use serde_json::json;

use crate::{body, error::ApiError, state::ServerState};

const MAX_INSTRUCTIONS_CHARS: usize = 4_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct InstructionsBody {
    instructions: Option<String>,
}

pub(super) async fn compact(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let instructions = instructions(state, request).await?;
    let outcome = state.engine.compact(principal.workspace, session, &instructions).await?;
    let mut body = json!({
        "compacted": outcome.compacted,
        "messageId": outcome.message.id,
        "text": outcome.message.text(),
    });
    if let Some(compaction) = outcome.compaction {
        body["compaction"] = compaction;
    }
    Ok(Json(body).into_response())
}

/// Reads the person's instructions for the model; empty when there is no body, which is the usual case.
pub(super) async fn instructions(state: &ServerState, request: Request) -> Result<String, ApiError> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(String::new());
    }
    let bytes = body::read(state, &parts.headers, body).await?;
    let body = if bytes.is_empty() { InstructionsBody::default() } else { body::parse(&bytes)? };
    let instructions = body.instructions.unwrap_or_default().trim().to_owned();
    if instructions.chars().count() > MAX_INSTRUCTIONS_CHARS {
        return Err(ApiError::invalid(format!(
            "The field instructions is longer than {MAX_INSTRUCTIONS_CHARS} characters."
        )));
    }
    Ok(instructions)
}
