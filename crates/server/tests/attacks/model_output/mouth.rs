//! The hostile model behind its two interfaces: the trait, and chat completions over real HTTP.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{
    Rng,
    models::{Catalog, Model, ModelEvent, ModelMessage, ModelRequest, ModelStream, UserContent},
    protocol::FinishReason,
};
use tokio::{net::TcpListener, task::JoinSet};

use super::speech::{Asked, Said, hostile, plain};

/// What the person says to be answered with plain words.
pub const PLAIN: &str = "Just say something, please.";
/// How many answers of one case may call tools; those after it only talk.
const CALLS: usize = 30;

/// What it says next; the same seed says the same.
#[derive(Clone)]
pub struct Mouth(Arc<Mutex<(Rng, usize)>>);

impl Mouth {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new((Rng::new(0), 0))))
    }

    pub fn begin(&self, seed: u64) {
        *self.0.lock() = (Rng::new(seed), 0);
    }

    fn answer(&self, asked: &Asked) -> Said {
        let (rng, said) = &mut *self.0.lock();
        *said += 1;
        hostile(rng, asked, *said <= CALLS)
    }
}

impl Model for Mouth {
    fn name(&self) -> &str {
        "hostile/model"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let is_plain = request.messages.iter().any(|message| match &**message {
            ModelMessage::User { content } => {
                content.iter().any(|part| matches!(part, UserContent::Text(text) if text == PLAIN))
            }
            _ => false,
        });
        let said = if is_plain {
            plain()
        } else {
            let tools = request.tools.iter().map(|tool| (tool.name.clone(), tool.input_schema.clone()));
            let results = request.messages.iter().filter_map(|message| match &**message {
                ModelMessage::Tool { text, .. } => Some(text.as_str()),
                _ => None,
            });
            self.answer(&Asked { tools: tools.collect(), agents: agents_in(results) })
        };
        let answer = stream::iter(said).then(|event| async move {
            tokio::task::yield_now().await;
            event
        });
        answer.boxed()
    }
}

/// The ids of agents that results speak of.
fn agents_in<'a>(results: impl Iterator<Item = &'a str>) -> Vec<String> {
    let id = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        value["agentId"].as_str().map(str::to_owned)
    };
    results.filter_map(id).collect()
}

/// The same model as a server.
pub struct Wire {
    address: SocketAddr,
    _server: JoinSet<()>,
}

impl Wire {
    pub async fn start(mouth: &Mouth) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(mouth.clone());
        let mut server = JoinSet::new();
        server.spawn(async move {
            let resources = testkit::server::Resources::new(testkit::server::Limits::default());
            testkit::server::serve(listener, router, resources, std::future::pending()).await;
        });
        Self { address, _server: server }
    }

    pub fn catalog(&self) -> Catalog {
        testkit::model_server::catalog(&format!("http://{}/v1", self.address), "custom/hostile", &[])
    }
}

async fn complete(State(mouth): State<Mouth>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let is_plain =
        messages.iter().any(|message| message["role"] == "user" && message.to_string().contains(PLAIN));
    let frames = if is_plain {
        plain().iter().filter_map(|event| event.as_ref().ok()).map(frame).collect()
    } else {
        let tools = request["tools"].as_array().into_iter().flatten();
        let tools = tools.filter_map(|tool| {
            let function = &tool["function"];
            Some((function["name"].as_str()?.to_owned(), function["parameters"].clone()))
        });
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let agents = agents_in(results.filter_map(|message| message["content"].as_str()));
        let said = mouth.answer(&Asked { tools: tools.collect(), agents });
        let cut = said.iter().any(Result::is_err);
        let mut frames: Vec<Vec<u8>> =
            said.iter().filter_map(|event| event.as_ref().ok()).map(frame).collect();
        if !cut {
            frames.push(b"data: [DONE]\n\n".to_vec());
        }
        damage(&mut mouth.0.lock().0, &mut frames);
        frames
    };
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    let body = stream::iter(frames.into_iter().map(|frame| Ok::<_, std::io::Error>(Bytes::from(frame))));
    (headers, Body::from_stream(body)).into_response()
}

/// An event as chat completions write it.
fn frame(event: &ModelEvent) -> Vec<u8> {
    let call = |index: &u32, call: Value| {
        let mut call = call;
        call["index"] = json!(index);
        json!({ "tool_calls": [call] })
    };
    let delta = match event {
        ModelEvent::Text(text) => json!({ "content": text }),
        ModelEvent::Reasoning(text) => json!({ "reasoning_content": text }),
        ModelEvent::ToolStarted { index, id, name } => call(
            index,
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": "" } }),
        ),
        ModelEvent::ToolDelta { index, delta } => call(index, json!({ "function": { "arguments": delta } })),
        ModelEvent::Usage(usage) => {
            let usage = json!({ "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
                "total_tokens": usage.total_tokens });
            return format!("data: {}\n\n", json!({ "choices": [], "usage": usage })).into_bytes();
        }
        ModelEvent::Finished(reason) => {
            let reason = match reason {
                FinishReason::ToolCalls => "tool_calls",
                FinishReason::Length => "length",
                FinishReason::ContentFilter => "content_filter",
                _ => "stop",
            };
            let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
            return format!("data: {end}\n\n").into_bytes();
        }
        // Chat completions have no word for the others.
        other => {
            json!({ "annotations": [{ "type": "url_citation", "url_citation": { "url": format!("{other:?}") } }],
            "refusal": null, "audio": 7 })
        }
    };
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta }] })).into_bytes()
}

/// Bytes that no server should send.
fn damage(rng: &mut Rng, frames: &mut Vec<Vec<u8>>) {
    if rng.below(4) > 0 || frames.is_empty() {
        return;
    }
    for _ in 0..1 + rng.below(3) {
        let place = rng.below(frames.len());
        let frame = &mut frames[place];
        let at = rng.below(frame.len());
        match rng.below(8) {
            0 => frame.truncate(at),
            1 => frame.insert(at, 0xff),
            2 => frame.extend_from_slice(b"event: error\ndata: {\"error\":{\"message\":7}}\n\n"),
            3 => frame.splice(0..0, b": ping\r\n\r\ndata: {}\n\n".iter().copied()).for_each(drop),
            4 => frame.extend_from_slice(b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{}]}}]}\n\n"),
            5 => frame.extend(format!("data: {}\n\n", "[".repeat(5_000)).into_bytes()),
            6 => {
                let again = frame.clone();
                frames.insert(place, again);
            }
            _ => frame.retain(|byte| *byte != b'\n'),
        }
    }
}
