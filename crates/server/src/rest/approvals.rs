//! `/api/approvals`: what waits for an answer anywhere. `/api/approvals/{id}`: look at a question and answer it, from
//! any surface, at any time.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    http::HeaderMap,
};
use engine::Principal;
use protocol::{ApprovalId, interaction::Interaction, wire::rest::ApprovalList};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    body,
    chat::{bad_id, decision},
    error::ApiError,
    state::ServerState,
};

#[derive(Deserialize)]
struct Answer {
    approved: bool,
    reason: Option<String>,
}

/// More than a person can look at.
const MOST_WAITING: u32 = 200;

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<ApprovalList>, ApiError> {
    Ok(Json(state.engine.waiting(&principal.workspace, MOST_WAITING).await?))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let (session, interaction) = state.engine.interaction(&principal.workspace, &approval_id(&id)?).await?;
    Ok(Json(json!({ "chatId": session, "approval": interaction })))
}

pub(crate) async fn answer(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Interaction>, ApiError> {
    let approval = approval_id(&id)?;
    let bytes = body::read(&state.settings, &headers, body).await?;
    let answer: Answer = body::parse(&bytes)?;
    let decision = decision(answer.approved, answer.reason)?;
    Ok(Json(state.engine.answer(principal.workspace, approval, decision).await?))
}

fn approval_id(id: &str) -> Result<ApprovalId, ApiError> {
    ApprovalId::from_outside(id).map_err(|error| bad_id("The approval id", error))
}
