//! `POST /api/chat/{id}/stop`: ends the run and answers when it has ended. Harmless when nothing runs.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;
use serde_json::json;

use crate::{error::ApiError, state::ServerState};

pub(super) async fn stop(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
) -> Result<Response, ApiError> {
    let stopped = state.engine.stop(principal.workspace, session).await?;
    let status = if stopped { "cancelled" } else { "idle" };
    Ok(Json(json!({ "stopped": stopped, "status": status })).into_response())
}
