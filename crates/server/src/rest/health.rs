//! `GET /health`: the only route without a token; tells nothing a stranger may not know.

use std::sync::atomic::Ordering;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::state::ServerState;

pub(crate) async fn show(State(state): State<ServerState>) -> Json<Value> {
    Json(json!({ "status": "ok", "connections": state.connections.load(Ordering::Relaxed) }))
}
