//! `GET /api/chat/{id}/messages`: a page of the active branch. Messages are sent as they are stored, without parsing.

use axum::{
    extract::Query,
    http::{HeaderValue, Uri, header},
    response::{IntoResponse, Response},
};
use engine::Principal;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{MessageId, SessionId};
use serde::Deserialize;

use super::bad_id;
use crate::{error::ApiError, state::ServerState};

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1000;
/// Escapes all but the unreserved characters of RFC 3986.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Deserialize)]
struct PageQuery {
    /// At most this many messages, the newest ones.
    limit: Option<u32>,
    /// Only messages before this one.
    before: Option<String>,
}

pub(super) async fn history(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    uri: Uri,
) -> Result<Response, ApiError> {
    let Query(page) = Query::<PageQuery>::try_from_uri(&uri)
        .map_err(|_| ApiError::invalid("The field limit must be a number and before a message id."))?;
    let before = page
        .before
        .as_deref()
        .map(MessageId::from_outside)
        .transpose()
        .map_err(|error| bad_id("The message id", error))?;
    let limit = page.limit.unwrap_or(DEFAULT_LIMIT);
    if limit > MAX_LIMIT {
        return Err(ApiError::invalid(format!("The field limit must be a number up to {MAX_LIMIT}.")));
    }
    let page = state.engine.history(&principal.workspace, session, before.as_ref(), limit).await?;
    let body = format!("[{}]", page.messages.join(","));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(before) = page.next_before {
        let before = utf8_percent_encode(before.as_str(), QUERY_VALUE);
        let link = format!("<{}?before={before}&limit={limit}>; rel=\"next\"", uri.path());
        if let Ok(link) = HeaderValue::from_str(&link) {
            headers.insert(header::LINK, link);
        }
    }
    Ok(response)
}
