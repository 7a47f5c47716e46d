//! `/api/sign-ins` and `/api/tokens`: lists and revokes sign-ins of browsers and tokens.

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{Credential, EngineError, Principal};
use protocol::wire::access::{SignInList, TokenList};

use crate::{error::ApiError, sign_in, state::ServerState};

pub(crate) async fn sign_ins(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<SignInList>, ApiError> {
    Ok(Json(state.engine.sign_ins(&principal).await?))
}

/// Revokes a sign-in. `current`, or the number of the caller's own sign-in, signs the caller out.
pub(crate) async fn revoke_sign_in(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let own = match principal.credential {
        Credential::SignIn { id, .. } => Some(id),
        Credential::Token(_) | Credential::None => None,
    };
    let id = if id == "current" { own } else { id.parse().ok() };
    let id = id.ok_or(EngineError::SignInNotFound)?;
    state.engine.revoke_sign_in(&principal, id).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if own == Some(id)
        && let Some(cookie) = sign_in::clear_cookie(&headers)
    {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

pub(crate) async fn tokens(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<TokenList>, ApiError> {
    Ok(Json(state.engine.tokens(&principal).await?))
}

pub(crate) async fn revoke_token(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id = id.parse().map_err(|_| EngineError::TokenNotFound)?;
    state.engine.revoke_token(&principal, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
