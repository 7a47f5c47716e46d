//! `GET /api/diagnostics`: connections, bytes and sessions in memory, and what is queued.

use std::sync::atomic::Ordering;

use axum::{Extension, Json, extract::State};
use engine::Principal;
use serde_json::{Value, json};

use crate::state::ServerState;

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Json<Value> {
    let limits = state.resources.limits();
    Json(json!({
        "connections": state.open_streams.load(Ordering::Relaxed),
        "limits": {
            "connections": { "used": state.resources.connections(), "limit": limits.connections },
            "bodyBytes": { "used": state.resources.bodies_bytes(), "limit": limits.bodies_bytes },
        },
        "engine": state.engine.load(&principal.workspace),
    }))
}
