//! A model server that follows a script in the user's message: chat completions over real HTTP, for tests that need the
//! whole binary.
//!
//! The [`Script`] is part of the user's text, so one server serves any number of chats at once and stores only counts and
//! records for the test. The next step follows from the request alone: the first step whose calls do not all have a
//! result yet. The same request gets the same answer.

mod engine_requests;
mod reply;
mod request;
mod script;

pub use script::{Act, Script};

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use server::{Limits, Resources};
use tokio::{net::TcpListener, task::JoinSet};

use request::Asked;

/// A model server on a loopback port; it stops when it is dropped.
pub struct Upstream {
    address: SocketAddr,
    records: Arc<Records>,
    _server: JoinSet<()>,
}

/// What the server records, over all calls.
#[derive(Default)]
struct Records {
    calls: AtomicUsize,
    /// How many images all requests contained.
    images: AtomicUsize,
    /// Every text that a request contained as the result of a call; more than one means that a result changed.
    results: Mutex<BTreeMap<String, BTreeSet<String>>>,
    /// How often a step was started, for acts that fail only the first few times.
    attempts: Mutex<HashMap<(String, usize), u32>>,
    /// Records nothing of a call: for tests so long that the records would fill the memory. Acts that fail only the
    /// first few times then always fail.
    forgetful: bool,
    /// The body of every call, for tests that compare bytes.
    bodies: Option<Mutex<Vec<String>>>,
    /// The size of the context window in tokens. When it is set, tokens are counted and longer requests refused.
    window: Option<u64>,
    /// How requests for a summary are answered.
    summaries: Mutex<Summaries>,
}

/// How requests for a summary are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summaries {
    #[default]
    Written,
    /// The server returns an error.
    Failing,
    /// Nothing is sent until the client closes the connection.
    Stalling,
}

impl Upstream {
    pub async fn start() -> Self {
        Self::with(Records::default()).await
    }

    /// Starts a server that records nothing, however long it runs.
    pub async fn forgetful() -> Self {
        Self::with(Records { forgetful: true, ..Records::default() }).await
    }

    /// Starts a server that records the body of every call.
    pub async fn recording() -> Self {
        Self::with(Records { bodies: Some(Mutex::default()), ..Records::default() }).await
    }

    /// Starts a server that counts the tokens of each request, refuses those above `window`, and records every body.
    pub async fn counting(window: u64) -> Self {
        Self::with(Records { bodies: Some(Mutex::default()), window: Some(window), ..Records::default() })
            .await
    }

    /// Sets how requests for a summary are answered from now on.
    pub fn summaries(&self, summaries: Summaries) {
        *self.records.summaries.lock() = summaries;
    }

    async fn with(records: Records) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let records = Arc::new(records);
        let router =
            Router::new().route("/v1/chat/completions", post(complete)).with_state(Arc::clone(&records));
        let mut server = JoinSet::new();
        server.spawn(async move {
            server::serve(listener, router, Resources::new(Limits::default()), std::future::pending()).await
        });
        Self { address, records, _server: server }
    }

    /// The value for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all calls so far, oldest first; empty unless the server records them.
    pub fn bodies(&self) -> Vec<String> {
        self.records.bodies.as_ref().map(|bodies| bodies.lock().clone()).unwrap_or_default()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many calls it received.
    pub fn calls(&self) -> usize {
        self.records.calls.load(Ordering::Relaxed)
    }

    /// How many images all calls contained.
    pub fn images(&self) -> usize {
        self.records.images.load(Ordering::Relaxed)
    }

    /// Every text that was sent as the result of each tool call, by the id of the call.
    pub fn results(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.records.results.lock().clone()
    }
}

impl Records {
    /// How often this step was started before.
    fn attempt(&self, script: &str, step: usize) -> u32 {
        if self.forgetful {
            return 0;
        }
        let mut attempts = self.attempts.lock();
        let attempt = attempts.entry((script.to_owned(), step)).or_default();
        *attempt += 1;
        *attempt - 1
    }

    fn add_results(&self, results: Vec<(String, String)>) {
        if self.forgetful {
            return;
        }
        let mut all = self.results.lock();
        for (call, text) in results {
            all.entry(call).or_default().insert(text);
        }
    }
}

async fn complete(State(records): State<Arc<Records>>, body: String) -> Response {
    records.calls.fetch_add(1, Ordering::Relaxed);
    let json: Value = match serde_json::from_str(&body) {
        Ok(json) => json,
        Err(wrong) => return refuse(400, &wrong.to_string()),
    };
    records.images.fetch_add(request::images(&json), Ordering::Relaxed);
    let read = records.window.map_or(reply::READ, |_| engine_requests::tokens(&json));
    if let Some(bodies) = &records.bodies {
        bodies.lock().push(body);
    }
    if let Some(window) = records.window.filter(|window| read > *window) {
        let said = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {read} tokens."
        );
        return refuse(400, &said);
    }
    if let Some(text) = engine_requests::answer(&json) {
        return match *records.summaries.lock() {
            Summaries::Written => play(&[Act::Text { text }], read),
            Summaries::Failing => refuse(500, "no summaries today"),
            Summaries::Stalling => play(&[Act::Stall { ms: 600_000 }], read),
        };
    }
    let asked = match Asked::read(&json) {
        Ok(asked) => asked,
        Err(wrong) => return refuse(400, &wrong),
    };
    let attempt = records.attempt(&asked.text, asked.step);
    records.add_results(asked.results);
    let fallback = [Act::Text { text: "There is nothing left to do.".to_owned() }];
    let acts = asked.script.steps.get(asked.step).map_or(fallback.as_slice(), Vec::as_slice);
    let failure = acts.iter().find_map(|act| match act {
        Act::Fail { status, first } if attempt < *first => Some(*status),
        _ => None,
    });
    match failure {
        Some(status) => refuse(status, "the script says so"),
        None => {
            let Script { pace_ms, piece, .. } = asked.script;
            stream(reply::pieces(acts, pace_ms, piece, asked.calls, attempt, read))
        }
    }
}

fn play(acts: &[Act], read: u64) -> Response {
    stream(reply::pieces(acts, 0, 4_096, 0, 0, read))
}

fn stream(pieces: Vec<reply::Piece>) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    (headers, Body::from_stream(reply::play(pieces))).into_response()
}

fn refuse(status: u16, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(json!({ "error": { "message": message } }))).into_response()
}
