//! `GET /api/chat/{id}/stream`: streams the message that is being written, from its first chunk or after
//! `Last-Event-ID`. Answers 204 when no message is being written.

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
    // With a `Last-Event-ID` that is not a number the stream starts at the beginning.
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse().ok());
    Ok(match state.engine.watch(principal.workspace.clone(), session, after).await? {
        Some(viewer) => sse::response(state, &principal, viewer.into()),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}
