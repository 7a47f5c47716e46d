//! Which names and which pages may talk to this server: the defence against DNS rebinding and foreign sites.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use protocol::ErrorCode;

use crate::{
    error::ApiError,
    state::{ServerSettings, ServerState},
};

pub(crate) async fn guard(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let Some(host) = host(request.headers(), request.uri()) else {
        return refuse("This server must be called by a name it knows: the Host header is missing.");
    };
    if !host_is_known(&state.settings, &host) {
        return refuse(
            "This server does not know the name it was called by. Use localhost, or name the host in CONCERTINO_ALLOWED_HOSTS.",
        );
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let foreign = match origin.as_ref().map(|origin| origin_kind(&state.settings, origin, &host)) {
        Some(OriginKind::Unknown) => {
            return refuse(
                "Pages of this origin may not call this server. Name the origin in CONCERTINO_ALLOWED_ORIGINS.",
            );
        }
        Some(OriginKind::Listed) => origin,
        Some(OriginKind::Own) | None => None,
    };
    if request.method() == Method::OPTIONS {
        return with_cors(StatusCode::NO_CONTENT.into_response(), foreign);
    }
    with_cors(next.run(request).await, foreign)
}

fn refuse(message: &str) -> Response {
    ApiError::new(ErrorCode::ForbiddenOrigin, message).into_response()
}

fn host(headers: &HeaderMap, uri: &Uri) -> Option<Authority> {
    match headers.get(header::HOST) {
        Some(host) => host.to_str().ok()?.parse().ok(),
        None => uri.authority().cloned(),
    }
}

fn host_is_known(settings: &ServerSettings, host: &Authority) -> bool {
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        || settings.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
}

enum OriginKind {
    Own,
    Listed,
    Unknown,
}

fn origin_kind(settings: &ServerSettings, origin: &HeaderValue, host: &Authority) -> OriginKind {
    let Ok(origin) = origin.to_str() else { return OriginKind::Unknown };
    let own = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"))
        .is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()));
    if own {
        OriginKind::Own
    } else if settings.origins.iter().any(|listed| listed.eq_ignore_ascii_case(origin)) {
        OriginKind::Listed
    } else {
        OriginKind::Unknown
    }
}

/// Answers of the API are for the caller alone: kept nowhere and never taken for a page. A stream and a file have their
/// own rule for caches.
pub(crate) fn keep_private(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

fn with_cors(mut response: Response, origin: Option<HeaderValue>) -> Response {
    let Some(origin) = origin else { return response };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, last-event-id"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS"),
    );
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("link, x-error-code"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
