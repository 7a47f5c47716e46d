//! A model server over real HTTP that does what the name of the model says: for tests of choosing, falling back,
//! waiting and hanging up.
//!
//! | model | what it does |
//! |---|---|
//! | `stall` | says one word, then nothing, until the client hangs up |
//! | `key` | 401 |
//! | `down` | 503 |
//! | `nowhere` | 404, as for a model nobody knows |
//! | `busy` | 429 to two of every three calls, in no regular order |
//! | any other | says "this is" and its name |

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
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

pub struct ModelServer {
    address: SocketAddr,
    book: Arc<Book>,
    _server: JoinSet<()>,
}

struct Book {
    calls: AtomicUsize,
    refused: AtomicUsize,
    /// When a client last hung up on an unfinished answer.
    hung_up: watch::Sender<Option<Instant>>,
}

impl ModelServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Arc::new(Book {
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
            .with_state(Arc::clone(&book));
        let mut server = JoinSet::new();
        server.spawn(async move {
            server::serve(listener, router, Resources::new(Limits::default()), std::future::pending()).await
        });
        Self { address, book, _server: server }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn calls(&self) -> usize {
        self.book.calls.load(Ordering::Relaxed)
    }

    /// How many calls got a 429.
    pub fn refused(&self) -> usize {
        self.book.refused.load(Ordering::Relaxed)
    }

    /// Resolves when a client has hung up on an unfinished answer after this moment; tells when that was.
    pub async fn hung_up(&self, after: Instant) -> Instant {
        let mut hung_up = self.book.hung_up.subscribe();
        hung_up.wait_for(|at| at.is_some_and(|at| at > after)).await.unwrap().unwrap()
    }

    /// A catalog whose provider `custom` is this server, with `chosen` as the default and these to fall back to.
    pub fn catalog(&self, chosen: &str, fallback: &[&str]) -> Catalog {
        catalog(&self.base_url(), chosen, fallback)
    }
}

/// How often a server that has nothing to say shows that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_millis(5);

/// A catalog whose provider `custom` is at this address and is asked twice at most.
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

async fn complete(State(book): State<Arc<Book>>, Json(body): Json<Value>) -> Response {
    let number = book.calls.fetch_add(1, Ordering::Relaxed);
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    match model.as_str() {
        "key" => refuse(401, "Incorrect API key provided: not-a-key-5b1"),
        "down" => refuse(503, "the service is overloaded"),
        "nowhere" => refuse(404, "The model `nowhere` does not exist"),
        "busy" if irregular(number / 3) % 3 != number as u64 % 3 => {
            book.refused.fetch_add(1, Ordering::Relaxed);
            refuse(429, "Rate limit reached")
        }
        "stall" => {
            let hang_up = HangUp(Arc::clone(&book));
            let word = stream::iter([Ok::<_, std::io::Error>(Bytes::from(delta("One")))]);
            // A sign of life now and then, as real servers give: writing it shows whether anybody is there.
            answer(word.chain(stream::unfold(hang_up, |hang_up| async move {
                tokio::time::sleep(SIGN_OF_LIFE).await;
                Some((Ok(Bytes::from_static(b": working\n\n")), hang_up))
            })))
        }
        name => {
            let text = format!("{}{}", delta(&format!("this is {name}")), END);
            answer(stream::iter([Ok::<_, std::io::Error>(Bytes::from(text))]))
        }
    }
}

/// Dropped with the answer's body, which is when its connection is gone.
struct HangUp(Arc<Book>);

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

/// A number that follows from the call's, but shows no pattern.
fn irregular(number: usize) -> u64 {
    let mut mixed = (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
