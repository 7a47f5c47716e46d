//! An HTTP response that was read to its end, and checks of error responses.

use axum::{body::to_bytes, http::HeaderMap, response::Response};
use protocol::{ErrorCode, wire::rest::Problem};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl HttpResponse {
    /// Reads a response to its end.
    pub async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8(bytes.to_vec()).unwrap();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Checks an error of a chat route: one plain sentence, which stock clients print, and the code in a header.
    #[track_caller]
    pub fn assert_sentence(&self, code: ErrorCode) {
        self.assert_code(code);
        assert_eq!(self.header("content-type"), "text/plain; charset=utf-8", "{self:?}");
        assert_is_sentence(&self.body);
    }

    /// Checks an error of any other route: problem JSON, and the code in a header.
    #[track_caller]
    pub fn assert_problem(&self, code: ErrorCode) {
        self.assert_code(code);
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem: Problem = serde_json::from_str(&self.body).unwrap();
        assert_eq!((problem.status, problem.code), (code.status(), code), "{self:?}");
        assert_is_sentence(&problem.detail);
    }

    #[track_caller]
    fn assert_code(&self, code: ErrorCode) {
        assert_eq!((self.status, self.header("x-error-code")), (code.status(), code.as_str()), "{self:?}");
    }
}

#[track_caller]
pub fn assert_is_sentence(text: &str) {
    assert!(text.len() < 500 && !text.contains('\n'), "longer than two sentences: {text}");
    assert!(text.starts_with(char::is_alphabetic), "{text}");
    assert!(text.ends_with(['.', '?', '!']), "{text}");
    assert!(!text.contains("src/") && !text.contains("panicked"), "internal details: {text}");
}
