//! `POST /api/chat`: parse, then `engine.send`. Step 2 of a chat request.

use axum::{Extension, body::Body, extract::State, http::HeaderMap, response::Response};
use engine::{Principal, SendRequest};
use protocol::{ErrorCode, WorkspaceId};

use super::parse;
use crate::{body, body::Received, error::ApiError, sse, state::ServerState};

/// A body this long is read on a thread of its own: others on this one would wait for milliseconds.
const LONG: usize = 512 << 10;

pub(crate) async fn post(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let bytes = body::read(&state, &headers, body).await?;
    drop(headers);
    let request = request(bytes, principal.workspace.clone()).await?;
    let following = state.engine.send(request).await?;
    Ok(sse::response(&state, &principal, following))
}

/// The bytes are not held while the message is stored.
async fn request(bytes: Received, workspace: WorkspaceId) -> Result<SendRequest, ApiError> {
    if bytes.len() < LONG {
        return parse::request(&bytes, workspace);
    }
    tokio::task::spawn_blocking(move || parse::request(&bytes, workspace))
        .await
        .map_err(|_| ApiError::new(ErrorCode::Internal, "The body could not be read."))?
}
