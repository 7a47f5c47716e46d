//! `GET /api/chat/{id}/stream`: the running message from its first chunk, or after `Last-Event-ID`, then live. 204
//! when there is nothing to follow.

use axum::{
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::SessionId;

use crate::{error::ApiError, sse, state::ServerState};

pub(super) async fn resume(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    // A `Last-Event-ID` that is no number of ours means: from the beginning.
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse().ok());
    Ok(match state.engine.watch(principal.workspace.clone(), session, after).await? {
        Some(viewer) => sse::response(state, &principal, viewer.into()),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}
