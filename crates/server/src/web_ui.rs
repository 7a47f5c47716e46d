//! The web interface: `web/dist`, embedded by `build.rs`. Every address that is no file and no route is a place inside
//! the page, so a link to a chat works. The page itself is for people who are signed in; `/?token=…` signs a browser in.

use axum::{
    extract::{Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use protocol::ErrorCode;
use serde::Deserialize;

use crate::{
    auth,
    error::ApiError,
    router::wrong_method,
    sign_in,
    state::{Auth, ServerState},
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
            Some(principal) => {
                signed_in(sign_in::sign_in(&state, &principal, &headers).await?, path, &headers)
            }
            None => signed_out(&headers),
        });
    }
    // On the way from another site the browser keeps the cookie back, or we do not take it: once more, from here.
    if state.settings.auth == Auth::Token && !sign_in::is_of_own_page(&headers) {
        return Ok(once_more());
    }
    match auth::principal(&state, &headers).await? {
        None => Ok(signed_out(&headers)),
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
fn signed_in(cookie: Option<HeaderValue>, path: &str, headers: &HeaderMap) -> Response {
    // Two slashes at the beginning would name another host.
    let place = format!("/{}", path.trim_start_matches(['/', '\\']));
    let mut response = Redirect::to(&place).into_response();
    for cookie in cookie.into_iter().chain(sign_in::forget_former(headers)) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn signed_out(headers: &HeaderMap) -> Response {
    let mut response =
        guarded((StatusCode::UNAUTHORIZED, Html(include_str!("web_ui/signed-out.html"))).into_response());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = sign_in::forget_former(headers) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A page that asks for the same address again, now as a page of this server.
fn once_more() -> Response {
    const PAGE: &str = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0\">\
        <title>Concertino</title>";
    let mut response = guarded(Html(PAGE).into_response());
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
