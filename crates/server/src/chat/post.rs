//! `POST /api/chat`: parse, then `engine.send`. Step 2 of a chat request.

use axum::{Extension, body::Body, extract::State, http::HeaderMap, response::Response};
use engine::Principal;

use super::parse;
use crate::{body, error::ApiError, sse, state::ServerState};

pub(crate) async fn post(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let bytes = body::read(&state.settings, &headers, body).await?;
    let request = parse::request(&bytes, principal.workspace)?;
    // Not held while the message is stored.
    drop((bytes, headers));
    let following = state.engine.send(request).await?;
    Ok(sse::response(&state, following))
}
