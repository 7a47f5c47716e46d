//! Proves a database: SQLite's own check of the file, the checksum of every row, and the tables against the log. Every
//! session's log is applied again, to an empty database of the same schema, and what comes of it is compared.

use std::collections::{BTreeMap, HashMap};

use protocol::{MessageFold, MessageId, SessionEvent, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params, types::Value};
use sha2::{Digest, Sha256};

use super::{
    apply::apply, encode::EncodedMessage, json, log, migrate, salvage, session_patch::SessionPatch, signed,
};
use crate::{SessionKey, StoreError};

/// What a look at a whole database found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub sessions: usize,
    /// One line each: what is damaged, and how.
    pub problems: Vec<String>,
}

/// More lines than this say nothing new.
const PROBLEMS: usize = 500;

/// What the log says of a session, table by table: columns that name a row first, times left out (a row of the log has the
/// moment it was stored, its events may be a little older).
const TABLES: [(&str, usize, &str); 9] = [
    (
        "message",
        2,
        "SELECT m.id, m.revision, p.id, p.revision, m.facts, m.body FROM messages m
         LEFT JOIN messages p ON p.node = m.parent WHERE m.session = ?1 ORDER BY 1, 2",
    ),
    (
        "run of",
        1,
        "SELECT r.message, r.id, m.id, m.revision, r.status, r.first_seq, r.last_resume, r.options FROM runs r
         LEFT JOIN messages m ON m.node = r.answers WHERE r.session = ?1 ORDER BY 1",
    ),
    (
        "sub-agent",
        1,
        "SELECT message, parent, call, root, chat, task, status, first_seq, last_resume, body FROM frames
         WHERE session = ?1 ORDER BY 1",
    ),
    (
        "question",
        1,
        "SELECT id, run, message, tool_call, tool, input, edited, status, reason, asked_seq FROM interactions
         WHERE session = ?1 ORDER BY 1",
    ),
    ("note", 1, "SELECT name, data FROM notes WHERE session = ?1 ORDER BY 1"),
    (
        "model call",
        1,
        "SELECT seq, message, model, input_tokens, output_tokens, total_tokens, cached_input_tokens, reasoning_tokens,
           duration_ms, run, agent, cache_write_tokens, cost, failed FROM usage WHERE session = ?1 ORDER BY 1",
    ),
    ("queued message", 1, "SELECT id, seq, body FROM queue WHERE session = ?1 ORDER BY 1"),
    (
        "file",
        1,
        "SELECT id, message, tool_call, name, media_type, bytes FROM artifacts WHERE session = ?1 ORDER BY 1",
    ),
    (
        "the chat's own row",
        0,
        "SELECT message_count, last_run, running, queued, preface, preface_agent, grants FROM sessions WHERE key = ?1",
    ),
];

/// Looks at everything. `progress` hears how many sessions of how many are done.
pub fn verify(
    connection: &Connection,
    mut progress: impl FnMut(usize, usize),
) -> Result<Verified, StoreError> {
    let mut problems = structure(connection)?;
    let keys = keys(connection, &mut problems);
    let rebuilt = Connection::open_in_memory()?;
    migrate::create(&rebuilt)?;
    for (done, key) in keys.iter().enumerate() {
        progress(done, keys.len());
        if problems.len() >= PROBLEMS {
            problems.push("more is damaged and not listed".to_owned());
            break;
        }
        let found = session(connection, &rebuilt, *key)?;
        if !found.is_empty() {
            let name = salvage::chat_name(connection, *key);
            problems.extend(found.into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    progress(keys.len(), keys.len());
    Ok(Verified { sessions: keys.len(), problems })
}

/// The file as SQLite sees it, and the schema as this program knows it.
fn structure(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    let checked = connection.prepare("PRAGMA integrity_check(50)").and_then(|mut statement| {
        statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
    });
    match checked {
        Ok(lines) => problems.extend(lines.into_iter().filter(|line| line != "ok")),
        Err(error) => problems.push(error.to_string()),
    }
    let fresh = Connection::open_in_memory()?;
    migrate::create(&fresh)?;
    match (schema(connection), schema(&fresh)) {
        (Ok(found), Ok(wanted)) if found == wanted => {}
        (Err(error), _) => problems.push(format!("the schema cannot be read: {error}")),
        _ => problems.push("the schema is not the one of this program".to_owned()),
    }
    Ok(problems)
}

fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_master ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Every session that anything in the database belongs to.
fn keys(connection: &Connection, problems: &mut Vec<String>) -> Vec<SessionKey> {
    let mut read = |query: &str| {
        let mut found = Vec::new();
        let rows = connection.prepare(query).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                found.push(row.get::<_, i64>(0)?);
            }
            Ok(())
        });
        if let Err(error) = rows {
            problems.push(format!("not every chat can be listed: {error}"));
        }
        found
    };
    let mut keys = read("SELECT key FROM sessions NOT INDEXED");
    keys.extend(read("SELECT key FROM sessions INDEXED BY sessions_by_time"));
    keys.extend(read("SELECT DISTINCT session FROM log"));
    keys.extend(read("SELECT DISTINCT session FROM messages"));
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().map(SessionKey).collect()
}

/// What is wrong with one session.
fn session(
    connection: &Connection,
    rebuilt: &Connection,
    key: SessionKey,
) -> Result<Vec<String>, StoreError> {
    let row = connection
        .prepare_cached("SELECT workspace, id, high_water, planted IS NOT NULL FROM sessions WHERE key = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([key.0], |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        row.get::<_, String>(1)?,
                        row.get::<_, i64>(2)?,
                        row.get(3)?,
                    ))
                })
                .optional()
        });
    let (workspace, id, high_water, unsettled): (_, _, _, bool) = match row {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(vec!["it is missing in the list of chats".to_owned()]),
        Err(error) => return Ok(vec![error.to_string()]),
    };
    let entries = match log::read(connection, key, 0, usize::MAX) {
        Ok(entries) => entries,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    let mut problems = Vec::new();
    if entries.windows(2).any(|two| two[0].seq >= two[1].seq) {
        problems.push("its events are out of order".to_owned());
    }
    if entries.last().is_some_and(|last| signed(last.seq) > high_water) {
        problems.push("it has events above its mark".to_owned());
    }
    rebuilt.execute(
        "INSERT INTO sessions (key, workspace, id, created_at, updated_at, high_water) VALUES (?1, ?2, ?3, 0, 0, 0)",
        params![key.0, workspace, id],
    )?;
    if let Err(error) = apply_again(rebuilt, key, &entries) {
        problems.push(error);
    } else {
        for (what, name, query) in TABLES {
            // Planted messages that have no rows yet are compared when they have.
            if !(unsettled && what == "message") {
                compare(connection, rebuilt, key, (what, name, query), &mut problems);
            }
        }
    }
    for table in
        ["messages", "forks", "runs", "frames", "interactions", "notes", "usage", "queue", "artifacts"]
    {
        rebuilt.prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?.execute([key.0])?;
    }
    rebuilt.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key.0])?;
    Ok(problems)
}

/// Applies a log to the empty tables, as it was applied when it was written.
fn apply_again(rebuilt: &Connection, key: SessionKey, entries: &[LogEntry]) -> Result<(), String> {
    let mut patch = SessionPatch::default();
    let mut folds: HashMap<MessageId, MessageFold> = HashMap::new();
    for entry in entries {
        let mut folded = Vec::new();
        if let Some(id) = entry.event.message() {
            let fold = folds.entry(id.clone()).or_insert_with(|| MessageFold::new(id.clone()));
            fold.event(&entry.event).map_err(|error| format!("event {}: {error}", entry.seq))?;
            if matches!(entry.event, SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. }) {
                let body = json(fold.message()).map_err(|error| error.to_string())?;
                folded.push(EncodedMessage { id: id.clone(), body });
            }
        }
        apply(rebuilt, key, &mut patch, entry, &folded)
            .map_err(|error| format!("event {} does not follow from those before: {error}", entry.seq))?;
    }
    patch.write(rebuilt, key, protocol::Timestamp(0), None).map_err(|error| error.to_string())
}

fn compare(
    stored: &Connection,
    rebuilt: &Connection,
    key: SessionKey,
    (what, named_by, query): (&str, usize, &str),
    problems: &mut Vec<String>,
) {
    let (stored, rebuilt) = match (rows(stored, query, key, named_by), rows(rebuilt, query, key, named_by)) {
        (Ok(stored), Ok(rebuilt)) => (stored, rebuilt),
        (Err(error), _) | (_, Err(error)) => return problems.push(format!("{what}: {error}")),
    };
    for (name, row) in &stored {
        match rebuilt.get(name) {
            Some(same)
                if row.len() == same.len() && row.iter().zip(same).all(|(one, other)| equal(one, other)) => {}
            Some(_) => problems.push(format!("{what} {name} is not what the log says")),
            None => problems.push(format!("{what} {name} is not in the log")),
        }
    }
    for name in rebuilt.keys().filter(|name| !stored.contains_key(*name)) {
        problems.push(format!("{what} {name} is missing"));
    }
}

fn rows(
    connection: &Connection,
    query: &str,
    key: SessionKey,
    named_by: usize,
) -> rusqlite::Result<BTreeMap<String, Vec<Value>>> {
    let mut statement = connection.prepare_cached(query)?;
    let columns = statement.column_count();
    let mut rows = statement.query([key.0])?;
    let mut all = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let values =
            (0..columns).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<_>>>()?;
        let name: Vec<String> = values[..named_by].iter().map(shown).collect();
        all.insert(name.join(" revision "), values);
    }
    Ok(all)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// JSON may be written otherwise by another version of this program.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) if one != other => {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
            matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
        }
        (one, other) => one == other,
    }
}

/// One number for everything a session has in every table, to compare two copies; `None` when a row cannot be read.
pub(super) fn digest(connection: &Connection, key: SessionKey) -> Option<[u8; 32]> {
    let mut hasher = Sha256::new();
    for (table, column) in [
        ("sessions", "key"),
        ("log", "session"),
        ("messages", "session"),
        ("forks", "session"),
        ("runs", "session"),
        ("frames", "session"),
        ("interactions", "session"),
        ("notes", "session"),
        ("usage", "session"),
        ("queue", "session"),
        ("artifacts", "session"),
    ] {
        let mut statement = connection
            .prepare_cached(&format!("SELECT * FROM {table} WHERE {column} = ?1 ORDER BY 1, 2, 3"))
            .ok()?;
        let columns = statement.column_count();
        let mut rows = statement.query([key.0]).ok()?;
        while let Some(row) = rows.next().ok()? {
            for column in 0..columns {
                hasher.update(format!("{:?}\u{0}", row.get::<_, Value>(column).ok()?));
            }
        }
    }
    Some(hasher.finalize().into())
}
