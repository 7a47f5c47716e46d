//! What must hold of the stored data after every kill, read from the file itself and through the API.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
    sync::Arc,
};

use parking_lot::Mutex;
use protocol::{
    MessageFold, MessageId, Seq, SessionEvent, SessionId, UiMessage, WorkspaceId, event::LogEntry,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use store::{Log, Sessions, SqliteStore};
use tokio::time::{Duration, Instant, sleep};

use crate::{
    course::Course,
    http::{Got, Http},
    world::{Told, World},
};

pub struct Audit {
    world: Arc<World>,
    http: Http,
    /// Ended answers that were looked at before.
    known: Mutex<HashSet<MessageId>>,
}

impl Audit {
    pub fn new(world: Arc<World>) -> Self {
        let http = Http::new(&world.url);
        Self { world, http, known: Mutex::default() }
    }

    /// After each kill: the file is whole, and no number was sent above what it reserves. Within that bound the
    /// high-water mark may fall, since the end of a run gives back what it reserved and never used.
    pub fn file(&self, database: &Path) {
        let told = self.world.highest_told();
        let connection = read_only(database);
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        if verdict != "ok" {
            self.world.wrong(format!("integrity_check: {verdict}"));
        }
        self.world.count("integrity checks", 1);
        for (session, highest) in told {
            let mut statement =
                connection.prepare_cached("SELECT high_water FROM sessions WHERE id = ?1").unwrap();
            let kept: i64 = statement.query_row([&session], |row| row.get(0)).unwrap_or(0);
            if kept < i64::try_from(highest).unwrap() {
                self.world.wrong(format!("{session}: {highest} was told, the high-water mark is {kept}"));
            }
        }
    }

    /// At rest: nothing runs, and every session that was touched is as its clients saw it.
    pub async fn whole(&self, database: &Path, copy: &Path) {
        self.file(database);
        let sessions = self.world.take_touched();
        let mut fresh: BTreeMap<String, Vec<Told>> = BTreeMap::new();
        for told in self.world.take_fresh() {
            fresh.entry(told.session.clone()).or_default().push(told);
        }
        let names: Vec<_> = sessions.iter().chain(fresh.keys()).cloned().collect();
        let connection = read_only(database);
        let running: i64 = connection
            .query_row("SELECT count(*) FROM runs WHERE status = 'running'", [], |row| row.get(0))
            .unwrap();
        if running > 0 {
            self.world.wrong(format!("{running} runs are on although everybody rests"));
        }
        // A copy, so that no connection of ours helps the next process to recover the file.
        connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).unwrap();
        drop(connection);
        let store = SqliteStore::open(copy).unwrap();
        for name in names.into_iter().collect::<HashSet<_>>() {
            let Some(log) = log(&store, &name).await else {
                self.world.wrong(format!("{name}: the session is not stored"));
                continue;
            };
            self.numbers(&name, &log);
            self.boundaries(&name, &log, fresh.get(&name).map_or(&[], Vec::as_slice));
            self.messages(&name, &log).await;
        }
        drop(store);
        std::fs::remove_file(copy).unwrap();
    }

    fn numbers(&self, session: &str, log: &[LogEntry]) {
        if let Some(two) = log.windows(2).find(|two| two[0].seq >= two[1].seq) {
            self.world.wrong(format!("{session}: {} is followed by {}", two[0].seq, two[1].seq));
        }
    }

    /// What a client saw is in the log, under the number it saw.
    fn boundaries(&self, session: &str, log: &[LogEntry], told: &[Told]) {
        for told in told {
            let kept = kept_as(log, told.seq);
            if kept.as_deref() != Some(told.json.as_str()) {
                let (seq, json) = (told.seq, &told.json);
                self.world.wrong(format!("{session}: {seq} was told as {json} and is kept as {kept:?}"));
            }
        }
        self.world.count("boundary events verified", told.len() as u64);
    }

    async fn messages(&self, session: &str, log: &[LogEntry]) {
        let history = self.json(&format!("/api/chat/{session}/messages")).await;
        let history: Vec<UiMessage> = serde_json::from_value(history).unwrap_or_default();
        let mut ids = HashSet::new();
        for message in &history {
            if !ids.insert(message.id.clone()) {
                self.world.wrong(format!("{session}: {} is in the history twice", message.id));
            }
        }
        for user in self.world.accepted_in(session) {
            if !ids.iter().any(|id| id.as_str() == user) {
                self.world.wrong(format!("{session}: {user} was accepted and is not in the history"));
            }
        }
        let status = self.json(&format!("/api/sessions/{session}")).await["status"].clone();
        for (place, pair) in history.chunks(2).enumerate() {
            let [user, answer] = pair else {
                self.world.wrong(format!("{session}: {} has no answer", pair[0].id));
                continue;
            };
            let last = 2 * (place + 1) == history.len();
            let waits = last && status == "waiting";
            match MessageFold::of(&answer.id, log) {
                Ok(fold) if waits || fold.message() == answer => {}
                other => {
                    self.world.wrong(format!("{session}: {answer:?} is not what its log says: {other:?}"))
                }
            }
            let events = log.iter().map(|entry| &entry.event);
            let events = events.filter(|event| event.message() == Some(&answer.id));
            let course = Course::of(events);
            for wrong in course.problems(answer, self.world.task(user.id.as_str()).as_ref(), waits) {
                self.world.wrong(format!("{session} {}: {wrong}", user.id));
            }
            if !waits && self.known.lock().insert(answer.id.clone()) {
                self.world.count("answers audited", 1);
                self.world.count("outcomes told as unknown", course.unknown());
            }
        }
        if status != "idle" && status != "waiting" {
            self.world.wrong(format!("{session} is {status} although everybody rests"));
        }
        let started = log.iter().filter(|entry| matches!(entry.event, SessionEvent::RunStarted { .. }));
        if started.count() * 2 != history.len() {
            self.world.wrong(format!("{session}: runs and messages do not match: {}", history.len()));
        }
    }

    /// Answers the questions that were left open, over the other surface, and waits for the end.
    pub async fn answer_open_questions(&self, sessions: &[String]) {
        for session in sessions {
            let info = format!("/api/sessions/{session}");
            if self.json(&info).await["status"] != "waiting" {
                continue;
            }
            let history = self.json(&format!("/api/chat/{session}/messages")).await;
            let parts = history.as_array().and_then(|all| all.last()).map(|last| last["parts"].clone());
            let asked = parts.iter().flat_map(|parts| parts.as_array().into_iter().flatten());
            for part in asked.filter(|part| part["state"] == "approval-requested") {
                let path = format!("/api/approvals/{}", part["approval"]["id"].as_str().unwrap_or_default());
                match self.http.post(&path, &serde_json::json!({ "approved": true })).await {
                    Got::Text(_) => self.world.count("open questions answered", 1),
                    _ => {
                        self.world.wrong(format!("{session}: the question that was left cannot be answered"))
                    }
                }
            }
            self.world.touch(session);
            let patience = Instant::now() + Duration::from_secs(20);
            while self.json(&info).await["status"] != "idle" {
                if Instant::now() > patience {
                    self.world.wrong(format!("{session}: stuck after the last answer"));
                    break;
                }
                sleep(Duration::from_millis(10)).await;
            }
        }
    }

    async fn json(&self, path: &str) -> Value {
        match self.http.get(path, None).await {
            Got::Text(text) => serde_json::from_str(&text).unwrap_or_default(),
            _ => {
                self.world.wrong(format!("{path} gives nothing"));
                Value::Null
            }
        }
    }
}

fn read_only(database: &Path) -> Connection {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection
}

/// The chunk that a client gets for the event with this number.
pub fn kept_as(log: &[LogEntry], seq: Seq) -> Option<String> {
    let place = log.binary_search_by_key(&seq, |entry| entry.seq).ok()?;
    let chunk = protocol::project::chat::chunk_of(&log[place].event)?;
    serde_json::to_string(&chunk).ok()
}

/// Everything a session wrote; `None` when it is not stored.
pub async fn log(store: &SqliteStore, session: &str) -> Option<Vec<LogEntry>> {
    let workspace = WorkspaceId::default_workspace();
    let record = store.session(&workspace, &SessionId::new(session)).await.unwrap()?;
    let mut entries: Vec<LogEntry> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |last| last.seq);
        let more = store.read_log(record.key, after, 1 << 20).await.unwrap();
        if more.is_empty() {
            return Some(entries);
        }
        entries.extend(more);
    }
}
