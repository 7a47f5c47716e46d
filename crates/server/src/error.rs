//! Errors as responses: problem JSON under `/api`, one plain sentence on the chat routes (stock clients show the body as
//! it is). The cause of a 5xx error is logged here once and never sent.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::EngineError;
use protocol::{
    ErrorCode,
    wire::{
        agents::{AgentInfo, FieldProblem},
        rest::Problem,
    },
};

use crate::events;

/// A refused or failed request: the code decides the status, the message is what a person reads.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    code: ErrorCode,
    message: String,
    problems: Vec<FieldProblem>,
    current: Option<Box<AgentInfo>>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new(), current: None }
    }

    pub(crate) fn with_problems(self, problems: Vec<FieldProblem>) -> Self {
        Self { problems, ..self }
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidMessage, message)
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let code = error.code();
        if code.status() >= 500 {
            tracing::error!(error = &error as &dyn std::error::Error, "a request failed");
        }
        let message = if code == ErrorCode::Internal {
            "An internal error happened and was logged. Try again.".to_owned()
        } else {
            error.to_string()
        };
        let (problems, current) = match error {
            EngineError::InvalidAgent(problems)
            | EngineError::InvalidRule(problems)
            | EngineError::InvalidAnswer(problems) => (problems, None),
            EngineError::AgentChanged(current) => (Vec::new(), Some(current)),
            _ => (Vec::new(), None),
        };
        Self { code, message, problems, current }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let problem = Problem {
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: self.message.clone(),
            code: self.code,
            problems: self.problems.clone(),
            current: self.current.clone(),
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        headers.insert("x-error-code", HeaderValue::from_static(self.code.as_str()));
        if self.code == ErrorCode::ServerBusy {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        if self.code == ErrorCode::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Seconds after which a client may try a busy server again.
pub(crate) const RETRY_AFTER: &str = "2";

const PROBLEM: &str = "application/problem+json";

/// Completes every response under `/api`: refusals of the framework get an error code, errors of chat routes become plain
/// text unless the client accepts problem JSON, and nothing may be cached or sniffed.
pub(crate) async fn finish_api_response(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_chat = path == "/api/chat" || path.starts_with("/api/chat/");
    let plain = is_chat && !accepts_problem(request.headers());
    let is_events = events::is_events_path(path);
    let is_api = path == "/api" || path.starts_with("/api/");
    let mut response = next.run(request).await;
    if is_api && response.status().is_client_error() && response.extensions().get::<ApiError>().is_none() {
        // A refusal of axum itself: a path that is not UTF-8, or a query with a field twice.
        response = ApiError::invalid("The address is not valid: it must be UTF-8 and have no field twice.")
            .into_response();
    }
    if plain && let Some(error) = response.extensions().get::<ApiError>() {
        let text = error.message.clone();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(text);
    }
    if is_events && let Some(error) = response.extensions().get::<ApiError>().cloned() {
        response = events::rewrite(response, error);
    }
    if is_api || is_events {
        set_private(response.headers_mut());
    }
    response
}

/// Forbids caching and content sniffing. Streams and files have their own rule for caches.
fn set_private(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

fn accepts_problem(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|a| a.contains(PROBLEM))
}
