//! `POST /api/chat/{id}/compact`: summarises the older part of the chat for the model, as the message `/compact` does,
//! and answers when that is done.

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

/// The longest wish, in characters.
const LONGEST: usize = 4_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wish {
    instructions: Option<String>,
}

pub(super) async fn compact(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let wish = wish(state, request).await?;
    let outcome = state.engine.compact(principal.workspace, session, &wish).await?;
    let mut said = json!({
        "compacted": outcome.compacted,
        "messageId": outcome.message.id,
        "text": outcome.message.text(),
    });
    if let Some(compaction) = outcome.compaction {
        said["compaction"] = compaction;
    }
    Ok(Json(said).into_response())
}

/// What the person asks for in particular; most clients send no body at all.
pub(super) async fn wish(state: &ServerState, request: Request) -> Result<String, ApiError> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(String::new());
    }
    let bytes = body::read(state, &parts.headers, body).await?;
    let wish: Wish = if bytes.is_empty() { Wish::default() } else { body::parse(&bytes)? };
    let wish = wish.instructions.unwrap_or_default().trim().to_owned();
    if wish.chars().count() > LONGEST {
        return Err(ApiError::invalid(format!("instructions is longer than {LONGEST} characters.")));
    }
    Ok(wish)
}
