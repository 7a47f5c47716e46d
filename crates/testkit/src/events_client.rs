//! A client of the events surface: one open `GET /events`, and the requests that belong to it.
//!
//! Every frame is checked as it is read: its lines, its envelope, and that the numbers of a session go up.

use std::{collections::HashMap, pin::Pin, time::Duration};

use axum::{body::Body, response::Response};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{Caller, HttpResponse, caller::request};

/// No event of a test takes this long.
const TOO_LONG: Duration = Duration::from_secs(20);
/// A stream with nothing to say for this long has said everything.
const QUIET: Duration = Duration::from_millis(120);

/// One event as it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The `id:` line of the frame.
    pub id: Option<String>,
    pub json: Value,
}

impl Event {
    pub fn kind(&self) -> &str {
        self.json["type"].as_str().unwrap()
    }

    pub fn data(&self) -> &Value {
        &self.json["data"]
    }

    /// A field of the data as text; empty if it is none.
    pub fn text(&self, name: &str) -> &str {
        self.json["data"][name].as_str().unwrap_or_default()
    }

    pub fn session(&self) -> Option<&str> {
        self.json["sessionId"].as_str()
    }

    pub fn run(&self) -> Option<&str> {
        self.json["runId"].as_str()
    }

    pub fn request_id(&self) -> &str {
        self.json["requestId"].as_str().unwrap_or_default()
    }

    pub fn seq(&self) -> Option<u64> {
        self.json["seq"].as_u64()
    }

    /// Whether it is a state of a text that still grows.
    pub fn is_growing(&self) -> bool {
        self.data()["streaming"] == true
    }
}

pub struct EventsClient {
    pub caller: Caller,
    /// The id of the connection.
    pub id: String,
    /// Everything read so far.
    pub seen: Vec<Event>,
    pub heartbeats: usize,
    bytes: Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>,
    waiting: Vec<u8>,
    last: HashMap<String, u64>,
}

impl Caller {
    /// Opens an events connection; `connected` and `agent_list` are read.
    pub async fn events(&self) -> EventsClient {
        self.events_with("", &[]).await
    }

    /// Opens a connection as a client that has this event.
    pub async fn events_after(&self, id: &str, query: &str) -> EventsClient {
        self.events_with(query, &[("last-event-id", id)]).await
    }

    pub async fn events_with(&self, query: &str, headers: &[(&str, &str)]) -> EventsClient {
        let response = self.open(request("GET", &format!("/events{query}"), headers, Body::empty())).await;
        EventsClient::of(self.clone(), response).await
    }
}

impl EventsClient {
    /// Reads the first two events of this response.
    pub async fn of(caller: Caller, response: Response) -> Self {
        assert_eq!(response.status().as_u16(), 200, "not a stream: {:?}", response.headers());
        let header =
            |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
        assert_eq!(header("cache-control").as_deref(), Some("no-cache, no-transform"));
        assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
        let bytes = response.into_body().into_data_stream().map(|bytes| bytes.unwrap().to_vec());
        let mut client = Self {
            caller,
            id: String::new(),
            seen: Vec::new(),
            heartbeats: 0,
            bytes: Box::pin(bytes),
            waiting: Vec::new(),
            last: HashMap::new(),
        };
        let connected = client.next().await;
        assert_eq!(connected.kind(), "connected");
        client.id = connected.text("connectionId").to_owned();
        assert!(client.id.starts_with("conn_"), "{}", client.id);
        assert_eq!(client.next().await.kind(), "agent_list");
        client
    }

    /// The `agent_list` that the connection began with.
    pub fn agent_list(&self) -> &Value {
        self.seen[1].data()
    }

    /// The next event; fails when none comes.
    pub async fn next(&mut self) -> Event {
        match timeout(TOO_LONG, self.read()).await {
            Ok(Some(event)) => event,
            Ok(None) => panic!("the stream ended after {:?}", self.kinds()),
            Err(_) => panic!("no event after {:?}", self.kinds()),
        }
    }

    /// Whether the stream has ended.
    pub async fn has_ended(&mut self) -> bool {
        matches!(timeout(QUIET, self.read()).await, Ok(None))
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.waiting.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.waiting.drain(..end + 2).collect();
                let frame = String::from_utf8(frame).unwrap();
                let Some(event) = parse(frame.trim_end_matches('\n'), self.seen.is_empty()) else {
                    self.heartbeats += 1;
                    continue;
                };
                self.check(&event);
                self.seen.push(event.clone());
                return Some(event);
            }
            match self.bytes.next().await {
                Some(bytes) => self.waiting.extend_from_slice(&bytes),
                None => {
                    assert!(self.waiting.is_empty(), "the stream ends inside a frame");
                    return None;
                }
            }
        }
    }

    fn check(&mut self, event: &Event) {
        let json = &event.json;
        assert!(json["data"].is_object() && json["timestamp"].is_string(), "{json}");
        let (Some(session), Some(seq)) = (event.session(), event.seq()) else {
            assert_eq!((event.id.as_deref(), event.seq()), (None, None), "{json}");
            assert!(["connected", "agent_list", "error", "resync"].contains(&event.kind()), "{json}");
            return;
        };
        assert_eq!(event.id.as_deref(), Some(format!("{session}.{seq}").as_str()), "{json}");
        let last = self.last.insert(session.to_owned(), seq);
        assert!(last.is_none_or(|last| last < seq), "numbers go up: {last:?}, then {json}");
    }

    /// Reads up to this event.
    pub async fn until(&mut self, is_it: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await;
            if is_it(&event) {
                return event;
            }
        }
    }

    /// Reads up to the next event of this type.
    pub async fn until_kind(&mut self, kind: &str) -> Event {
        self.until(|event| event.kind() == kind).await
    }

    /// Reads until nothing more comes; returns what came.
    pub async fn rest(&mut self) -> Vec<Event> {
        let before = self.seen.len();
        while let Ok(Some(_)) = timeout(QUIET, self.read()).await {}
        self.seen[before..].to_vec()
    }

    /// Reads at most so many events of those that are there.
    pub async fn rest_of(&mut self, most: usize) {
        for _ in 0..most {
            if !matches!(timeout(QUIET, self.read()).await, Ok(Some(_))) {
                return;
            }
        }
    }

    pub fn kinds(&self) -> Vec<&str> {
        self.seen.iter().map(Event::kind).collect()
    }

    pub fn of_kind(&self, kind: &str) -> Vec<&Event> {
        self.seen.iter().filter(|event| event.kind() == kind).collect()
    }

    /// Posts to a route of this surface, as this connection.
    pub async fn post(&self, path: &str, mut body: Value) -> HttpResponse {
        body["connectionId"] = json!(self.id);
        self.caller.post_json(path, &body).await
    }

    /// `POST /message`, as this connection.
    pub async fn send(&self, body: Value) -> HttpResponse {
        self.post("/message", body).await
    }

    /// `POST /message` that is accepted.
    pub async fn message(&self, body: Value) -> Value {
        let answer = self.send(body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Makes a session at this connection; returns its id.
    pub async fn create(&self) -> String {
        let made = self.post("/session/create", json!({})).await;
        assert_eq!(made.status, 200, "{made:?}");
        made.json()["session"]["id"].as_str().unwrap().to_owned()
    }

    /// Loads a session to this connection; returns it.
    pub async fn load(&self, session: &str) -> Value {
        let loaded = self.post("/session/load", json!({ "sessionId": session })).await;
        assert_eq!(loaded.status, 200, "{loaded:?}");
        loaded.json()["session"].clone()
    }

    /// Sends a message to the default session; returns the run's id.
    pub async fn chat(&self, text: &str) -> String {
        let reply = self.message(json!({ "type": "chat", "content": text })).await;
        reply["runId"].as_str().unwrap().to_owned()
    }

    /// Sends a message and reads up to the end of its run; returns the text of the last finished segment.
    pub async fn ask(&mut self, text: &str) -> String {
        let run = self.chat(text).await;
        self.until(|event| event.kind() == "complete" && event.run() == Some(&run)).await;
        let said =
            self.seen.iter().rev().find(|event| event.text("role") == "assistant" && !event.is_growing());
        said.map(|event| event.text("content").to_owned()).unwrap_or_default()
    }

    pub async fn switch(&self, agent: &str) -> Value {
        self.message(json!({ "type": "switch_agent", "agentId": agent })).await
    }

    pub async fn abort(&self) -> Value {
        self.message(json!({ "type": "abort" })).await
    }

    /// Answers a confirmation; the response of the server is not checked.
    pub async fn confirm(&self, request: &str, response: Value) -> HttpResponse {
        let body =
            json!({ "type": "tool_confirmation_response", "requestId": request, "response": response });
        self.send(body).await
    }

    /// The items of a session's history, as `/session/load` gives them, without moving the session.
    pub async fn history(&self, session: &str) -> Vec<Value> {
        self.load(session).await["messages"].as_array().unwrap().clone()
    }
}

/// Reads one frame; `None` for a comment.
fn parse(frame: &str, is_first: bool) -> Option<Event> {
    let mut lines: Vec<&str> = frame.lines().collect();
    if lines[0].starts_with(':') {
        assert_eq!(lines.len(), 1, "a comment of its own: {frame:?}");
        return None;
    }
    if is_first {
        assert_eq!(lines.remove(0), "retry: 2000");
    }
    let id = lines[0].strip_prefix("id: ").map(str::to_owned);
    if id.is_some() {
        lines.remove(0);
    }
    assert_eq!(lines.len(), 1, "one line of data and no other: {frame:?}");
    let data = lines[0].strip_prefix("data: ").unwrap_or_else(|| panic!("no data in {frame:?}"));
    Some(Event { id, json: serde_json::from_str(data).unwrap() })
}
