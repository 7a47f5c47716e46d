//! Refusals on the events surface: `{success: false, errorCode, message, error}` with an HTTP status.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::EngineError;
use protocol::{ErrorCode, MainAgent};
use serde_json::{Value, json};

use crate::error::ApiError;

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    agents: Option<Vec<MainAgent>>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), agents: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_message", message)
    }

    pub(super) fn session_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "session_not_found", "There is no such session.")
    }

    pub(super) fn with_agents(mut self, agents: Vec<MainAgent>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// The body, which is also the answer to a switch that was refused.
    pub(super) fn body(&self) -> Value {
        let mut body = json!({
            "success": false, "errorCode": self.code, "message": self.message, "error": self.message,
        });
        if let Some(agents) = &self.agents {
            body["availableAgents"] = json!(agents);
        }
        body
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        let code = error.code();
        let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(status, name(code), error.message())
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Busy => Self::new(
                StatusCode::CONFLICT,
                ErrorCode::SessionBusy.as_str(),
                "This session is at work. Wait for its complete event, or send abort first.",
            ),
            error => ApiError::from(error).into(),
        }
    }
}

/// The code as clients of this surface know it.
fn name(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ForbiddenOrigin => "origin_forbidden",
        ErrorCode::ApprovalNotFound => "interaction_not_found",
        ErrorCode::ApprovalSettled => "interaction_resolved",
        code => code.as_str(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Whether a path belongs to this surface. `/health` has its own form.
pub(crate) fn is_events_path(path: &str) -> bool {
    ["/events", "/message", "/session", "/context"]
        .iter()
        .any(|own| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Gives an error that was made before the request reached this surface the form of this surface.
pub(crate) fn rewrite(mut response: Response, error: ApiError) -> Response {
    let refusal = Refusal::from(error);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(serde_json::to_vec(&refusal.body()).unwrap_or_default());
    response
}
