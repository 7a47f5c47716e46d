//! `/`: a page that says the server runs and how to talk to it, until the web interface lands; and the sign-in
//! link: `/?token=…` sets a cookie and leads back without the token in the address.

use axum::{
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use serde::Deserialize;

use crate::{
    auth::{self, COOKIE},
    error::ApiError,
    state::ServerState,
};

#[derive(Deserialize)]
pub(crate) struct SignIn {
    token: Option<String>,
}

pub(crate) async fn page(
    State(state): State<ServerState>,
    Query(sign_in): Query<SignIn>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if let Some(token) = sign_in.token {
        return Ok(match auth::by_token(&state, &token).await? {
            Some(_) => signed_in(&token),
            None => with_policy((StatusCode::UNAUTHORIZED, Html(signed_out())).into_response()),
        });
    }
    let response = match auth::principal(&state, &headers).await? {
        Some(_) => Html(welcome(&state, &headers)).into_response(),
        None => (StatusCode::UNAUTHORIZED, Html(signed_out())).into_response(),
    };
    Ok(with_policy(response))
}

pub(crate) async fn style() -> Response {
    let mut response = include_str!("landing/landing.css").into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"));
    response
}

fn signed_in(token: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000");
    let mut response = Redirect::to("/").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn welcome(state: &ServerState, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let tools: String = state
        .engine
        .tool_specs()
        .iter()
        .map(|tool| {
            let first = tool.description.split_inclusive(['.', ':']).next().unwrap_or_default();
            format!("<li><code>{}</code> {}</li>", escape(&tool.name), escape(first))
        })
        .collect();
    include_str!("landing/welcome.html")
        .replace("{{host}}", &escape(host))
        .replace("{{model}}", &escape(&state.engine.model_name()))
        .replace("{{tools}}", &tools)
}

fn signed_out() -> String {
    include_str!("landing/signed-out.html").to_owned()
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
