//! `POST /api/chat/{id}/title`: lets the model name the chat, like the message `/summary-title`, and returns the title.

use axum::{
    Json,
    extract::Request,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;
use serde_json::json;

use super::compact::instructions;
use crate::{error::ApiError, state::ServerState};

pub(super) async fn title(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let instructions = instructions(state, request).await?;
    let title = state.engine.retitle(&principal.workspace, session, &instructions).await?;
    Ok(Json(json!({ "title": title })).into_response())
}
