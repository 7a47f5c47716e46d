//! Authentication: a bearer token, or the sign-in of a browser (`sign_in.rs`). Every route but `/health` requires one.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::ErrorCode;
use sha2::{Digest, Sha256};

use crate::{
    error::ApiError,
    sign_in,
    state::{Auth, ServerState},
};

pub(crate) async fn require(State(state): State<ServerState>, mut request: Request, next: Next) -> Response {
    match principal(&state, request.headers()).await {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Ok(None) => ApiError::new(
            ErrorCode::Unauthorized,
            "The request has no valid token. Open the link that concertino printed when it started, or send the header \
             Authorization: Bearer <token>.",
        )
        .into_response(),
        Err(error) => error.into_response(),
    }
}

/// Returns the caller, or `None` when the request has no valid token or sign-in.
pub(crate) async fn principal(
    state: &ServerState,
    headers: &HeaderMap,
) -> Result<Option<Principal>, ApiError> {
    if state.settings.auth == Auth::Off {
        return Ok(Some(Principal::anyone()));
    }
    if let Some(token) = bearer(headers) {
        return by_token(state, token).await;
    }
    let Some(secret) = sign_in::cookie_secret(headers) else { return Ok(None) };
    if !sign_in::is_from_own_page(headers) {
        return Err(ApiError::new(
            ErrorCode::ForbiddenOrigin,
            "A page of another origin cannot use this browser's sign-in. Send a token instead.",
        ));
    }
    Ok(state.engine.signed_in(&digest(&secret)).await?)
}

pub(crate) async fn by_token(state: &ServerState, token: &str) -> Result<Option<Principal>, ApiError> {
    Ok(state.engine.principal(&digest(token)).await?)
}

/// Returns the SHA-256 of a secret. Only digests are stored and looked up, so the time of a lookup reveals nothing about
/// the secret.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
