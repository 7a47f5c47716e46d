//! `POST /api/chat`: parse, then `engine.send`.

use axum::{Extension, body::Body, extract::State, http::HeaderMap, response::Response};
use engine::{Principal, SendRequest};
use protocol::{ErrorCode, WorkspaceId};

use super::parse;
use crate::{body, body::BodyBytes, error::ApiError, sse, state::ServerState};

/// A body of this size is parsed on a blocking thread, because parsing it takes milliseconds and would delay the other
/// requests of this thread.
const LONG_BYTES: usize = 512 << 10;

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

/// Parses the body and frees it, so that it is not in memory while the message is stored.
async fn request(bytes: BodyBytes, workspace: WorkspaceId) -> Result<SendRequest, ApiError> {
    if bytes.len() < LONG_BYTES {
        return parse::request(&bytes, workspace);
    }
    tokio::task::spawn_blocking(move || parse::request(&bytes, workspace)).await.map_err(|_| {
        ApiError::new(ErrorCode::Internal, "An internal error happened while the body was read. Try again.")
    })?
}
