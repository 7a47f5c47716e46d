//! Sends requests to the router in this process, with a token when authentication is on.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{HeaderName, HeaderValue, Method, Request, header},
    response::Response,
};
use serde_json::Value;
use tower::ServiceExt;

use crate::{Chat, HttpResponse};

#[derive(Clone)]
pub struct Caller {
    router: Router,
    token: Option<Arc<str>>,
}

impl Caller {
    pub(crate) fn new(router: Router, token: Option<&str>) -> Self {
        Self { router, token: token.map(Arc::from) }
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Opens a new tab on this chat. It has received nothing yet.
    pub fn chat(&self, id: &str) -> Chat {
        Chat::new(self.clone(), id)
    }

    /// Sends with `Host: localhost` and the caller's token, unless the request has its own.
    pub async fn open(&self, mut request: Request<Body>) -> Response {
        let headers = request.headers_mut();
        headers.entry(header::HOST).or_insert(HeaderValue::from_static("localhost"));
        if let Some(token) = &self.token {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
            headers.entry(header::AUTHORIZATION).or_insert(bearer);
        }
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn call(&self, request: Request<Body>) -> HttpResponse {
        HttpResponse::of(self.open(request).await).await
    }

    /// Any request, with these headers.
    pub async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> HttpResponse {
        self.call(request(method, path, headers, body)).await
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        self.request("GET", path, &[], Body::empty()).await
    }

    pub async fn delete(&self, path: &str) -> HttpResponse {
        self.request("DELETE", path, &[], Body::empty()).await
    }

    pub async fn post_json(&self, path: &str, body: &Value) -> HttpResponse {
        self.request("POST", path, &[JSON], body.to_string()).await
    }

    pub async fn patch_json(&self, path: &str, body: &Value) -> HttpResponse {
        self.request("PATCH", path, &[JSON], body.to_string()).await
    }

    pub async fn put_json(&self, path: &str, body: &Value) -> HttpResponse {
        self.request("PUT", path, &[JSON], body.to_string()).await
    }

    /// `POST /api/chat` with exactly this body and these headers.
    pub async fn post_raw(&self, body: impl Into<Body>, headers: &[(&str, &str)]) -> HttpResponse {
        self.request("POST", "/api/chat", headers, body).await
    }

    /// The ids of all sessions, newest first.
    pub async fn session_ids(&self) -> Vec<String> {
        let list = self.get("/api/sessions?limit=200").await.json();
        let sessions = list["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

pub(crate) fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request<Body> {
    let mut request = Request::new(body.into());
    *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
    *request.uri_mut() = path.parse().unwrap();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request
}
