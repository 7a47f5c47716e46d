//! A person whose tool results are so long that they become files. The long texts also fill the write-ahead log, so
//! that it goes back into the database often.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::upstream::{Act, Script};
use tokio::time::{Duration, Instant, sleep};

use crate::{
    follow::{Ended, Following, Manner},
    http::{Got, Http},
    load::{Kind, Task},
    tab,
    world::{PATIENCE, World},
};

/// Words in a text: about 120 kB.
const WORDS: usize = 10_000;

pub struct Bulk {
    world: Arc<World>,
    http: Http,
}

impl Bulk {
    pub fn new(world: Arc<World>) -> Self {
        let http = Http::new(&world.url);
        Self { world, http }
    }

    pub async fn run(self) {
        for number in 0.. {
            if self.world.is_hopeless() || !self.world.begin().await {
                return;
            }
            let session = format!("bulk-{number}");
            let done = self.turn(&session, &task(number)).await;
            self.world.end();
            if let Err(wrong) = done {
                return self.world.wrong(format!("{session}: {wrong}"));
            }
        }
    }

    /// Sends until it is accepted, follows as far as the stream goes, and waits for the answer.
    async fn turn(&self, session: &str, task: &Task) -> Result<(), String> {
        let patience = Instant::now() + PATIENCE;
        self.world.remember(task);
        let parts = json!([{ "type": "text", "text": task.text }]);
        let message = json!({ "id": task.user, "role": "user", "parts": parts });
        let body = json!({ "id": session, "messages": [message] });
        loop {
            if Instant::now() > patience {
                return Err(format!("{} is not accepted", task.user));
            }
            match self.http.post("/api/chat", &body).await {
                Got::Stream(mut response) => {
                    self.world.accepted(session, &task.user);
                    let mut following = Following::new(None);
                    match following.read(&mut response, Manner::Post, &self.world, session).await {
                        Ended::Done(_) | Ended::Cut => break,
                        Ended::Wrong(what) => return Err(what),
                    }
                }
                Got::Nothing => drop(self.world.is_up().await),
                Got::Refused(status, text) => return Err(format!("refused: {status} {text}")),
                Got::Text(_) | Got::NoContent => return Err("no stream".to_owned()),
            }
        }
        loop {
            if Instant::now() > patience {
                return Err(format!("{} has no answer", task.user));
            }
            if let Got::Text(text) = self.http.get(&format!("/api/chat/{session}/messages"), None).await {
                let history: Vec<Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
                let answer = tab::answer_to(&history, &task.user);
                if answer.is_some_and(|answer| answer.text().ends_with(&task.last_words)) {
                    self.world.turn_done(task.kind);
                    return Ok(());
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn task(number: usize) -> Task {
    let last_words = format!("The end of bulk {number}.");
    let call = Act::Call { tool: "conf_echo".to_owned(), input: json!({ "text": text(number) }) };
    let mut script = Script::new(vec![vec![call], vec![Act::Text { text: last_words.clone() }]]);
    script.piece = 16_384;
    Task { kind: Kind::Tool, user: format!("user-bulk-{number}"), text: script.text(), last_words }
}

fn text(number: usize) -> String {
    (0..WORDS).map(|word| format!("{number}:{word:05} ")).collect()
}

/// Whether these are the bytes of a tool's whole result.
pub fn is_result(bytes: &[u8]) -> bool {
    let result: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let echoed = result["echoed"].as_str().unwrap_or_default();
    let number = echoed.split(':').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| text(number) == echoed)
}
