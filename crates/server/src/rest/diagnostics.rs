//! `GET /api/diagnostics`: what the server holds in memory, per session, and what waits.

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
        "connections": state.connections.load(Ordering::Relaxed),
        "limits": {
            "connections": { "used": state.resources.connections(), "limit": limits.connections },
            "bodyBytes": { "used": state.resources.bodies_bytes(), "limit": limits.bodies_bytes },
        },
        "engine": state.engine.load(&principal.workspace),
    }))
}
