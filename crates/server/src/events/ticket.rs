//! `POST /events/ticket`: a ticket for one `GET /events?ticket=…`, for clients that cannot send headers (`EventSource`).

use axum::{
    Extension, Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use engine::Principal;
use serde_json::{Value, json};

use super::{body::Fields, connections::TICKET_TIME, refusal::Refusal};
use crate::{auth, state::ServerState};

pub(crate) async fn create(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    Fields::read(&state, &headers, body, true).await?;
    let ticket = format!("tkt_{}", state.engine.unguessable());
    if !state.connections.add_ticket(auth::digest(&ticket), principal) {
        return Err(Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_requests",
            "Too many tickets are waiting to be used. Try again in half a minute.",
        ));
    }
    Ok(Json(json!({ "success": true, "ticket": ticket, "expiresInMs": TICKET_TIME.as_millis() as u64 })))
}
