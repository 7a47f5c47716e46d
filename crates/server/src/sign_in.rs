//! The sign-in of a browser: the link exchanges a token for a random secret in a cookie, of which only the SHA-256 is
//! stored. Unlike the token, a sign-in can be revoked alone, and it is valid for pages of this server only (ADR 21).

use axum::http::{HeaderMap, HeaderValue, header, uri::Authority};
use cookie::{Cookie, SameSite, time::Duration};
use engine::{Credential, Principal};
use protocol::ErrorCode;

use crate::{auth, error::ApiError, state::ServerState};

/// Browsers keep no cookie longer. The server ends an unused sign-in much earlier.
const MAX_AGE: Duration = Duration::days(400);
/// How many bytes of the User-Agent header are stored.
const MAX_USER_AGENT: usize = 200;
/// The cookie of former versions; it held the token itself.
const FORMER_COOKIE: &str = "concertino_token";

/// Signs the browser in and returns the cookie to set, or `None` when it is already signed in with this token. Fails when
/// the token was revoked meanwhile.
pub(crate) async fn sign_in(
    state: &ServerState,
    principal: &Principal,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, ApiError> {
    let current = match cookie_secret(headers) {
        Some(secret) => state.engine.signed_in(&auth::digest(&secret)).await?,
        None => None,
    };
    let token = |credential| match credential {
        Credential::None => None,
        Credential::Token(token) | Credential::SignIn { token, .. } => Some(token),
    };
    if current.is_some_and(|current| token(current.credential) == token(principal.credential)) {
        return Ok(None);
    }
    let no_randomness = || {
        ApiError::new(
            ErrorCode::Internal,
            "Signing in failed: the operating system returned no random numbers.",
        )
    };
    let secret = state.engine.secret().ok_or_else(no_randomness)?;
    if !state.engine.sign_in(principal, auth::digest(&secret), user_agent(headers)).await? {
        return Err(ApiError::new(
            ErrorCode::Unauthorized,
            "The token of this link was revoked. Ask the owner of this server for a new link.",
        ));
    }
    Ok(set_cookie(headers, &cookie_name(headers), &secret, MAX_AGE))
}

/// Returns the cookie that makes the browser delete its sign-in.
pub(crate) fn clear_cookie(headers: &HeaderMap) -> Option<HeaderValue> {
    set_cookie(headers, &cookie_name(headers), "", Duration::ZERO)
}

/// Returns the cookie that makes the browser delete the cookie of former versions, if it sent one.
pub(crate) fn clear_former_cookie(headers: &HeaderMap) -> Option<HeaderValue> {
    find_cookie(headers, FORMER_COOKIE).and_then(|_| set_cookie(headers, FORMER_COOKIE, "", Duration::ZERO))
}

/// Returns the sign-in secret of the request's cookie.
pub(crate) fn cookie_secret(headers: &HeaderMap) -> Option<String> {
    find_cookie(headers, &cookie_name(headers))
}

/// Returns whether the request comes from a page of this server or directly from the person (a typed address, a
/// bookmark). Browsers also send the cookie with requests from pages of another port of the same host, which must not use
/// it. Old browsers that do not send the header are covered by the check of the Origin header.
pub(crate) fn is_from_own_page(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none")
}

/// The cookie's name contains the port. Cookies are shared by all ports of a host, so servers on the same host would
/// overwrite each other's cookie otherwise.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| host.parse::<Authority>().ok()).and_then(|host| host.port_u16());
    let port = port.unwrap_or(if is_behind_tls(headers) { 443 } else { 80 });
    format!("concertino_{port}")
}

/// Returns whether a proxy received the request over TLS. A client that forges the header only gets a cookie that its own
/// browser will not send.
fn is_behind_tls(headers: &HeaderMap) -> bool {
    let forwarded = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    let first = forwarded.and_then(|value| value.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

fn set_cookie(headers: &HeaderMap, name: &str, value: &str, max_age: Duration) -> Option<HeaderValue> {
    let cookie = Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .max_age(max_age)
        .secure(is_behind_tls(headers));
    HeaderValue::from_str(&cookie.to_string()).ok()
}

fn find_cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = values.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
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
