//! `GET /health`: the only route without authentication. It reveals nothing about chats or users.

use std::sync::atomic::Ordering;

use axum::{Json, extract::State, http::StatusCode};
use serde_json::{Value, json};

use crate::state::ServerState;

/// Answers 200 while the store can write and 503 while it cannot. `damage` is the number of damaged places found so far,
/// `warnings` says what is wrong with the agent files, without names.
pub(crate) async fn show(State(state): State<ServerState>) -> (StatusCode, Json<Value>) {
    let store = state.engine.store_health().await;
    let connections = state.open_streams.load(Ordering::Relaxed) + state.connections.count();
    let (status, mut body) = match store.failing {
        None => (StatusCode::OK, json!({ "status": "ok", "connections": connections })),
        Some(reason) => (
            StatusCode::SERVICE_UNAVAILABLE,
            json!({ "status": "failing", "reason": format!("the database cannot be written: {reason}"), "connections": connections }),
        ),
    };
    if !store.damage.is_empty() {
        body["damage"] = store.damage.len().into();
    }
    let warnings = state.engine.agent_warnings();
    if !warnings.is_empty() {
        body["warnings"] = warnings.into();
    }
    (status, Json(body))
}
