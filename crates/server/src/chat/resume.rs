//! `GET /api/chat/{id}/stream`: the running message from its first chunk, then live. 204 when nothing runs.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;

use crate::{error::ApiError, sse, state::ServerState};

pub(super) async fn resume(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
) -> Result<Response, ApiError> {
    Ok(match state.engine.watch(principal.workspace, session).await? {
        Some(viewer) => sse::response(state, viewer),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}
