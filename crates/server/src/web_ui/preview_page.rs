//! `/frame`: the sandboxed document in which the web interface shows HTML and SVG that a model wrote (ADR 14). It has no
//! origin, runs only our own script and cannot make requests.

use std::sync::LazyLock;

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

pub(super) const PATH: &str = "/frame";

const SCRIPT: &str = include_str!("preview.js");

static PAGE: LazyLock<String> = LazyLock::new(|| {
    format!("<!doctype html><meta charset=\"utf-8\"><title>Preview</title><body><script>{SCRIPT}</script>")
});

static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let policy = format!(
        "sandbox allow-scripts; default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; \
         font-src data:; media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        BASE64_STANDARD.encode(Sha256::digest(SCRIPT))
    );
    HeaderValue::from_str(&policy).ok()
});

pub(super) fn page() -> Response {
    // Without its policy the document would have the rights of our own pages.
    let Some(policy) = POLICY.clone() else { return axum::http::StatusCode::NOT_FOUND.into_response() };
    let mut response = Html(PAGE.as_str()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
