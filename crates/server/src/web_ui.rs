//! The web interface: `web/dist`, embedded by `build.rs`. Paths of the page, such as `/c/{chat}`, return the page, so that
//! links to a chat work. The page requires a sign-in; `/?token=…` signs a browser in.

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

mod preview_page;

/// A file of the web interface.
struct Asset {
    path: &'static str,
    media_type: &'static str,
    etag: &'static str,
    bytes: &'static [u8],
    /// The bytes compressed with gzip, where that is smaller.
    gzip: Option<&'static [u8]>,
}

static ASSETS: &[Asset] = &include!(concat!(env!("OUT_DIR"), "/web_dist.rs"));

const PAGE: &str = "/index.html";
/// File names below this path contain the hash of their content, so the content never changes.
const HASHED: &str = "/assets/";

/// Allows no inline script or style and nothing from other hosts. Images may be `data:` (attachments) or `blob:`
/// (previews).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    media-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; \
    manifest-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Deserialize)]
struct SignInQuery {
    token: Option<String>,
}

pub(crate) async fn page_or_asset(
    State(state): State<ServerState>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = uri.path();
    if path == preview_page::PATH && matches!(method, Method::GET | Method::HEAD) {
        return Ok(preview_page::page());
    }
    let is_page = is_page_path(path, &headers);
    let asset = ASSETS.iter().find(|asset| asset.path == path && path != PAGE);
    if asset.is_none() && !is_page && path != "/sign-in.css" {
        return Err(ApiError::new(ErrorCode::NotFound, "There is nothing at this address."));
    }
    if method != Method::GET && method != Method::HEAD {
        return Ok(wrong_method(method).await);
    }
    if let Some(asset) = asset {
        return Ok(with_security_headers(asset_response(asset, &headers)));
    }
    if !is_page {
        let style = include_str!("web_ui/sign-in.css");
        return Ok(with_security_headers(
            ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response(),
        ));
    }
    if let Ok(Query(SignInQuery { token: Some(token) })) = Query::<SignInQuery>::try_from_uri(&uri) {
        return Ok(match auth::by_token(&state, &token).await? {
            Some(principal) => {
                signed_in(sign_in::sign_in(&state, &principal, &headers).await?, path, &headers)
            }
            None => signed_out(&headers),
        });
    }
    // After a link on another site the browser does not send its cookie, or we do not accept it. Reloading the page
    // sends it.
    if state.settings.auth == Auth::Token && !sign_in::is_from_own_page(&headers) {
        return Ok(reload_page());
    }
    match auth::principal(&state, &headers).await? {
        None => Ok(signed_out(&headers)),
        Some(_) => match ASSETS.iter().find(|asset| asset.path == PAGE) {
            Some(page) => Ok(with_security_headers(asset_response(page, &headers))),
            None => Err(ApiError::new(ErrorCode::NotFound, "This build has no web interface.")),
        },
    }
}

/// Returns whether the page is shown at this path. A browser gets the page at an unknown path as well, and the page says
/// that there is nothing; a program gets a 404.
fn is_page_path(path: &str, headers: &HeaderMap) -> bool {
    let mut segments = path.trim_start_matches('/').split('/');
    let first = segments.next().unwrap_or_default();
    match first {
        "" | "c" | "agents" | "usage" | "settings" => true,
        "api" | "assets" => false,
        _ => {
            let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
            let last = segments.next_back().unwrap_or(first);
            accept.is_some_and(|accept| accept.contains("text/html")) && !last.contains('.')
        }
    }
}

fn asset_response(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let contains = |name: HeaderName, wanted: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(wanted))
    };
    let cache_control =
        if asset.path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = if contains(header::IF_NONE_MATCH, asset.etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        match asset.gzip {
            Some(gzip) if contains(header::ACCEPT_ENCODING, "gzip") => {
                ([(header::CONTENT_ENCODING, "gzip")], gzip).into_response()
            }
            _ => asset.bytes.into_response(),
        }
    };
    let fixed = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::ETAG, asset.etag),
        (header::CACHE_CONTROL, cache_control),
        (header::VARY, "accept-encoding"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Redirects to the same path without the token in the address.
fn signed_in(cookie: Option<HeaderValue>, path: &str, headers: &HeaderMap) -> Response {
    // Two slashes at the beginning would lead to another host.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let mut response = Redirect::to(&path).into_response();
    for cookie in cookie.into_iter().chain(sign_in::clear_former_cookie(headers)) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn signed_out(headers: &HeaderMap) -> Response {
    let mut response = with_security_headers(
        (StatusCode::UNAUTHORIZED, Html(include_str!("web_ui/signed-out.html"))).into_response(),
    );
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = sign_in::clear_former_cookie(headers) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns a page that reloads the same address, this time as a request from this server's own page.
fn reload_page() -> Response {
    const PAGE: &str = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0\">\
        <title>Concertino</title>";
    let mut response = with_security_headers(Html(PAGE).into_response());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn with_security_headers(mut response: Response) -> Response {
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
