//! A client that measures the time of each request.

use std::time::{Duration, Instant};

use reqwest::{Client, Response};
use serde_json::{Value, json};
use testkit::upstream::{Act, Script};

pub struct Timed {
    client: Client,
    url: String,
}

impl Timed {
    pub fn new(url: &str) -> Self {
        models::install_tls();
        let client = Client::builder().no_proxy().tls_certs_only([]).tcp_nodelay(true).build().unwrap();
        Self { client, url: url.to_owned() }
    }

    pub async fn get(&self, path: &str) -> (Duration, Value) {
        let began = Instant::now();
        let answer = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let bytes = answer.bytes().await.unwrap();
        (began.elapsed(), serde_json::from_slice(&bytes).unwrap())
    }

    pub async fn post(&self, path: &str, body: &Value) -> (Duration, Value) {
        let began = Instant::now();
        let answer = self.open(path, body).await;
        let bytes = answer.bytes().await.unwrap();
        (began.elapsed(), serde_json::from_slice(&bytes).unwrap())
    }

    pub async fn open(&self, path: &str, body: &Value) -> Response {
        let request = self.client.post(format!("{}{path}", self.url));
        let request = request.header("content-type", "application/json").body(body.to_string());
        let response = request.send().await.unwrap();
        let status = response.status();
        assert_eq!(status, 200, "{path}: {:?}", response.text().await);
        response
    }

    /// Sends and reads to the end; returns the time to the first chunk.
    pub async fn chat(&self, body: &Value) -> Duration {
        let began = Instant::now();
        let mut stream = Stream::of(self.open("/api/chat", body).await);
        stream.until("\"type\":\"start\"").await;
        let first = began.elapsed();
        stream.end().await;
        first
    }
}

/// A stream that is searched, not parsed.
pub struct Stream {
    response: Response,
    read: Vec<u8>,
    pub bytes: usize,
}

impl Stream {
    pub fn of(response: Response) -> Self {
        Self { response, read: Vec::new(), bytes: 0 }
    }

    pub async fn until(&mut self, text: &str) {
        while !self.read.windows(text.len()).any(|window| window == text.as_bytes()) {
            let piece = self.response.chunk().await.unwrap();
            let piece =
                piece.unwrap_or_else(|| panic!("{text} never came: {}", String::from_utf8_lossy(&self.read)));
            self.bytes += piece.len();
            self.read.extend_from_slice(&piece);
        }
    }

    /// Reads on until one of these has come; returns which.
    pub async fn either<'a>(&mut self, one: &'a str, other: &'a str) -> &'a str {
        loop {
            let said = String::from_utf8_lossy(&self.read);
            if let Some(found) = [one, other].into_iter().find(|text| said.contains(*text)) {
                return found;
            }
            let piece = self.response.chunk().await.unwrap();
            let piece =
                piece.unwrap_or_else(|| panic!("neither came: {}", String::from_utf8_lossy(&self.read)));
            self.bytes += piece.len();
            self.read.extend_from_slice(&piece);
        }
    }

    /// Reads to the end and returns how much it was; the end must be a proper one.
    pub async fn end(mut self) -> usize {
        while let Some(piece) = self.response.chunk().await.unwrap() {
            self.bytes += piece.len();
            self.read.extend_from_slice(&piece);
            let excess = self.read.len().saturating_sub(4096);
            self.read.drain(..excess);
        }
        let tail = String::from_utf8_lossy(&self.read);
        assert!(tail.contains("\"type\":\"finish\"") || tail.contains("\"type\":\"abort\""), "{tail}");
        assert!(tail.ends_with("data: [DONE]\n\n"), "{tail}");
        self.bytes
    }
}

/// A user's message that makes the model do this.
pub fn user(id: &str, acts: Vec<Act>) -> Value {
    let text = Script { pace_ms: 0, piece: 200, steps: vec![acts] }.text();
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

pub fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
