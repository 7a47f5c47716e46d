//! The chat routes, in the protocol of an unmodified `useChat` client.

pub(crate) mod branch;
mod changes;
pub(crate) mod compact;
pub(crate) mod history;
pub(crate) mod message;
mod parse;
pub(crate) mod post;
pub(crate) mod resume;
pub(crate) mod stop;
pub(crate) mod title;

use axum::{
    Extension, Json,
    extract::{Path, Request, State},
    http::Method,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{ErrorCode, IdError, SessionId};

pub(crate) use parse::reason;

use crate::{error::ApiError, router::wrong_method, state::ServerState};

/// Dispatches `/api/chat/{id}/{action}`, where the id may contain slashes.
pub(crate) async fn dispatch(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(rest): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let Some((id, action)) = rest.rsplit_once('/') else {
        return Err(ApiError::new(ErrorCode::NotFound, "There is nothing at this address."));
    };
    let (id, action) = match (id.strip_suffix("/changes"), action) {
        (Some(id), "diff") => (id, "changes/diff"),
        (Some(id), "revert") => (id, "changes/revert"),
        _ => (id, action),
    };
    let session = session_id(id)?;
    let method = request.method().clone();
    match (&method, action) {
        (&Method::GET, "stream") => {
            let headers = request.headers().clone();
            resume::resume(&state, principal, session, &headers).await
        }
        (&Method::GET, "messages") => {
            history::history(&state, &principal, &session, request.uri().clone()).await
        }
        (&Method::GET, "queue") => {
            let queue = state.engine.queue(&principal.workspace, &session).await?;
            Ok(Json(queue).into_response())
        }
        (&Method::POST, "stop") => stop::stop(&state, principal, session, request).await,
        (&Method::POST, "message") => message::message(&state, principal, session, request).await,
        (&Method::POST, "branch") => branch::branch(&state, principal, session, request).await,
        (&Method::GET, "branches") => branch::branches(&state, &principal, &session).await,
        (&Method::POST, "compact") => compact::compact(&state, principal, session, request).await,
        (&Method::POST, "title") => title::title(&state, &principal, &session, request).await,
        (&Method::GET, "changes") => changes::list(&state, &principal, &session).await,
        (&Method::GET, "changes/diff") => changes::diff(&state, &principal, &session, request.uri()).await,
        (&Method::POST, "changes/revert") => changes::revert(&state, principal, session, request).await,
        (
            _,
            "stream" | "messages" | "queue" | "stop" | "message" | "branch" | "branches" | "compact"
            | "title" | "changes" | "changes/diff" | "changes/revert",
        ) => Ok(wrong_method(method).await.into_response()),
        _ => Err(ApiError::new(ErrorCode::NotFound, "There is nothing at this address.")),
    }
}

pub(crate) fn session_id(id: &str) -> Result<SessionId, ApiError> {
    SessionId::from_outside(id).map_err(|error| bad_id("The chat id", error))
}

pub(crate) fn bad_id(what: &str, error: IdError) -> ApiError {
    ApiError::new(ErrorCode::InvalidId, format!("{what} {error}."))
}
