//! `GET /health`: the only route without a token; tells nothing a stranger may not know.

use std::sync::atomic::Ordering;

use axum::{Json, extract::State, http::StatusCode};
use serde_json::{Value, json};

use crate::state::ServerState;

/// 200 while the server can do its work, 503 while the store cannot write. `damage` is how many damaged places are known.
pub(crate) async fn show(State(state): State<ServerState>) -> (StatusCode, Json<Value>) {
    let store = state.engine.store_health().await;
    let connections = state.connections.load(Ordering::Relaxed);
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
    (status, Json(body))
}
