//! `GET /api/tools`: the tools that agents can use.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::state::ServerState;

pub(crate) async fn list(State(state): State<ServerState>) -> Json<Value> {
    Json(json!({ "tools": state.engine.tool_specs() }))
}
