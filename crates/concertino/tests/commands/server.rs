//! A server with a work directory, and a model that makes the calls that the test names.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    Rng,
    upstream::{Act, Script, Upstream},
};
use tokio::{task::block_in_place, time::sleep};

use crate::{client::Timed, process::Process};

/// Nothing here takes longer, unless it is stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Server {
    pub process: Process,
    pub http: Timed,
    _upstream: Upstream,
}

impl Server {
    /// `seed` chooses the port.
    pub async fn start(seed: u64, settings: &[(&str, &str)]) -> Self {
        let upstream = Upstream::start().await;
        let mut process = Process::new(upstream.base_url(), &mut Rng::new(seed));
        for (name, value) in settings {
            process.set(name, value);
        }
        let work = process.folder().join("work");
        fs::create_dir_all(&work).unwrap();
        process.set("CONCERTINO_WORKDIR", work.to_str().unwrap());
        block_in_place(|| process.start());
        let http = Timed::new(&process.url());
        Self { process, http, _upstream: upstream }
    }

    pub fn work(&self) -> PathBuf {
        self.process.folder().join("work")
    }

    /// Sends a message that makes the model call these tools, one after the other; returns without waiting.
    pub async fn begin(&self, chat: &str, calls: &[(&str, Value)]) {
        let call = |(tool, input): &(&str, Value)| {
            vec![Act::Call { tool: (*tool).to_owned(), input: input.clone() }]
        };
        let mut steps: Vec<Vec<Act>> = calls.iter().map(call).collect();
        steps.push(vec![Act::Text { text: "done".to_owned() }]);
        let text = Script { pace_ms: 0, piece: 4_000, steps }.text();
        let id = format!("u{}", self.messages(chat).await.len());
        let message = json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] });
        drop(self.http.open("/api/chat", &json!({ "id": chat, "messages": [message] })).await);
    }

    /// Sends, waits for the end, and returns the tool parts of the answer.
    pub async fn call(&self, chat: &str, calls: &[(&str, Value)]) -> Vec<Value> {
        self.begin(chat, calls).await;
        self.idle(chat).await;
        self.tools(chat).await
    }

    /// The output of one call that must succeed.
    pub async fn output(&self, chat: &str, tool: &str, input: Value) -> Value {
        let parts = self.call(chat, &[(tool, input)]).await;
        assert_eq!(parts[0]["state"], "output-available", "{parts:?}");
        parts[0]["output"].clone()
    }

    /// The tool parts of the last answer.
    pub async fn tools(&self, chat: &str) -> Vec<Value> {
        let messages = self.messages(chat).await;
        let parts = messages.last().unwrap()["parts"].as_array().unwrap().clone();
        parts.into_iter().filter(|part| part["type"].as_str().unwrap().starts_with("tool-")).collect()
    }

    pub async fn messages(&self, chat: &str) -> Vec<Value> {
        let (status, body) = self.try_get(&format!("/api/chat/{chat}/messages")).await;
        if status == 200 { body.as_array().unwrap().clone() } else { Vec::new() }
    }

    pub async fn try_get(&self, path: &str) -> (u16, Value) {
        let answer = reqwest::get(format!("{}{path}", self.process.url())).await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    /// Waits until the chat has this status.
    pub async fn until(&self, chat: &str, status: &str) {
        let began = Instant::now();
        loop {
            let (code, session) = self.try_get(&format!("/api/sessions/{chat}")).await;
            if code == 200 && session["status"] == status {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{chat} is not {status}: {session}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    pub async fn idle(&self, chat: &str) {
        self.until(chat, "idle").await;
    }

    /// Answers the question that waits in a chat; returns the question.
    pub async fn answer(&self, chat: &str, answer: &Value) -> Value {
        self.until(chat, "waiting").await;
        let (_, open) = self.http.get("/api/approvals").await;
        let waiting = open["approvals"].as_array().unwrap().iter().find(|open| open["chatId"] == chat);
        let waiting = waiting.unwrap_or_else(|| panic!("{open}")).clone();
        let id = waiting["approval"]["id"].as_str().unwrap();
        self.http.post(&format!("/api/approvals/{id}"), answer).await;
        waiting
    }

    pub async fn jobs(&self) -> Vec<Value> {
        self.http.get("/api/jobs").await.1["jobs"].as_array().unwrap().clone()
    }
}

/// The processes whose command line contains this text, except this one.
pub fn processes(text: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if name != own && name.bytes().all(|byte| byte.is_ascii_digit()) && line.contains(text) {
            found.push(format!("{name} {line}"));
        }
    }
    found
}

/// Waits until no process has this text in its command line; returns how long that took.
pub async fn gone(text: &str) -> Duration {
    let began = Instant::now();
    loop {
        let left = processes(text);
        if left.is_empty() {
            return began.elapsed();
        }
        assert!(began.elapsed() < Duration::from_secs(10), "still there: {left:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until a process has this text in its command line.
pub async fn there(text: &str) {
    let began = Instant::now();
    while processes(text).is_empty() {
        assert!(began.elapsed() < PATIENCE, "{text} does not start");
        sleep(Duration::from_millis(10)).await;
    }
}
