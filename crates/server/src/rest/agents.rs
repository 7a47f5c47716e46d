//! `/api/agents`: every agent of the workspace, and the definitions that its people write.

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

/// A definition is small; what is larger is a mistake.
const LARGEST: usize = 256 << 10;

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
pub(crate) struct Trial {
    /// `true`: say what would be said, and store nothing.
    check: Option<String>,
}

pub(crate) async fn define(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(trial): Query<Trial>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let object = object(&state, &headers, body).await?;
    match trial.check.as_deref() {
        None | Some("false") => {}
        Some("true") => {
            let checked =
                state.engine.check_agent(&principal.workspace, AgentSource::Database, &object).await.1;
            return Ok(Json(checked).into_response());
        }
        Some(_) => return Err(ApiError::invalid("check must be true or false.")),
    }
    let id = match object.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => {
            Some(AgentId::from_outside(id).map_err(|error| bad_id("The id of the definition", error))?)
        }
        Some(_) => return Err(ApiError::invalid("id must be a text.")),
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
        let fix = "Send the version of the definition that you have seen.".to_owned();
        let (path, code) = ("version".to_owned(), "missing".to_owned());
        let problem =
            FieldProblem { path, code, line: None, message: "The version is missing.".to_owned(), fix };
        ApiError::new(ErrorCode::InvalidAgent, "version: send the version that you have seen.")
            .with_problems(vec![problem])
    })?;
    Ok(Json(state.engine.change_agent(&principal.workspace, &id, version, how, &object).await?))
}

#[derive(Deserialize)]
pub(crate) struct Seen {
    version: Option<String>,
}

pub(crate) async fn remove(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(seen): Query<Seen>,
) -> Result<StatusCode, ApiError> {
    let version = match seen.version.as_deref().map(str::parse::<u32>) {
        None => None,
        Some(Ok(version)) => Some(version),
        Some(Err(_)) => return Err(ApiError::invalid("version must be a number.")),
    };
    state.engine.remove_agent(&principal.workspace, &id, version).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn object(
    state: &ServerState,
    headers: &HeaderMap,
    body: Body,
) -> Result<Map<String, Value>, ApiError> {
    let bytes = body::read(state, headers, body).await?;
    if bytes.len() > LARGEST {
        let text = format!("The definition is larger than {LARGEST} bytes.");
        return Err(ApiError::new(ErrorCode::BodyTooLarge, text));
    }
    body::parse(&bytes)
}
