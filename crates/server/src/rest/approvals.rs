//! `/api/approvals`: what waits for an answer anywhere. `/api/approvals/{id}`: look at a question and answer it, from
//! any surface, at any time.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    http::HeaderMap,
};
use engine::Principal;
use protocol::{
    ApprovalId,
    interaction::Interaction,
    wire::rest::{ApprovalAnswer, ApprovalList, AskedApproval},
};

use crate::{
    body,
    chat::{bad_id, reason},
    error::ApiError,
    state::ServerState,
};

/// More than a person can look at.
const MOST_WAITING: u32 = 200;
/// What a person writes by hand.
const MAX_INPUT_BYTES: usize = 256 << 10;

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
) -> Result<Json<AskedApproval>, ApiError> {
    Ok(Json(state.engine.asked(&principal.workspace, &approval_id(&id)?).await?))
}

pub(crate) async fn answer(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Interaction>, ApiError> {
    let approval = approval_id(&id)?;
    let bytes = body::read(&state, &headers, body).await?;
    let mut answer: ApprovalAnswer = body::parse(&bytes)?;
    answer.reason = reason(answer.reason)?;
    let edited = answer.input.as_ref().map_or(0, |input| input.to_string().len());
    if edited > MAX_INPUT_BYTES {
        return Err(ApiError::invalid(format!(
            "The edited input has {edited} bytes; at most {MAX_INPUT_BYTES} are allowed."
        )));
    }
    Ok(Json(state.engine.answer(principal.workspace, approval, answer).await?))
}

fn approval_id(id: &str) -> Result<ApprovalId, ApiError> {
    ApprovalId::from_outside(id).map_err(|error| bad_id("The approval id", error))
}
