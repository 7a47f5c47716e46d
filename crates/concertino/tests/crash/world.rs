//! State that all clients share: whether the server runs, whether they may begin another turn, what they received and did,
//! and what was wrong.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use parking_lot::Mutex;
use protocol::Seq;
use tokio::sync::watch;

use crate::load::{Kind, Task};

/// No turn takes longer, however often the server is killed in it, unless it is stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);
const ENOUGH: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Go,
    /// Finish the turn and begin no other.
    Rest,
    Over,
}

pub struct World {
    pub url: String,
    pub up: watch::Sender<bool>,
    pub stage: watch::Sender<Stage>,
    /// How many clients are in a turn.
    pub busy: watch::Sender<usize>,
    /// How many boundary events clients got.
    boundaries: watch::Sender<u64>,
    seen: Mutex<Seen>,
    tally: Mutex<Tally>,
    wrong: Mutex<Vec<String>>,
}

/// A boundary event as a client got it.
#[derive(Clone, Debug)]
pub struct Told {
    pub session: String,
    pub seq: Seq,
    pub json: String,
}

#[derive(Default)]
struct Seen {
    /// By session and number: the whole frame of a boundary, the outline of a delta.
    frames: HashMap<String, HashMap<Seq, String>>,
    fresh: Vec<Told>,
    /// User messages whose sending was answered with 200.
    accepted: BTreeSet<(String, String)>,
    touched: BTreeSet<String>,
    tasks: HashMap<String, Task>,
}

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub counts: BTreeMap<&'static str, u64>,
    pub turns: BTreeMap<Kind, u64>,
}

impl World {
    pub fn new(url: String) -> Self {
        Self {
            url,
            up: watch::Sender::new(false),
            stage: watch::Sender::new(Stage::Go),
            busy: watch::Sender::new(0),
            boundaries: watch::Sender::new(0),
            seen: Mutex::default(),
            tally: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    pub fn count(&self, what: &'static str, more: u64) {
        *self.tally.lock().counts.entry(what).or_default() += more;
    }

    pub fn turn_done(&self, kind: Kind) {
        *self.tally.lock().turns.entry(kind).or_default() += 1;
    }

    pub fn tally(&self) -> Tally {
        self.tally.lock().clone()
    }

    /// Something that must never happen.
    pub fn wrong(&self, what: String) {
        eprintln!("VIOLATION: {what}");
        self.wrong.lock().push(what);
    }

    pub fn violations(&self) -> usize {
        self.wrong.lock().len()
    }

    /// More of the same would teach nothing.
    pub fn is_hopeless(&self) -> bool {
        self.violations() >= ENOUGH
    }

    /// Waits until the server listens; `false` when it takes too long.
    pub async fn is_up(&self) -> bool {
        let mut up = self.up.subscribe();
        tokio::time::timeout(PATIENCE, up.wait_for(|up| *up)).await.is_ok()
    }

    /// Begins a turn, after a rest if there is one; `false` when it is over.
    pub async fn begin(&self) -> bool {
        let mut stage = self.stage.subscribe();
        loop {
            match stage.wait_for(|stage| *stage != Stage::Rest).await.map(|stage| *stage) {
                Ok(Stage::Go) => {}
                _ => return false,
            }
            self.busy.send_modify(|busy| *busy += 1);
            if *self.stage.borrow() == Stage::Go {
                return true;
            }
            // A rest has begun in between: it waits for nobody who is not busy.
            self.end();
        }
    }

    pub fn end(&self) {
        self.busy.send_modify(|busy| *busy -= 1);
    }

    /// Waits until clients got so many more boundary events.
    pub async fn boundaries(&self, more: u64) {
        let mut boundaries = self.boundaries.subscribe();
        let goal = *boundaries.borrow() + more;
        // The sender is ours: it cannot be gone.
        boundaries.wait_for(|count| *count >= goal).await.map(drop).unwrap_or_default();
    }

    pub fn accepted(&self, session: &str, user: &str) {
        let mut seen = self.seen.lock();
        seen.touched.insert(session.to_owned());
        seen.accepted.insert((session.to_owned(), user.to_owned()));
    }

    /// What a user message asks for.
    pub fn remember(&self, task: &Task) {
        self.seen.lock().tasks.insert(task.user.clone(), task.clone());
    }

    pub fn task(&self, user: &str) -> Option<Task> {
        self.seen.lock().tasks.get(user).cloned()
    }

    pub fn touch(&self, session: &str) {
        self.seen.lock().touched.insert(session.to_owned());
    }

    /// The sessions that a message was accepted in.
    pub fn sessions(&self) -> Vec<String> {
        let seen = self.seen.lock();
        let sessions: BTreeSet<_> = seen.accepted.iter().map(|(session, _)| session.clone()).collect();
        sessions.into_iter().collect()
    }

    pub fn touch_all(&self) {
        for session in self.sessions() {
            self.touch(&session);
        }
    }

    pub fn was_accepted(&self, session: &str, user: &str) -> bool {
        self.seen.lock().accepted.contains(&(session.to_owned(), user.to_owned()))
    }

    /// A client got this frame; a number that stood for something else before is reported.
    pub fn told(&self, session: &str, seq: Seq, kind: &str, outline: String, json: &str) {
        let boundary = is_boundary(kind, json);
        if boundary {
            self.boundaries.send_modify(|count| *count += 1);
        }
        let mut seen = self.seen.lock();
        let frames = seen.frames.entry(session.to_owned()).or_default();
        let content = if boundary { json.to_owned() } else { outline };
        match frames.get(&seq) {
            Some(before) if *before == content => {}
            Some(before) => {
                let text = format!("{session}: the number {seq} was told as {before} and as {content}");
                drop(seen);
                self.wrong(text);
            }
            None => {
                frames.insert(seq, content);
                if boundary {
                    seen.fresh.push(Told { session: session.to_owned(), seq, json: json.to_owned() });
                }
            }
        }
    }

    /// The boundary events that were sent since the last call.
    pub fn take_fresh(&self) -> Vec<Told> {
        std::mem::take(&mut self.seen.lock().fresh)
    }

    /// The sessions that a message was accepted in since the last call.
    pub fn take_touched(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.seen.lock().touched)
    }

    /// The highest number that any client got of each session.
    pub fn highest_told(&self) -> Vec<(String, Seq)> {
        let seen = self.seen.lock();
        let highest = |frames: &HashMap<Seq, String>| frames.keys().max().copied().unwrap_or(0);
        seen.frames.iter().map(|(session, frames)| (session.clone(), highest(frames))).collect()
    }

    /// Every user message of a session that was accepted.
    pub fn accepted_in(&self, session: &str) -> Vec<String> {
        let seen = self.seen.lock();
        seen.accepted.iter().filter(|(of, _)| of == session).map(|(_, user)| user.clone()).collect()
    }
}

/// What a client may rely on once it has seen it.
fn is_boundary(kind: &str, json: &str) -> bool {
    match kind {
        "start"
        | "finish"
        | "abort"
        | "error"
        | "tool-input-available"
        | "tool-input-error"
        | "tool-approval-request"
        | "tool-output-error"
        | "tool-output-denied" => true,
        "tool-output-available" => !json.contains("\"preliminary\":true"),
        _ => false,
    }
}
