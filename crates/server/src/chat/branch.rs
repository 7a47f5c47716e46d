//! `POST /api/chat/{id}/branch`: switches to another answer or to an older version of a question.
//! `GET /api/chat/{id}/branches`: lists where the active branch has alternatives.

use axum::{
    Json,
    extract::Request,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{MessageId, SessionId};
use serde::Deserialize;
use serde_json::json;

use super::bad_id;
use crate::{body, error::ApiError, state::ServerState};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BranchBody {
    message_id: String,
    /// Which version of the message; the newest when absent.
    revision: Option<u32>,
}

pub(super) async fn branch(
    state: &ServerState,
    principal: Principal,
    session: SessionId,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = body::read(state, &parts.headers, body).await?;
    let branch: BranchBody = body::parse(&bytes)?;
    let at = MessageId::from_outside(&branch.message_id).map_err(|error| bad_id("The message id", error))?;
    let leaf = state.engine.choose_branch(principal.workspace, session, at, branch.revision).await?;
    Ok(Json(json!({ "activeLeaf": leaf.id })).into_response())
}

pub(super) async fn branches(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
) -> Result<Response, ApiError> {
    Ok(Json(state.engine.branches(&principal.workspace, session).await?).into_response())
}
