//! `/api/agents`: lists the agents of the workspace, and creates, changes and removes the definitions in the database.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use engine::{AgentChange, Defined, Principal};
use protocol::{
    AgentId, AgentSource, ErrorCode,
    wire::agents::{AgentInfo, AgentList, FieldProblem},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{body, chat::bad_id, error::ApiError, state::ServerState};

/// Definitions are small; a larger body is a mistake.
const MAX_DEFINITION_BYTES: usize = 256 << 10;

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Json<AgentList> {
    Json(state.engine.list_agents(&principal.workspace))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<AgentInfo>, ApiError> {
    Ok(Json(state.engine.show_one_agent(&principal.workspace, &id)?))
}

#[derive(Deserialize)]
pub(crate) struct DefineQuery {
    /// `true`: only check the definition and store nothing.
    check: Option<String>,
}

pub(crate) async fn define(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<DefineQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let object = object(&state, &headers, body).await?;
    match query.check.as_deref() {
        None | Some("false") => {}
        Some("true") => {
            let (_, checked) =
                state.engine.check_agent(&principal.workspace, AgentSource::Database, &object).await;
            return Ok(Json(checked).into_response());
        }
        Some(_) => return Err(ApiError::invalid("The field check must be true or false.")),
    }
    let id = match object.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => {
            Some(AgentId::from_outside(id).map_err(|error| bad_id("The id of the definition", error))?)
        }
        Some(_) => return Err(ApiError::invalid("The field id must be a string.")),
    };
    Ok(match state.engine.define_agent(&principal.workspace, id, &object).await? {
        Defined::New(info) => (StatusCode::CREATED, Json(*info)).into_response(),
        Defined::Known(info) => (StatusCode::OK, Json(*info)).into_response(),
    })
}

pub(crate) async fn replace(
    state: State<ServerState>,
    principal: Extension<Principal>,
    path: Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<AgentInfo>, ApiError> {
    change(state, principal, path, AgentChange::Replace, headers, body).await
}

pub(crate) async fn amend(
    state: State<ServerState>,
    principal: Extension<Principal>,
    path: Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<AgentInfo>, ApiError> {
    change(state, principal, path, AgentChange::Amend, headers, body).await
}

async fn change(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    how: AgentChange,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<AgentInfo>, ApiError> {
    let object = object(&state, &headers, body).await?;
    let version = object.get("version").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let version = version.ok_or_else(|| {
        let fix = "Send the version of the definition that you read last.".to_owned();
        let (path, code) = ("version".to_owned(), "missing".to_owned());
        let problem =
            FieldProblem { path, code, line: None, message: "The version is missing.".to_owned(), fix };
        ApiError::new(
            ErrorCode::InvalidAgent,
            "The field version is missing: send the version of the definition that you read last.",
        )
        .with_problems(vec![problem])
    })?;
    Ok(Json(state.engine.change_agent(&principal.workspace, &id, version, how, &object).await?))
}

#[derive(Deserialize)]
pub(crate) struct RemoveQuery {
    /// The version that the client read last; the definition is kept when it has changed since.
    version: Option<String>,
}

pub(crate) async fn remove(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(query): Query<RemoveQuery>,
) -> Result<StatusCode, ApiError> {
    let version = match query.version.as_deref().map(str::parse::<u32>) {
        None => None,
        Some(Ok(version)) => Some(version),
        Some(Err(_)) => return Err(ApiError::invalid("The field version must be a number.")),
    };
    state.engine.remove_agent(&principal.workspace, &id, version).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the body as a JSON object.
async fn object(
    state: &ServerState,
    headers: &HeaderMap,
    body: Body,
) -> Result<Map<String, Value>, ApiError> {
    let bytes = body::read(state, headers, body).await?;
    if bytes.len() > MAX_DEFINITION_BYTES {
        let text = format!("The definition is larger than {MAX_DEFINITION_BYTES} bytes.");
        return Err(ApiError::new(ErrorCode::BodyTooLarge, text));
    }
    body::parse(&bytes)
}
