//! `GET /api/chat/{id}/messages`: the active branch. The stored bytes are sent as they are.

use axum::{
    extract::Query,
    http::{HeaderValue, Uri, header},
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{MessageId, SessionId};
use serde::Deserialize;

use super::bad_id;
use crate::{error::ApiError, state::ServerState};

#[derive(Deserialize)]
struct Page {
    /// At most this many, the newest.
    limit: Option<u32>,
    /// Only what comes before this message.
    before: Option<String>,
}

pub(super) async fn history(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    uri: Uri,
) -> Result<Response, ApiError> {
    let Query(page) = Query::<Page>::try_from_uri(&uri)
        .map_err(|_| ApiError::invalid("limit must be a number and before a message id."))?;
    let before = page
        .before
        .as_deref()
        .map(MessageId::from_outside)
        .transpose()
        .map_err(|error| bad_id("The message id", error))?;
    let messages = state.engine.history(&principal.workspace, session, before.as_ref(), page.limit).await?;
    let body = format!("[{}]", messages.join(","));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
