//! `/api/approvals`: lists the pending approvals of all chats. `/api/approvals/{id}`: shows one and answers it, from any
//! client and at any time.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    http::HeaderMap,
};
use engine::Principal;
use protocol::{
    AnsweredBy, ApprovalId, InteractionKind, UserAnswer,
    interaction::Interaction,
    wire::rest::{ApprovalAnswer, ApprovalList, AskedApproval},
};

use crate::{
    body,
    chat::{bad_id, reason},
    error::ApiError,
    state::ServerState,
};

/// How many pending approvals are listed; more than a person can read.
const MAX_LISTED: u32 = 200;
/// Bytes of a tool input that a person edited.
const MAX_INPUT_BYTES: usize = 256 << 10;

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<ApprovalList>, ApiError> {
    Ok(Json(state.engine.waiting(&principal.workspace, MAX_LISTED).await?))
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
    let asked = state.engine.asked(&principal.workspace, &approval).await?;
    if asked.approval.kind == InteractionKind::Input {
        let mut answer: UserAnswer = body::parse(&bytes)?;
        answer.reason = reason(answer.reason)?;
        state.engine.answer_question(&principal.workspace, &approval, answer, AnsweredBy::Chat).await?;
        return Ok(Json(state.engine.asked(&principal.workspace, &approval).await?.approval));
    }
    let mut answer: ApprovalAnswer = body::parse(&bytes)?;
    answer.reason = reason(answer.reason)?;
    let edited = answer.input.as_ref().map_or(0, |input| input.to_string().len());
    if edited > MAX_INPUT_BYTES {
        return Err(ApiError::invalid(format!(
            "The edited input has {edited} bytes; at most {MAX_INPUT_BYTES} are allowed."
        )));
    }
    Ok(Json(state.engine.answer(principal.workspace, approval, answer, AnsweredBy::Chat).await?))
}

fn approval_id(id: &str) -> Result<ApprovalId, ApiError> {
    ApprovalId::from_outside(id).map_err(|error| bad_id("The approval id", error))
}
