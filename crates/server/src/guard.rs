//! Checks the Host and Origin headers, against DNS rebinding and foreign web pages, and adds the CORS headers for listed
//! origins.

use std::{sync::LazyLock, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use protocol::ErrorCode;
use tower::{Layer, ServiceExt};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::{
    error::ApiError,
    state::{ServerSettings, ServerState},
};

/// What browsers are told about listed origins. Without credentials: such a page calls with a token, never with the
/// cookie of this browser.
static CORS: LazyLock<CorsLayer> = LazyLock::new(|| {
    CorsLayer::new()
        // `guard` lets only listed origins pass.
        .allow_origin(AllowOrigin::mirror_request())
        .allow_methods([
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
            Method::OPTIONS,
        ])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("last-event-id"),
        ])
        .expose_headers([header::LINK, HeaderName::from_static("x-error-code")])
        .max_age(Duration::from_secs(600))
        .vary([header::ORIGIN])
});

pub(crate) async fn guard(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let Some(host) = host(request.headers(), request.uri()) else {
        return refuse(
            "The Host header is missing or not valid. Call this server by a host name that it knows.",
        );
    };
    if !host_is_known(&state.settings, &host) {
        return refuse(
            "This server does not know the host name of this request. Use localhost, or add the name to \
             CONCERTINO_ALLOWED_HOSTS.",
        );
    }
    let origin = request.headers().get(header::ORIGIN);
    match origin.map(|origin| origin_kind(&state.settings, origin, &host)) {
        Some(OriginKind::Unknown) => refuse(
            "Pages of this origin may not call this server. Add the origin to CONCERTINO_ALLOWED_ORIGINS.",
        ),
        Some(OriginKind::Listed) => answer_listed_origin(request, next).await,
        Some(OriginKind::Own) | None if request.method() == Method::OPTIONS => {
            StatusCode::NO_CONTENT.into_response()
        }
        Some(OriginKind::Own) | None => next.run(request).await,
    }
}

/// Answers a page of a listed origin, with CORS headers. A preflight is answered here and reaches no route.
async fn answer_listed_origin(request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS;
    let response = CORS.layer(next).oneshot(request).await;
    let mut response = response.unwrap_or_else(|never| match never {});
    if is_preflight {
        *response.status_mut() = StatusCode::NO_CONTENT;
        // Browsers need it with the real answer only, but preflights of this server always had it.
        let exposed = HeaderValue::from_static("link, x-error-code");
        response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
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
    /// A page of this server.
    Own,
    /// An origin of `CONCERTINO_ALLOWED_ORIGINS`.
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
