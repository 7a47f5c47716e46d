//! The sign-in of a browser: the link exchanges a token for a random secret in a cookie, of which only the SHA-256 is
//! stored. Unlike the token it can be revoked alone, and it is worth nothing outside of this server's own pages.

use axum::http::{HeaderMap, HeaderValue, header, uri::Authority};
use engine::{Credential, Principal};
use protocol::ErrorCode;

use crate::{auth, error::ApiError, state::ServerState};

/// Browsers keep no cookie longer. The server ends a sign-in that is not used much earlier.
const MAX_AGE: u32 = 400 * 24 * 60 * 60;
/// As much of a browser's name for itself is kept, in bytes.
const MAX_USER_AGENT: usize = 200;
/// Once held the token itself.
const FORMER: &str = "concertino_token";

/// Signs the browser in, unless it is signed in with this token already; returns the cookie to set. An error when the
/// token was revoked meanwhile.
pub(crate) async fn sign_in(
    state: &ServerState,
    principal: &Principal,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, ApiError> {
    let now = match cookie(headers) {
        Some(secret) => state.engine.signed_in(&auth::digest(secret)).await?,
        None => None,
    };
    let token = |credential| match credential {
        Credential::None => None,
        Credential::Token(token) | Credential::SignIn { token, .. } => Some(token),
    };
    if now.is_some_and(|now| token(now.credential) == token(principal.credential)) {
        return Ok(None);
    }
    let random =
        || ApiError::new(ErrorCode::Internal, "The system gives no random numbers; nobody can sign in.");
    let secret = state.engine.secret().ok_or_else(random)?;
    if !state.engine.sign_in(principal, auth::digest(&secret), user_agent(headers)).await? {
        return Err(ApiError::new(ErrorCode::Unauthorized, "The token of this link was revoked."));
    }
    Ok(set(headers, &name(headers), &secret, MAX_AGE))
}

/// Has the browser forget its sign-in.
pub(crate) fn forget(headers: &HeaderMap) -> Option<HeaderValue> {
    set(headers, &name(headers), "", 0)
}

/// Has the browser forget the token that former versions gave it.
pub(crate) fn forget_former(headers: &HeaderMap) -> Option<HeaderValue> {
    find(headers, FORMER).and_then(|_| set(headers, FORMER, "", 0))
}

/// The secret of the sign-in that came along.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    find(headers, &name(headers))
}

/// Whether the request was made by a page of this server, or by the person (a typed address, a bookmark). Pages of
/// another port are of the same site, and get the cookie sent along. Browsers that do not say where a request comes
/// from are held off by the check of the origin.
pub(crate) fn is_of_own_page(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none")
}

/// Cookies ignore ports, so the name has the port: servers on the same host do not overwrite each other's.
fn name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| host.parse::<Authority>().ok()).and_then(|host| host.port_u16());
    let port = port.unwrap_or(if came_by_tls(headers) { 443 } else { 80 });
    format!("concertino_{port}")
}

/// A proxy says so. Whoever lies here only gets a cookie that their own browser will not send.
fn came_by_tls(headers: &HeaderMap) -> bool {
    let forwarded = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    let first = forwarded.and_then(|value| value.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

fn set(headers: &HeaderMap, name: &str, value: &str, max_age: u32) -> Option<HeaderValue> {
    let secure = if came_by_tls(headers) { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age}{secure}");
    HeaderValue::from_str(&cookie).ok()
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(found, value)| (found == name).then_some(value))
}

fn user_agent(headers: &HeaderMap) -> String {
    let bytes = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_USER_AGENT)]);
    let mut text = text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
    while text.len() > MAX_USER_AGENT {
        text.pop();
    }
    text
}
