//! `/api/sessions`: lists, searches, shows, renames, pins and deletes chats.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
};
use engine::Principal;
use protocol::wire::rest::{SessionInfo, SessionList};
use serde::{Deserialize, Deserializer};

use crate::{body, chat::session_id, error::ApiError, events::sessions::delete_session, state::ServerState};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
const MAX_SEARCH_CHARS: usize = 200;

#[derive(Deserialize)]
pub(crate) struct ListQuery {
    limit: Option<String>,
    cursor: Option<String>,
    /// Only chats whose title or text contains this.
    q: Option<String>,
    /// `true`: only pinned chats.
    pinned: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ListQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let limit = match query.limit.as_deref().map(str::parse::<u32>) {
        None => DEFAULT_LIMIT,
        Some(Ok(limit @ 1..=MAX_LIMIT)) => limit,
        Some(_) => {
            return Err(ApiError::invalid(format!(
                "The field limit must be a number from 1 to {MAX_LIMIT}."
            )));
        }
    };
    if let Some(text) = query.q.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        if text.chars().count() > MAX_SEARCH_CHARS {
            return Err(ApiError::invalid(format!(
                "The field q is longer than {MAX_SEARCH_CHARS} characters."
            )));
        }
        return Ok(Json(state.engine.search(&principal.workspace, text, limit).await?));
    }
    match query.pinned.as_deref() {
        Some("true") => Ok(Json(state.engine.pinned(&principal.workspace, limit).await?)),
        Some(_) => Err(ApiError::invalid("The field pinned can only be true.")),
        None => Ok(Json(state.engine.sessions(&principal.workspace, query.cursor.as_deref(), limit).await?)),
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
struct SessionPatch {
    /// `null` removes the title; an absent field leaves it as it is.
    #[serde(default, deserialize_with = "present")]
    title: Option<Option<String>>,
    pinned: Option<bool>,
}

/// Deserializes `null` as `Some(None)`, which is different from an absent field.
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
    let change: SessionPatch = body::parse(&bytes)?;
    if change.title.is_none() && change.pinned.is_none() {
        return Err(ApiError::invalid(
            "The body needs the field title (a string, or null to remove it) or pinned (true or false).",
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
    delete_session(&state, &principal, session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
