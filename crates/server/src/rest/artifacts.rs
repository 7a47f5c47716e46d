//! `/api/artifacts`: lists the files that tools wrote, and downloads one, whole or a byte range.
//!
//! The content is not trusted: browsers save it and never show it as a page of this server, and no script in it runs.

use axum::{
    Extension, Json,
    extract::{Path, Query, State},
    http::HeaderMap,
    response::Response,
};
use engine::Principal;
use protocol::{ArtifactId, ArtifactList};
use serde::Deserialize;

use crate::{
    chat::{bad_id, session_id},
    error::ApiError,
    file_response::FileResponse,
    state::ServerState,
};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListQuery {
    chat_id: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ListQuery>,
) -> Result<Json<ArtifactList>, ApiError> {
    let limit = match query.limit.as_deref().map(str::parse::<u32>) {
        None => DEFAULT_LIMIT,
        Some(Ok(limit @ 1..=MAX_LIMIT)) => limit,
        Some(_) => {
            return Err(ApiError::invalid(format!(
                "The field limit must be a number from 1 to {MAX_LIMIT}."
            )));
        }
    };
    let session = query.chat_id.as_deref().map(session_id).transpose()?;
    let cursor = query.cursor.as_deref();
    Ok(Json(state.engine.artifacts(&principal.workspace, session.as_ref(), cursor, limit).await?))
}

pub(crate) async fn download(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = ArtifactId::from_outside(&id).map_err(|error| bad_id("The artifact id", error))?;
    let (info, file) = state.engine.open_artifact(&principal.workspace, &id).await?;
    let artifact = &info.artifact;
    FileResponse {
        file,
        bytes: artifact.bytes,
        name: &artifact.name,
        media_type: &artifact.media_type,
        inline: false,
    }
    .respond(&headers)
}
