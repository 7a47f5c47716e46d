//! A model server that does what the user's message says: chat completions over real HTTP, for tests that need the
//! whole binary.
//!
//! The [`Script`] travels in the user's text, so one server serves any number of chats at once and keeps nothing
//! between two calls but what it needs to tell on itself. Which step comes next follows from the request alone:
//! the first step whose calls do not all have a result yet. The same request gets the same answer.

mod aside;
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

/// A model server on a loopback port; ends with its owner.
pub struct Upstream {
    address: SocketAddr,
    book: Arc<Book>,
    _server: JoinSet<()>,
}

/// What the server was asked and told, over all calls.
#[derive(Default)]
struct Book {
    calls: AtomicUsize,
    /// How many images all requests together showed.
    images: AtomicUsize,
    /// Every text that was ever given as the result of a call; more than one means that a result changed.
    results: Mutex<BTreeMap<String, BTreeSet<String>>>,
    /// How often a step was begun, for what goes wrong only the first few times.
    attempts: Mutex<HashMap<(String, usize), u32>>,
    /// Keeps nothing of a call: for tests so long that what is kept would fill the memory. What goes wrong only the
    /// first few times then always does.
    forgetful: bool,
    /// The body of every call, for tests that look at bytes.
    bodies: Option<Mutex<Vec<String>>>,
    /// How many tokens it can read; then it counts them, and refuses what is longer.
    window: Option<u64>,
    /// What becomes of requests for a summary.
    summaries: Mutex<Summaries>,
}

/// What becomes of a request for a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summaries {
    #[default]
    Written,
    /// The server fails.
    Failing,
    /// Nothing comes until the client goes away.
    Stalling,
}

impl Upstream {
    pub async fn start() -> Self {
        Self::with(Book::default()).await
    }

    /// One that keeps nothing, however long it runs.
    pub async fn forgetful() -> Self {
        Self::with(Book { forgetful: true, ..Book::default() }).await
    }

    /// One that keeps the body of every call.
    pub async fn recording() -> Self {
        Self::with(Book { bodies: Some(Mutex::default()), ..Book::default() }).await
    }

    /// One that counts the tokens of each request, refuses those above `window`, and keeps the body of every call.
    pub async fn counting(window: u64) -> Self {
        Self::with(Book { bodies: Some(Mutex::default()), window: Some(window), ..Book::default() }).await
    }

    /// From now on this becomes of requests for a summary.
    pub fn summaries(&self, summaries: Summaries) {
        *self.book.summaries.lock() = summaries;
    }

    async fn with(book: Book) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Arc::new(book);
        let router =
            Router::new().route("/v1/chat/completions", post(complete)).with_state(Arc::clone(&book));
        let mut server = JoinSet::new();
        server.spawn(async move {
            server::serve(listener, router, Resources::new(Limits::default()), std::future::pending()).await
        });
        Self { address, book, _server: server }
    }

    /// What goes into `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all calls so far, oldest first; only of one that records.
    pub fn bodies(&self) -> Vec<String> {
        self.book.bodies.as_ref().map(|bodies| bodies.lock().clone()).unwrap_or_default()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many calls it got.
    pub fn calls(&self) -> usize {
        self.book.calls.load(Ordering::Relaxed)
    }

    /// How many images it was shown, over all calls.
    pub fn images(&self) -> usize {
        self.book.images.load(Ordering::Relaxed)
    }

    /// Every text that was given as the result of each call, by the id of the call.
    pub fn results(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.book.results.lock().clone()
    }
}

impl Book {
    /// How often this step was begun before.
    fn attempt(&self, script: &str, step: usize) -> u32 {
        if self.forgetful {
            return 0;
        }
        let mut attempts = self.attempts.lock();
        let attempt = attempts.entry((script.to_owned(), step)).or_default();
        *attempt += 1;
        *attempt - 1
    }

    fn remember(&self, results: Vec<(String, String)>) {
        if self.forgetful {
            return;
        }
        let mut all = self.results.lock();
        for (call, text) in results {
            all.entry(call).or_default().insert(text);
        }
    }
}

async fn complete(State(book): State<Arc<Book>>, body: String) -> Response {
    book.calls.fetch_add(1, Ordering::Relaxed);
    let json: Value = match serde_json::from_str(&body) {
        Ok(json) => json,
        Err(wrong) => return refuse(400, &wrong.to_string()),
    };
    book.images.fetch_add(request::images(&json), Ordering::Relaxed);
    let read = book.window.map_or(reply::READ, |_| aside::tokens(&json));
    if let Some(bodies) = &book.bodies {
        bodies.lock().push(body);
    }
    if let Some(window) = book.window.filter(|window| read > *window) {
        let said = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {read} tokens."
        );
        return refuse(400, &said);
    }
    if let Some(text) = aside::answer(&json) {
        return match *book.summaries.lock() {
            Summaries::Written => play(&[Act::Text { text }], read),
            Summaries::Failing => refuse(500, "no summaries today"),
            Summaries::Stalling => play(&[Act::Stall { ms: 600_000 }], read),
        };
    }
    let asked = match Asked::read(&json) {
        Ok(asked) => asked,
        Err(wrong) => return refuse(400, &wrong),
    };
    let attempt = book.attempt(&asked.text, asked.step);
    book.remember(asked.results);
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
