//! A person who creates a chat, uses it in one of many ways, and deletes it.

use std::time::Duration;

use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use testkit::Rng;
use testkit::upstream::{Act, Script};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Three turns, of which the last is answered again; then the history is read.
    Text,
    /// An answer of a few hundred kilobytes.
    Long,
    Tools,
    /// A tool's output that is too long for the model and is kept as a file.
    Artifact,
    SubAgents,
    Approved,
    /// A question that nobody answers.
    Abandoned,
    Stopped,
    /// The connection is lost in the middle, and the answer followed again from there.
    Resumed,
    /// Deleted while its run is active.
    Cut,
    /// A message with a file.
    Upload,
    /// A chat that begins with a long history from elsewhere.
    Planted,
    Searched,
}

impl Kind {
    pub const ALL: [Self; 13] = [
        Self::Text,
        Self::Long,
        Self::Tools,
        Self::Artifact,
        Self::SubAgents,
        Self::Approved,
        Self::Abandoned,
        Self::Stopped,
        Self::Resumed,
        Self::Cut,
        Self::Upload,
        Self::Planted,
        Self::Searched,
    ];
}

/// A picture of one pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub struct Person {
    client: Client,
    url: String,
    name: String,
    chats: usize,
    chat: String,
    rng: Rng,
    /// How long the model is silent in an answer that is to be stopped.
    pub silence: Duration,
}

impl Person {
    pub fn new(number: usize, url: &str, rng: Rng) -> Self {
        models::install_tls();
        let client = Client::builder().no_proxy().tls_certs_only([]).read_timeout(Duration::from_secs(60));
        let client = client.build().unwrap();
        let name = format!("p{number}");
        // Each begins with another kind, so that all kinds are active at the same time.
        let silence = Duration::from_secs(60);
        Self { client, url: url.to_owned(), name, chats: number * 2, chat: String::new(), rng, silence }
    }

    /// Makes, uses and deletes the next chat, then pauses; returns its kind. All kinds come in turn.
    pub async fn one_chat(&mut self) -> Kind {
        let kind = Kind::ALL[self.chats % Kind::ALL.len()];
        self.chat_of(kind).await;
        // As long as a person takes at least, and so that others on this machine have a share of it.
        tokio::time::sleep(Duration::from_millis(self.rng.between(0, 400))).await;
        kind
    }

    /// Makes, uses and deletes one chat of this kind.
    pub async fn chat_of(&mut self, kind: Kind) {
        self.chats += 1;
        self.chat = format!("churn-{}-{}", self.name, self.chats);
        match kind {
            Kind::Text => self.text().await,
            Kind::Long => {
                let bytes = self.rng.between(100, 400) << 10;
                self.turn("u", vec![vec![Act::Fill { bytes }]], 200).await;
                self.history(2).await;
            }
            Kind::Tools => {
                let calls = vec![words("First."), echo("a", 10), echo("b", 2_000)];
                self.turn("u", vec![calls, vec![echo("c", 100)], vec![words("Done.")]], 8).await;
            }
            Kind::Artifact => {
                self.turn("u", vec![vec![echo("long", 80_000)], vec![words("Done.")]], 4_096).await;
                let listed = self.json("GET", "/api/artifacts", None).await;
                assert!(listed["artifacts"].as_array().is_some_and(|files| !files.is_empty()), "{listed}");
            }
            Kind::SubAgents => self.sub_agents().await,
            Kind::Approved => {
                self.turn("u", vec![vec![ask(&self.chat)], vec![words("Allowed.")]], 8).await;
                self.approve().await;
            }
            Kind::Abandoned => self.turn("u", vec![vec![ask(&self.chat)]], 8).await,
            Kind::Stopped => {
                let mut stream = self.open("u", self.endless(), 8).await;
                until(&mut stream, "text-delta").await;
                self.json("POST", &format!("/api/chat/{}/stop", self.chat), Some(json!({}))).await;
                rest(stream).await;
            }
            Kind::Resumed => self.resumed().await,
            Kind::Cut => {
                let mut stream = self.open("u", self.endless(), 8).await;
                until(&mut stream, "text-delta").await;
                self.delete().await;
                rest(stream).await;
                return;
            }
            Kind::Upload => self.upload().await,
            Kind::Planted => self.planted().await,
            Kind::Searched => {
                self.turn("u", vec![vec![words("A needle in a haystack.")]], 8).await;
                let found = self.json("GET", "/api/sessions?q=needle&limit=20", None).await;
                assert!(found["sessions"].is_array(), "{found}");
                self.json("GET", "/api/sessions?limit=50", None).await;
            }
        }
        self.delete().await;
    }

    async fn text(&self) {
        for turn in ["u1", "u2", "u3"] {
            let text = "and so it goes on ".repeat(30);
            let acts = vec![Act::Reason { text: "Let me think.".to_owned() }, Act::Text { text }];
            self.turn(turn, vec![acts], 8).await;
        }
        let message = user("u3", &Script::new(vec![vec![words("Again.")]]).text());
        let body = json!({ "id": self.chat, "messages": [message], "trigger": "regenerate-message" });
        rest(self.post("/api/chat", &body).await).await;
        self.history(6).await;
        let named = json!({ "title": "A chat of many", "pinned": true });
        self.json("PATCH", &format!("/api/sessions/{}", self.chat), Some(named)).await;
    }

    async fn sub_agents(&self) {
        let below = |task: &str| {
            let steps = vec![vec![echo(task, 50)], vec![Act::Fill { bytes: 4_000 }]];
            let task = format!("{task} {}", Script { pace_ms: 0, piece: 40, steps }.text());
            Act::Call { tool: "conf_delegate".to_owned(), input: json!({ "agent": "helper", "task": task }) }
        };
        self.turn("u", vec![vec![below("one"), below("two"), below("three")], vec![words("Done.")]], 8).await;
        self.history(2).await;
    }

    /// Answers the question of this chat and follows the run to its end.
    async fn approve(&self) {
        let open = self.json("GET", "/api/approvals", None).await;
        let own = open["approvals"].as_array().unwrap().iter().find(|open| open["chatId"] == self.chat);
        let id = own.unwrap()["approval"]["id"].as_str().unwrap().to_owned();
        self.json("POST", &format!("/api/approvals/{id}"), Some(json!({ "approved": true }))).await;
        let path = format!("/api/chat/{}/stream", self.chat);
        let stream = self.send("GET", &path, None).await;
        if stream.status() == StatusCode::OK {
            rest(stream).await;
        }
    }

    async fn resumed(&self) {
        let text = "and so it goes on ".repeat(20);
        let mut script = Script::new(vec![vec![Act::Text { text }]]);
        script.pace_ms = 2;
        let body = json!({ "id": self.chat, "messages": [user("u", &script.text())] });
        let mut stream = self.post("/api/chat", &body).await;
        until(&mut stream, "text-delta").await;
        drop(stream);
        let stream = self.send("GET", &format!("/api/chat/{}/stream", self.chat), None).await;
        assert_eq!(stream.status(), StatusCode::OK);
        rest(stream).await;
        self.history(2).await;
    }

    async fn upload(&self) {
        let mut message = user("u", &Script::new(vec![vec![words("I see.")]]).text());
        let file = json!({ "type": "file", "mediaType": "image/png", "filename": "pixel.png", "url": PIXEL });
        message["parts"].as_array_mut().unwrap().push(file);
        rest(self.post("/api/chat", &json!({ "id": self.chat, "messages": [message] })).await).await;
        self.history(2).await;
    }

    async fn planted(&self) {
        let earlier = (0..200).map(|place| {
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            let text =
                format!("Message {place} of this chat. {}", "It is as long as messages are. ".repeat(8));
            json!({ "id": format!("h{place}"), "role": role, "parts": [{ "type": "text", "text": text }] })
        });
        let last = user("u1", &Script::new(vec![vec![words("Yes.")]]).text());
        let messages: Vec<Value> = earlier.chain([last]).collect();
        rest(self.post("/api/chat", &json!({ "id": self.chat, "messages": messages })).await).await;
        self.turn("u2", vec![vec![words("And yes.")]], 8).await;
        self.history(100).await;
    }

    /// An answer that is to be stopped.
    fn endless(&self) -> Vec<Vec<Act>> {
        let ms = u64::try_from(self.silence.as_millis()).unwrap();
        vec![vec![words("Working on it, one moment please."), Act::Stall { ms }]]
    }

    /// Sends a message and reads the answer to its end.
    async fn turn(&self, id: &str, steps: Vec<Vec<Act>>, piece: usize) {
        rest(self.open(id, steps, piece).await).await;
    }

    async fn open(&self, id: &str, steps: Vec<Vec<Act>>, piece: usize) -> Response {
        let message = user(id, &Script { pace_ms: 0, piece, steps }.text());
        self.post("/api/chat", &json!({ "id": self.chat, "messages": [message] })).await
    }

    async fn history(&self, least: usize) {
        let path = format!("/api/chat/{}/messages", self.chat);
        let history = self.json("GET", &path, None).await;
        assert!(
            history.as_array().is_some_and(|messages| messages.len() >= least),
            "{}: {history}",
            self.chat
        );
    }

    async fn delete(&self) {
        let gone = self.send("DELETE", &format!("/api/sessions/{}", self.chat), None).await;
        assert_eq!(gone.status(), StatusCode::NO_CONTENT, "{}", self.chat);
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        let answer = self.send("POST", path, Some(body.clone())).await;
        let status = answer.status();
        assert_eq!(status, StatusCode::OK, "{} {path}: {:?}", self.chat, answer.text().await);
        answer
    }

    async fn json(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let answer = self.send(method, path, body).await;
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, StatusCode::OK, "{} {method} {path}: {text}", self.chat);
        serde_json::from_str(&text).unwrap()
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Response {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        request.send().await.unwrap()
    }
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

fn words(text: &str) -> Act {
    Act::Text { text: text.to_owned() }
}

fn echo(name: &str, length: usize) -> Act {
    let text = format!("{name} {}", "x".repeat(length));
    Act::Call { tool: "conf_echo".to_owned(), input: json!({ "text": text }) }
}

fn ask(name: &str) -> Act {
    Act::Call { tool: "conf_approve".to_owned(), input: json!({ "text": format!("{name} asks") }) }
}

/// Reads until this has come.
async fn until(stream: &mut Response, text: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        let piece = stream.chunk().await.unwrap();
        read.extend_from_slice(&piece.unwrap_or_else(|| panic!("{text} never came")));
    }
}

/// Reads to the end, which must be a proper one.
async fn rest(mut stream: Response) {
    let mut tail = Vec::new();
    while let Some(piece) = stream.chunk().await.unwrap() {
        tail.extend_from_slice(&piece);
        tail.drain(..tail.len().saturating_sub(64));
    }
    let tail = String::from_utf8_lossy(&tail);
    assert!(tail.ends_with("data: [DONE]\n\n"), "{tail}");
}
