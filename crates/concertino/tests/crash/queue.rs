//! A person who does not wait: sends three messages at once, goes away, and expects three answers in their order.
//!
//! What was answered with 200 is never sent again, so a message that a kill took out of the queue would be missed.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::Rng;
use tokio::time::{Instant, sleep};

use crate::{
    http::{Got, Http},
    load::{Kind, Task},
    tab,
    world::{PATIENCE, World},
};

const MESSAGES: usize = 3;

pub struct Impatient {
    world: Arc<World>,
    http: Http,
    rng: Rng,
}

impl Impatient {
    pub fn new(world: Arc<World>, rng: Rng) -> Self {
        let http = Http::new(&world.url);
        Self { world, http, rng }
    }

    pub async fn run(mut self) {
        for number in 0.. {
            if self.world.is_hopeless() || !self.world.begin().await {
                return;
            }
            let session = format!("queue-{number}");
            let tasks: Vec<_> = (0..MESSAGES)
                .map(|place| Task::draw(Kind::Text, &format!("q{number}n{place}"), &mut self.rng))
                .collect();
            let done = self.turn(&session, &tasks).await;
            self.world.end();
            if let Err(wrong) = done {
                return self.world.wrong(format!("{session}: {wrong}"));
            }
        }
    }

    async fn turn(&self, session: &str, tasks: &[Task]) -> Result<(), String> {
        let patience = Instant::now() + PATIENCE;
        for task in tasks {
            self.world.remember(task);
            let parts = json!([{ "type": "text", "text": task.text }]);
            let message = json!({ "id": task.user, "role": "user", "parts": parts });
            let body = json!({ "id": session, "messages": [message], "whenBusy": "queue" });
            loop {
                if Instant::now() > patience {
                    return Err(format!("{} is not accepted", task.user));
                }
                match self.http.post("/api/chat", &body).await {
                    Got::Stream(_) => break,
                    Got::Nothing => drop(self.world.is_up().await),
                    // What a kill left is resumed when it is touched; until then the chat is busy.
                    Got::Refused(409, _) => sleep(Duration::from_millis(5)).await,
                    Got::Refused(status, text) => {
                        return Err(format!("{} was refused: {status} {text}", task.user));
                    }
                    Got::Text(_) | Got::NoContent => return Err("no stream".to_owned()),
                }
            }
            self.world.accepted(session, &task.user);
            self.world.count("messages queued or begun", 1);
        }
        loop {
            if Instant::now() > patience {
                return Err(format!("{} has no answer", tasks[MESSAGES - 1].user));
            }
            if let Got::Text(text) = self.http.get(&format!("/api/chat/{session}/messages"), None).await {
                let history: Vec<Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
                if history.len() == 2 * MESSAGES {
                    return self.check(&history, tasks);
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    fn check(&self, history: &[Value], tasks: &[Task]) -> Result<(), String> {
        for (place, task) in tasks.iter().enumerate() {
            let user = &history[2 * place]["id"];
            let answer = tab::answer_to(history, &task.user).map(|answer| answer.text()).unwrap_or_default();
            if *user != json!(task.user) || !answer.ends_with(&task.last_words) {
                return Err(format!("{user} stands in place {place} and was answered with {answer:?}"));
            }
        }
        self.world.count("queues answered in order", 1);
        Ok(())
    }
}
