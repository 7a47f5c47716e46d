//! A model server over real HTTP. The name of the requested model decides what it does: for tests of model choice,
//! fallback, timeouts and closed connections.
//!
//! | model | what it does |
//! |---|---|
//! | `stall` | sends one word, then nothing until the client closes the connection |
//! | `key` | 401 |
//! | `down` | 503 |
//! | `nowhere` | 404, as for an unknown model |
//! | `busy` | 429 to two of every three calls, in no regular order |
//! | any other | sends "this is" and its name |

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::{Stream, StreamExt, stream};
use models::{Catalog, CatalogSettings, demo, registry::Registry};
use serde_json::{Value, json};
use server::{Limits, Resources};
use test_support::Rng;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

pub struct ModelServer {
    address: SocketAddr,
    counters: Arc<Counters>,
    _server: JoinSet<()>,
}

struct Counters {
    calls: AtomicUsize,
    refused: AtomicUsize,
    /// When a client last closed the connection of an unfinished response.
    hung_up: watch::Sender<Option<Instant>>,
}

impl ModelServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counters = Arc::new(Counters {
            calls: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            hung_up: watch::Sender::new(None),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route(
                "/v1/models",
                get(|| async { Json(json!({ "data": [{ "id": "first" }, { "id": "second" }] })) }),
            )
            .with_state(Arc::clone(&counters));
        let mut server = JoinSet::new();
        server.spawn(async move {
            server::serve(listener, router, Resources::new(Limits::default()), std::future::pending()).await
        });
        Self { address, counters, _server: server }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn calls(&self) -> usize {
        self.counters.calls.load(Ordering::Relaxed)
    }

    /// How many calls got a 429.
    pub fn refused(&self) -> usize {
        self.counters.refused.load(Ordering::Relaxed)
    }

    /// Waits until a client has closed the connection of an unfinished response after this moment; returns when.
    pub async fn hung_up(&self, after: Instant) -> Instant {
        let mut hung_up = self.counters.hung_up.subscribe();
        hung_up.wait_for(|at| at.is_some_and(|at| at > after)).await.unwrap().unwrap()
    }

    /// A catalog whose provider `custom` is this server, with `chosen` as the default and these to fall back to.
    pub fn catalog(&self, chosen: &str, fallback: &[&str]) -> Catalog {
        catalog(&self.base_url(), chosen, fallback)
    }
}

/// How often a stalled response sends a comment.
const COMMENT_INTERVAL: Duration = Duration::from_millis(5);

/// A catalog whose provider `custom` is at this address and is called twice at most.
pub fn catalog(base_url: &str, chosen: &str, fallback: &[&str]) -> Catalog {
    let mut registry = Registry::builtin().unwrap();
    registry
        .add("test.json", r#"{"id":"custom","label":"The test's server","limits":{"attempts":1}}"#)
        .unwrap();
    let variable = |name: &str| match name {
        "CONCERTINO_CUSTOM_BASE_URL" => Some(base_url.to_owned()),
        "CONCERTINO_CUSTOM_API_KEY" => Some("not-a-key-5b1".to_owned()),
        _ => None,
    };
    Catalog::new(CatalogSettings {
        registry: &registry,
        variable: &variable,
        chosen: Some(chosen),
        fallback: fallback.iter().map(|name| (*name).to_owned()).collect(),
        last_resort: Arc::new(demo::Demo::new(demo::Pace::default())),
    })
    .unwrap()
}

async fn complete(State(counters): State<Arc<Counters>>, Json(body): Json<Value>) -> Response {
    let number = counters.calls.fetch_add(1, Ordering::Relaxed);
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    match model.as_str() {
        "key" => refuse(401, "Incorrect API key provided: not-a-key-5b1"),
        "down" => refuse(503, "the service is overloaded"),
        "nowhere" => refuse(404, "The model `nowhere` does not exist"),
        // One call of three is answered, at no regular place.
        "busy" if Rng::new(number as u64 / 3).below(3) != number % 3 => {
            counters.refused.fetch_add(1, Ordering::Relaxed);
            refuse(429, "Rate limit reached")
        }
        "stall" => {
            let hang_up = HangUp(Arc::clone(&counters));
            let word = stream::iter([Ok::<_, std::io::Error>(Bytes::from(delta("One")))]);
            // Comments, as real servers send them: a failed write shows that the client has gone.
            answer(word.chain(stream::unfold(hang_up, |hang_up| async move {
                tokio::time::sleep(COMMENT_INTERVAL).await;
                Some((Ok(Bytes::from_static(b": working\n\n")), hang_up))
            })))
        }
        name => {
            let text = format!("{}{}", delta(&format!("this is {name}")), END);
            answer(stream::iter([Ok::<_, std::io::Error>(Bytes::from(text))]))
        }
    }
}

/// Dropped with the response body, which is when its connection was closed.
struct HangUp(Arc<Counters>);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.hung_up.send_replace(Some(Instant::now()));
    }
}

const END: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn delta(text: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
}

fn answer(body: impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

fn refuse(status: u16, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, Json(json!({ "error": { "message": message } }))).into_response()
}
