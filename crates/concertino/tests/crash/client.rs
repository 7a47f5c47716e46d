//! A client that never gives up: it sends, follows, answers, and resumes the stream after every kill, in one of the ways a
//! front end can.

use std::sync::Arc;

use protocol::UiMessage;
use serde_json::{Value, json};
use testkit::Rng;
use tokio::time::{Instant, timeout_at};

use crate::{
    follow::{Ended, Following, Manner},
    http::{Got, Http},
    load::{Kind, Task},
    tab,
    world::{PATIENCE, World},
};

/// Turns in one chat before the next is begun.
const TURNS_IN_A_CHAT: usize = 5;
/// Attempts at one exchange; each kill costs one or two.
const ATTEMPTS: usize = 2000;

pub struct Client {
    name: String,
    world: Arc<World>,
    http: Http,
    rng: Rng,
    session: String,
    shown: Vec<Value>,
}

/// How an exchange with the server ended.
enum Exchanged {
    /// The stream came to its end: this is the message as the client folded it.
    Streamed(UiMessage),
    /// The answer was there already when the client came back.
    Found(UiMessage),
    Failed,
}

impl Client {
    pub fn new(name: String, world: Arc<World>, rng: Rng) -> Self {
        let http = Http::new(&world.url);
        Self { name, world, http, rng, session: String::new(), shown: Vec::new() }
    }

    /// Turn after turn until it is over.
    pub async fn run(mut self, first: usize) {
        for number in 0.. {
            if self.world.is_hopeless() || !self.world.begin().await {
                return;
            }
            if number % TURNS_IN_A_CHAT == 0 {
                self.session = format!("chat-{}-{}", self.name, number / TURNS_IN_A_CHAT);
                self.shown.clear();
            }
            let kind = Kind::ALL[(first + number) % Kind::ALL.len()];
            let task = Task::draw(kind, &format!("{}t{number}", self.name), &mut self.rng);
            self.world.remember(&task);
            let done = timeout_at(Instant::now() + PATIENCE, self.turn(&task)).await;
            self.world.end();
            match done {
                Ok(true) => self.world.turn_done(kind),
                Ok(false) => return,
                Err(_) => {
                    self.world.wrong(format!("{}: {kind:?} {} is stuck", self.session, task.user));
                    return;
                }
            }
        }
    }

    async fn turn(&mut self, task: &Task) -> bool {
        let parts = json!([{ "type": "text", "text": task.text }]);
        self.shown.push(json!({ "id": task.user, "role": "user", "parts": parts }));
        let mut body = json!({ "id": self.session, "messages": self.shown, "trigger": "submit-message" });
        let mut base: Option<UiMessage> = None;
        // One sending and at most two answers.
        for _ in 0..3 {
            let (message, streamed) = match self.exchange(task, &body, base.as_ref()).await {
                Exchanged::Streamed(message) => (message, true),
                Exchanged::Found(message) => (message, false),
                Exchanged::Failed => return false,
            };
            let Some(answered) = tab::answer(&message, task.kind) else {
                if streamed && task.kind != Kind::Abandoned {
                    self.compare(task, &message).await;
                }
                self.shown.push(json!(message));
                return true;
            };
            self.world.count("questions answered", 1);
            let mut messages = self.shown.clone();
            messages.push(answered.clone());
            body = json!({
                "id": self.session, "messages": messages, "trigger": "submit-message", "messageId": answered["id"],
            });
            base = serde_json::from_value(answered).ok();
        }
        self.world.wrong(format!("{}: {} asks again and again", self.session, task.user));
        false
    }

    /// Posts until it is known to have arrived, and follows the answer to its end.
    async fn exchange(&mut self, task: &Task, body: &Value, base: Option<&UiMessage>) -> Exchanged {
        let mut manner = Manner::Post;
        let mut following = Following::new(base.cloned());
        for attempt in 0..ATTEMPTS {
            if !self.world.is_up().await {
                self.world.wrong(format!("{}: the server does not come back", self.session));
                return Exchanged::Failed;
            }
            let path = format!("/api/chat/{}/stream", self.session);
            let got = match manner {
                Manner::Post => self.http.post("/api/chat", body).await,
                Manner::Follow => self.http.get(&path, None).await,
                Manner::FollowAfter => self.http.get(&path, following.last).await,
            };
            match got {
                Got::Nothing => manner = self.another_manner(),
                Got::Stream(mut response) => {
                    let what = if manner == Manner::Post { "sendings accepted" } else { "streams taken up" };
                    self.world.count(what, 1);
                    if manner == Manner::Post && base.is_none() {
                        self.world.accepted(&self.session, &task.user);
                    }
                    match following.read(&mut response, manner, &self.world, &self.session).await {
                        Ended::Done(message) => return Exchanged::Streamed(message),
                        Ended::Cut => {
                            self.world.count("streams cut by a kill", 1);
                            manner = self.another_manner();
                        }
                        Ended::Wrong(what) => {
                            self.world.wrong(format!("{} {}: {what}", self.session, task.user));
                            return Exchanged::Failed;
                        }
                    }
                }
                Got::NoContent => match self.found(task, base).await {
                    Some(Ok(message)) => return Exchanged::Found(message),
                    Some(Err(next)) => manner = next,
                    None => return Exchanged::Failed,
                },
                // Only approvals know that they were answered before; an output that comes twice comes too late.
                Got::Refused(..) if attempt > 0 && base.is_some() && task.kind == Kind::ClientTool => {
                    self.world.count("outputs that came twice", 1);
                    manner = Manner::Follow;
                }
                Got::Refused(status, text) => {
                    let what = format!("{manner:?} of {} was refused: {status} {text}", task.user);
                    self.world.wrong(format!("{}: {what}", self.session));
                    return Exchanged::Failed;
                }
                Got::Text(text) => {
                    self.world.wrong(format!("{}: no stream but {text}", self.session));
                    return Exchanged::Failed;
                }
            }
        }
        self.world.wrong(format!("{}: {} made no progress", self.session, task.user));
        Exchanged::Failed
    }

    fn another_manner(&mut self) -> Manner {
        match self.rng.between(0, 2) {
            0 => Manner::Post,
            1 => Manner::Follow,
            _ => Manner::FollowAfter,
        }
    }

    /// Nothing is running: the answer is in the history, or what was sent never arrived.
    async fn found(&self, task: &Task, base: Option<&UiMessage>) -> Option<Result<UiMessage, Manner>> {
        let Some(history) = self.history().await else { return Some(Err(Manner::Follow)) };
        let answer = tab::answer_to(&history, &task.user);
        match (answer, base) {
            (Some(answer), Some(_)) if tab::still_asks(&answer) => Some(Err(Manner::Post)),
            (Some(answer), _) => Some(Ok(answer)),
            (None, None) if !self.world.was_accepted(&self.session, &task.user) => Some(Err(Manner::Post)),
            (None, _) => {
                let text = format!("{}: nothing runs and {} has no answer", self.session, task.user);
                self.world.wrong(text);
                None
            }
        }
    }

    /// The history, empty for a chat that does not exist; `None` when the server went away.
    async fn history(&self) -> Option<Vec<Value>> {
        match self.http.get(&format!("/api/chat/{}/messages", self.session), None).await {
            Got::Text(text) => {
                self.world.count("histories read", 1);
                serde_json::from_str(&text).ok()
            }
            Got::Refused(404, _) => Some(Vec::new()),
            _ => None,
        }
    }

    /// What the client folded from the stream is what is kept.
    async fn compare(&self, task: &Task, message: &UiMessage) {
        for _ in 0..ATTEMPTS {
            if !self.world.is_up().await {
                return;
            }
            let Some(history) = self.history().await else { continue };
            let kept = tab::answer_to(&history, &task.user).map(|kept| tab::comparable(&kept));
            let shown = tab::comparable(message);
            if kept.as_ref() != Some(&shown) {
                let kept = kept.unwrap_or_default();
                self.world.wrong(format!("{}: shown\n  {shown}\nbut kept\n  {kept}", self.session));
            }
            self.world.count("messages compared", 1);
            return;
        }
    }
}
