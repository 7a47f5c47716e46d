//! `GET /api/chat/{id}/changes`: what the chat changed in the files of the workspace, and whether it can be reverted.
//! `GET /api/chat/{id}/changes/diff?path=…`: what became of one file, over the chat or over the run of `messageId`.
//! `POST /api/chat/{id}/changes/revert`: reverts the changes of the chat, of one run, or of some files.

use axum::{
    Json,
    extract::{Query, Request},
    http::{Uri, header},
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{MessageId, SessionId, file_change::RevertRequest};
use serde::Deserialize;

use super::bad_id;
use crate::{body, error::ApiError, state::ServerState};

/// The most files that a revert may name.
const MAX_PATHS: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiffQuery {
    path: String,
    message_id: Option<String>,
}

pub(super) async fn list(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
) -> Result<Response, ApiError> {
    Ok(Json(state.engine.changes(&principal.workspace, session).await?).into_response())
}

pub(super) async fn diff(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    uri: &Uri,
) -> Result<Response, ApiError> {
    let Query(query) = Query::<DiffQuery>::try_from_uri(uri)
        .map_err(|_| ApiError::invalid("The field path must be the path of a file."))?;
    let message = query.message_id.as_deref().map(message_id).transpose()?;
    let workspace = &principal.workspace;
    let diff = state.engine.change_diff(workspace, session, &query.path, message.as_ref()).await?;
    Ok(Json(diff).into_response())
}

pub(super) async fn revert(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let request = revert_request(state, request).await?;
    if let Some(message) = &request.message_id {
        message_id(message.as_str())?;
    }
    if request.paths.len() > MAX_PATHS {
        return Err(ApiError::invalid(format!("The field paths may name at most {MAX_PATHS} files.")));
    }
    Ok(Json(state.engine.revert(principal.workspace, session, request).await?).into_response())
}

/// Reads what to revert; everything when there is no body.
async fn revert_request(state: &ServerState, request: Request) -> Result<RevertRequest, ApiError> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(header::CONTENT_TYPE) {
        return Ok(RevertRequest::default());
    }
    let bytes = body::read(state, &parts.headers, body).await?;
    if bytes.is_empty() { Ok(RevertRequest::default()) } else { body::parse(&bytes) }
}

fn message_id(id: &str) -> Result<MessageId, ApiError> {
    MessageId::from_outside(id).map_err(|error| bad_id("The message id", error))
}
