//! `POST /api/chat/{id}/title`: has the model name the chat, as the message `/summary-title` does, and answers with the
//! title.

use axum::{
    Json,
    extract::Request,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;
use serde_json::json;

use super::compact::wish;
use crate::{error::ApiError, state::ServerState};

pub(super) async fn title(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let wish = wish(state, request).await?;
    let title = state.engine.retitle(&principal.workspace, session, &wish).await?;
    Ok(Json(json!({ "title": title })).into_response())
}
