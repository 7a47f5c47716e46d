//! Who asks: a bearer token, or the cookie that the sign-in link set. Every route but `/health` needs one.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::Principal;
use protocol::{ErrorCode, PrincipalId, WorkspaceId};
use sha2::{Digest, Sha256};

use crate::{
    error::ApiError,
    state::{Auth, ServerState},
};

pub(crate) const COOKIE: &str = "concertino_token";

pub(crate) async fn require(State(state): State<ServerState>, mut request: Request, next: Next) -> Response {
    match principal(&state, request.headers()).await {
        Ok(Some(principal)) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Ok(None) => ApiError::new(
            ErrorCode::Unauthorized,
            "A valid token is needed: open the link that concertino printed when it started, or send the header \
             Authorization: Bearer <token>.",
        )
        .into_response(),
        Err(error) => error.into_response(),
    }
}

/// The caller, if a valid token came along.
pub(crate) async fn principal(
    state: &ServerState,
    headers: &HeaderMap,
) -> Result<Option<Principal>, ApiError> {
    match state.settings.auth {
        Auth::Off => Ok(Some(Principal {
            id: PrincipalId::new("anyone"),
            workspace: WorkspaceId::default_workspace(),
        })),
        Auth::Token => match bearer(headers).or_else(|| cookie(headers)) {
            Some(token) => by_token(state, token).await,
            None => Ok(None),
        },
    }
}

pub(crate) async fn by_token(state: &ServerState, token: &str) -> Result<Option<Principal>, ApiError> {
    // Only the digest is looked up, so the time it takes tells nothing about the token.
    let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
    Ok(state.engine.principal(&digest).await?)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}
