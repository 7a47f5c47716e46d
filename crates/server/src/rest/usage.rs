//! `/api/usage`: tokens and costs of model calls.

use axum::{
    Extension, Json,
    extract::{Query, State},
};
use engine::{Principal, UsageRequest};
use protocol::{MessageId, RunId, wire::usage::UsageReport};
use serde::Deserialize;

use crate::{
    chat::{bad_id, session_id},
    error::ApiError,
    state::ServerState,
};

#[derive(Deserialize)]
pub(crate) struct UsageQuery {
    by: Option<String>,
    session: Option<String>,
    run: Option<String>,
    message: Option<String>,
    from: Option<String>,
    to: Option<String>,
    timezone: Option<String>,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<UsageReport>, ApiError> {
    let by = query.by.filter(|by| !by.is_empty()).map(|by| by.parse()).transpose();
    let run = query.run.map(|run| RunId::from_outside(&run)).transpose();
    let message = query.message.map(|message| MessageId::from_outside(&message)).transpose();
    let request = UsageRequest {
        by: by
            .map_err(|wrong| ApiError::invalid(format!("The field by is not valid: {wrong}.")))?
            .unwrap_or_default(),
        session: query.session.as_deref().map(session_id).transpose()?,
        run: run.map_err(|error| bad_id("The run id", error))?,
        message: message.map_err(|error| bad_id("The message id", error))?,
        from: query.from,
        to: query.to,
        timezone: query.timezone,
    };
    Ok(Json(state.engine.usage(&principal.workspace, request).await?))
}
