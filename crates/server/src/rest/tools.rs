//! `GET /api/tools`: the tools that agents can use, with their group, risk and default rule.

use axum::{Extension, Json, extract::State};
use engine::Principal;
use serde_json::{Value, json};

use crate::{error::ApiError, state::ServerState};

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<Value>, ApiError> {
    let tools = state.engine.tools(&principal.workspace).await?;
    Ok(Json(json!({ "tools": tools })))
}
