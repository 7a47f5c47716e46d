//! `/api/sessions`: list, show, rename, delete.

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
const LONGEST_TITLE: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Page {
    limit: Option<String>,
    cursor: Option<String>,
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
    Ok(Json(state.engine.sessions(&principal.workspace, page.cursor.as_deref(), limit).await?))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<SessionInfo>, ApiError> {
    Ok(Json(state.engine.session(&principal.workspace, &session_id(&id)?).await?))
}

#[derive(Deserialize)]
struct Rename {
    /// `null` takes the title away; absent is a mistake.
    #[serde(default, deserialize_with = "present")]
    title: Option<Option<String>>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(crate) async fn rename(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionInfo>, ApiError> {
    let session = session_id(&id)?;
    let bytes = body::read(&state.settings, &headers, body).await?;
    let rename: Rename = body::parse(&bytes)?;
    let title =
        rename.title.ok_or_else(|| ApiError::invalid("The body needs title: a text, or null for none."))?;
    let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
    if title.as_ref().is_some_and(|title| title.chars().count() > LONGEST_TITLE) {
        return Err(ApiError::invalid(format!("The title is longer than {LONGEST_TITLE} characters.")));
    }
    Ok(Json(state.engine.rename(&principal.workspace, &session, title).await?))
}

pub(crate) async fn delete(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    state.engine.delete(principal.workspace, session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
