//! The web interface: `web/dist`, embedded by `build.rs`. Every address that is no file and no route is a place inside
//! the page, so a link to a chat works. The page itself is for people who are signed in; `/?token=…` signs in.

use axum::{
    extract::{Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use protocol::ErrorCode;
use serde::Deserialize;

use crate::{
    auth::{self, COOKIE},
    error::ApiError,
    router::wrong_method,
    state::ServerState,
};

mod frame;

struct Asset {
    path: &'static str,
    kind: &'static str,
    tag: &'static str,
    plain: &'static [u8],
    /// gzip, where it is smaller.
    packed: Option<&'static [u8]>,
}

static ASSETS: &[Asset] = &include!(concat!(env!("OUT_DIR"), "/web_dist.rs"));

const PAGE: &str = "/index.html";
/// Names below this carry the hash of their content: they never change.
const HASHED: &str = "/assets/";

/// No inline script or style, nothing from elsewhere. Pictures may be `data:` (attachments) or `blob:` (previews).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    media-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; \
    manifest-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Deserialize)]
struct SignIn {
    token: Option<String>,
}

pub(crate) async fn page_or_asset(
    State(state): State<ServerState>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = uri.path();
    if path == frame::PATH && matches!(method, Method::GET | Method::HEAD) {
        return Ok(frame::page());
    }
    let is_place = is_place(path, &headers);
    let asset = ASSETS.iter().find(|asset| asset.path == path && path != PAGE);
    if asset.is_none() && !is_place && path != "/sign-in.css" {
        return Err(ApiError::new(ErrorCode::NotFound, "There is nothing at this address."));
    }
    if method != Method::GET && method != Method::HEAD {
        return Ok(wrong_method(method).await);
    }
    if let Some(asset) = asset {
        return Ok(guarded(serve(asset, &headers)));
    }
    if !is_place {
        let style = include_str!("web_ui/sign-in.css");
        return Ok(guarded(([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response()));
    }
    if let Ok(Query(SignIn { token: Some(token) })) = Query::<SignIn>::try_from_uri(&uri) {
        return Ok(match auth::by_token(&state, &token).await? {
            Some(_) => signed_in(&token, path),
            None => signed_out(),
        });
    }
    match auth::principal(&state, &headers).await? {
        None => Ok(signed_out()),
        Some(_) => match ASSETS.iter().find(|asset| asset.path == PAGE) {
            Some(page) => Ok(guarded(serve(page, &headers))),
            None => Err(ApiError::new(ErrorCode::NotFound, "This build has no web interface.")),
        },
    }
}

/// An address inside the page. A browser that was led astray gets the page as well, which says so; a program gets a 404.
fn is_place(path: &str, headers: &HeaderMap) -> bool {
    let mut words = path.trim_start_matches('/').split('/');
    let first = words.next().unwrap_or_default();
    match first {
        "" | "c" | "agents" | "usage" | "settings" => true,
        "api" | "assets" => false,
        _ => {
            let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
            let last = words.next_back().unwrap_or(first);
            accept.is_some_and(|accept| accept.contains("text/html")) && !last.contains('.')
        }
    }
}

fn serve(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let holds = |name: HeaderName, wanted: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(wanted))
    };
    let lasting =
        if asset.path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = if holds(header::IF_NONE_MATCH, asset.tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        match asset.packed {
            Some(packed) if holds(header::ACCEPT_ENCODING, "gzip") => {
                ([(header::CONTENT_ENCODING, "gzip")], packed).into_response()
            }
            _ => asset.plain.into_response(),
        }
    };
    let fixed = [
        (header::CONTENT_TYPE, asset.kind),
        (header::ETAG, asset.tag),
        (header::CACHE_CONTROL, lasting),
        (header::VARY, "accept-encoding"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Back to the same place without the token in the address.
fn signed_in(token: &str, path: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000");
    // Two slashes at the beginning would name another host.
    let place = format!("/{}", path.trim_start_matches(['/', '\\']));
    let mut response = Redirect::to(&place).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn signed_out() -> Response {
    let mut response =
        guarded((StatusCode::UNAUTHORIZED, Html(include_str!("web_ui/signed-out.html"))).into_response());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn guarded(mut response: Response) -> Response {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
