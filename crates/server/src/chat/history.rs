//! `GET /api/chat/{id}/messages`: a page of the active branch. The stored bytes are sent as they are.

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

const PAGE: u32 = 100;
const LARGEST_PAGE: u32 = 1000;

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
    let limit = page.limit.unwrap_or(PAGE);
    if limit > LARGEST_PAGE {
        return Err(ApiError::invalid(format!("limit must be a number up to {LARGEST_PAGE}.")));
    }
    let page = state.engine.history(&principal.workspace, session, before.as_ref(), limit).await?;
    let body = format!("[{}]", page.messages.join(","));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(before) = page.next_before {
        let link =
            format!("<{}?before={}&limit={limit}>; rel=\"next\"", uri.path(), escaped(before.as_str()));
        if let Ok(link) = HeaderValue::from_str(&link) {
            headers.insert(header::LINK, link);
        }
    }
    Ok(response)
}

/// As a value in a query.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
