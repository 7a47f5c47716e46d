//! `/session/…`: makes, loads, lists and deletes sessions. Making and loading one puts it at the connection.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
};
use engine::{EngineError, Principal};
use protocol::SessionId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    bind::{Binding, bind},
    body::{Fields, wrong},
    refusal::Refusal,
    switch,
};
use crate::state::ServerState;

const DEFAULT_PAGE: u32 = 20;
const MAX_PAGE: u32 = 200;
const MAX_SEARCH_CHARS: usize = 200;

pub(crate) async fn create(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let mut fields = Fields::read(&state, &headers, body, true).await?;
    let unattached = fields.is_null("connectionId");
    let connection = fields.text("connectionId")?;
    let title = fields.text("title")?;
    let agent = fields.text("initialAgentId")?;
    let connection = match unattached {
        true => None,
        false => Some(state.connections.of_request(&principal, connection.as_deref(), None)?),
    };
    let no_agent = |(code, text): switch::Failed| {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, code, text);
        refusal.with_agents(state.engine.main_agents(&principal.workspace))
    };
    agent.as_deref().map_or(Ok(()), switch::check).map_err(no_agent)?;
    let workspace = principal.workspace.clone();
    let session = match state.engine.create_session(workspace, title.as_deref(), agent).await {
        Ok(session) => session,
        Err(error @ EngineError::UnknownAgent(_)) => {
            return Err(no_agent(("agent_not_found", error.to_string())));
        }
        Err(error) => return Err(error.into()),
    };
    show(&state, &principal, &session, connection).await
}

pub(crate) async fn load(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let mut fields = Fields::read(&state, &headers, body, false).await?;
    let id = fields.text("sessionId")?.ok_or_else(|| wrong("sessionId", "a string"))?;
    let connection = fields.text("connectionId")?;
    let session = SessionId::from_outside(&id).map_err(|_| Refusal::session_not_found())?;
    let connection = state.connections.of_request(&principal, connection.as_deref(), Some(&session))?;
    show(&state, &principal, &session, Some(connection)).await
}

/// Binds the session and returns it.
async fn show(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    connection: Option<String>,
) -> Result<Json<Value>, Refusal> {
    let cut = match &connection {
        Some(connection) => match bind(state, principal, session, connection, None).await? {
            Binding::At(cut) => Some(cut),
            Binding::Gap => None,
        },
        None => None,
    };
    let session = state.engine.load_session(&principal.workspace, session, cut).await?;
    Ok(Json(json!({ "success": true, "session": session, "connectionId": connection })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListQuery {
    page: Option<String>,
    page_size: Option<String>,
    q: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Value>, Refusal> {
    let page: u64 = query.page.and_then(|page| page.parse().ok()).unwrap_or(0);
    let size = query.page_size.and_then(|size| size.parse::<u32>().ok()).unwrap_or(DEFAULT_PAGE);
    let size = size.clamp(1, MAX_PAGE);
    let text: Option<String> = query.q.map(|text| text.trim().chars().take(MAX_SEARCH_CHARS).collect());
    let text = text.filter(|text: &String| !text.is_empty());
    let found = state.engine.session_items(&principal.workspace, text.as_deref(), page, size).await?;
    let shown = page.saturating_mul(u64::from(size)).saturating_add(found.sessions.len() as u64);
    let mut reply = json!({
        "success": true, "page": page, "pageSize": size, "sessions": found.sessions, "total": found.total,
        "hasMore": shown < found.total,
    });
    if let Some(text) = text {
        reply["searchQuery"] = Value::from(text);
    }
    Ok(Json(reply))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsQuery {
    session_id: Option<String>,
}

pub(crate) async fn rollback_points(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<PointsQuery>,
) -> Result<Json<Value>, Refusal> {
    let id = query.session_id.ok_or_else(|| Refusal::invalid("The query needs sessionId."))?;
    let session = SessionId::from_outside(&id).map_err(|_| Refusal::session_not_found())?;
    let points = state.engine.rollback_points(&principal.workspace, &session).await?;
    Ok(Json(json!({ "success": true, "sessionId": session, "points": points })))
}

pub(crate) async fn delete(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let deleted = match SessionId::from_outside(&id) {
        Ok(session) => match delete_session(&state, &principal, session).await {
            Ok(()) => true,
            Err(EngineError::SessionNotFound) => false,
            Err(error) => return Err(error.into()),
        },
        Err(_) => false,
    };
    Ok(Json(json!({ "success": true, "deleted": deleted })))
}

/// Deletes a session; the connection that it is at is told. Both surfaces delete in this way.
pub(crate) async fn delete_session(
    state: &ServerState,
    principal: &Principal,
    session: SessionId,
) -> Result<(), EngineError> {
    let workspace = principal.workspace.clone();
    let follower = state.connections.of_session(&workspace, &session);
    state.engine.delete(workspace.clone(), session.clone(), follower.into_iter().collect()).await?;
    state.connections.unbind(&workspace, &session);
    Ok(())
}

/// `POST /context/compress`: has the model summarise the older part of the conversation now.
pub(crate) async fn compress(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let mut fields = Fields::read(&state, &headers, body, false).await?;
    let id = fields.text("sessionId")?.ok_or_else(|| wrong("sessionId", "a string"))?;
    let session = SessionId::from_outside(&id).map_err(|_| Refusal::session_not_found())?;
    let outcome = state.engine.compact(principal.workspace, session.clone(), "").await?;
    Ok(Json(json!({
        "success": true, "sessionId": session, "compressed": outcome.compacted, "message": outcome.message.text(),
    })))
}
