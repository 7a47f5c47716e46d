//! `/api/sessions`: list, search, show, rename, pin, delete.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
};
use engine::Principal;
use protocol::wire::rest::{SessionInfo, SessionList};
use serde::{Deserialize, Deserializer};

use crate::{body, chat::session_id, error::ApiError, state::ServerState};

const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 200;
const LONGEST_QUERY: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Page {
    limit: Option<String>,
    cursor: Option<String>,
    /// Only those whose title or text holds this.
    q: Option<String>,
    /// `true`: only those that are pinned.
    pinned: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(page): Query<Page>,
) -> Result<Json<SessionList>, ApiError> {
    let limit = match page.limit.as_deref().map(str::parse::<u32>) {
        None => PAGE,
        Some(Ok(limit @ 1..=LARGEST_PAGE)) => limit,
        Some(_) => {
            return Err(ApiError::invalid(format!("limit must be a number from 1 to {LARGEST_PAGE}.")));
        }
    };
    if let Some(text) = page.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        if text.chars().count() > LONGEST_QUERY {
            return Err(ApiError::invalid(format!("q is longer than {LONGEST_QUERY} characters.")));
        }
        return Ok(Json(state.engine.search(&principal.workspace, text, limit).await?));
    }
    match page.pinned.as_deref() {
        Some("true") => Ok(Json(state.engine.pinned(&principal.workspace, limit).await?)),
        Some(_) => Err(ApiError::invalid("pinned can only be true.")),
        None => Ok(Json(state.engine.sessions(&principal.workspace, page.cursor.as_deref(), limit).await?)),
    }
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<SessionInfo>, ApiError> {
    Ok(Json(state.engine.session(&principal.workspace, &session_id(&id)?).await?))
}

#[derive(Deserialize)]
struct Change {
    /// `null` takes the title away; absent is a mistake.
    #[serde(default, deserialize_with = "present")]
    title: Option<Option<String>>,
    pinned: Option<bool>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(crate) async fn change(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionInfo>, ApiError> {
    let session = session_id(&id)?;
    let bytes = body::read(&state, &headers, body).await?;
    let change: Change = body::parse(&bytes)?;
    if change.title.is_none() && change.pinned.is_none() {
        return Err(ApiError::invalid(
            "The body needs title (a text, or null for none) or pinned (true or false).",
        ));
    }
    if let Some(title) = change.title {
        state.engine.rename(&principal.workspace, &session, title).await?;
    }
    if let Some(pinned) = change.pinned {
        state.engine.pin(&principal.workspace, &session, pinned).await?;
    }
    Ok(Json(state.engine.session(&principal.workspace, &session).await?))
}

pub(crate) async fn delete(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    state.engine.delete(principal.workspace, session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
