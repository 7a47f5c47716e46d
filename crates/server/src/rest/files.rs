//! `GET /api/files`: lists a folder of the workspace. `GET /api/files/content`: the bytes of a file, to show or to save.

use axum::{
    Extension, Json,
    extract::{Query, State},
    http::HeaderMap,
    response::Response,
};
use engine::{FileKind, Principal, WorkspaceFile};
use protocol::{ErrorCode, file_change::FolderList};
use serde::Deserialize;

use crate::{error::ApiError, file_response::FileResponse, state::ServerState};

/// Larger files are downloaded, not shown.
const MAX_SHOWN_BYTES: u64 = 10 << 20;

#[derive(Deserialize)]
pub(crate) struct FolderQuery {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
pub(crate) struct ContentQuery {
    path: String,
    download: Option<String>,
}

pub(crate) async fn folder(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<FolderQuery>,
) -> Result<Json<FolderList>, ApiError> {
    Ok(Json(state.engine.folder(&principal.workspace, &query.path).await?))
}

pub(crate) async fn content(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ContentQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_download = match query.download.as_deref() {
        None | Some("0") => false,
        Some("1") => true,
        Some(_) => return Err(ApiError::invalid("The field download must be 1 or absent.")),
    };
    let opened = state.engine.open_workspace_file(&principal.workspace, &query.path).await?;
    let WorkspaceFile { file, name, bytes, kind } = opened;
    if !is_download && bytes > MAX_SHOWN_BYTES {
        let text = format!(
            "The file has {bytes} bytes; at most {MAX_SHOWN_BYTES} can be shown. Add download=1 to save it."
        );
        return Err(ApiError::new(ErrorCode::FileTooLarge, text));
    }
    let media_type = match kind {
        FileKind::Text(encoding) => format!("text/plain; charset={encoding}"),
        FileKind::Image(kind) => kind.to_owned(),
        FileKind::Other => "application/octet-stream".to_owned(),
    };
    let inline = !is_download && kind != FileKind::Other;
    FileResponse { file, bytes, name: &name, media_type: &media_type, inline }.respond(&headers)
}
