//! `/frame`: the document in which the page shows what a model generated. It has no origin, runs one script of ours and
//! nothing else, and cannot make a request.

use std::sync::LazyLock;

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use sha2::{Digest, Sha256};

pub(super) const PATH: &str = "/frame";

const SCRIPT: &str = include_str!("frame.js");

static PAGE: LazyLock<String> = LazyLock::new(|| {
    format!("<!doctype html><meta charset=\"utf-8\"><title>Preview</title><body><script>{SCRIPT}</script>")
});

static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let policy = format!(
        "sandbox allow-scripts; default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; \
         font-src data:; media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        base64(&Sha256::digest(SCRIPT))
    );
    HeaderValue::from_str(&policy).ok()
});

pub(super) fn page() -> Response {
    // Without its policy the document would be one more page of ours.
    let Some(policy) = POLICY.clone() else { return axum::http::StatusCode::NOT_FOUND.into_response() };
    let mut response = Html(PAGE.as_str()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            if place <= three.len() {
                text.push(char::from(SIGNS[(bits >> (18 - 6 * place) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_what_others_write() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }
}
