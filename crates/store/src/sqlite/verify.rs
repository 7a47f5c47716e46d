//! Verifies a database: SQLite's own check of the file, the checksum of every row, and the tables against the log. The log
//! of every session is applied again to an empty database of the same schema, and the resulting tables are compared.

use std::collections::{BTreeMap, HashMap};

use protocol::{MessageFold, MessageId, SessionEvent, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params, types::Value};
use sha2::{Digest, Sha256};

use super::{
    apply::apply, encode::EncodedMessage, json, log, migrate, rules::read_session_rules, salvage,
    session_patch::SessionPatch, signed,
};
use crate::{SessionKey, StoreError};

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    pub sessions: usize,
    /// What is damaged and how, one line each.
    pub problems: Vec<String>,
}

/// The verification stops after this many problems.
const MAX_PROBLEMS: usize = 500;

/// A table that is derived from the log, and how to compare it.
struct DerivedTable {
    /// What one row is, for reports.
    noun: &'static str,
    /// How many of the first columns name a row.
    name_columns: usize,
    /// Times are left out: a row of the log has the time at which it was stored, and its events may be a little older.
    query: &'static str,
}

const TABLES: [DerivedTable; 12] = [
    DerivedTable {
        noun: "message",
        name_columns: 2,
        query: "SELECT m.id, m.revision, p.id, p.revision, m.facts, m.body FROM messages m
         LEFT JOIN messages p ON p.node = m.parent WHERE m.session = ?1 ORDER BY 1, 2",
    },
    DerivedTable {
        noun: "run of",
        name_columns: 1,
        query: "SELECT r.message, r.id, m.id, m.revision, r.status, r.first_seq, r.last_resume, r.options FROM runs r
         LEFT JOIN messages m ON m.node = r.answers WHERE r.session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "sub-agent",
        name_columns: 1,
        query: "SELECT message, parent, call, root, chat, task, status, first_seq, last_resume, body FROM frames
         WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "question",
        name_columns: 1,
        query: "SELECT id, run, message, tool_call, tool, input, edited, status, reason, asked_seq, question, kind, answers, answered_by FROM interactions
         WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "note",
        name_columns: 1,
        query: "SELECT name, data FROM notes WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "model call",
        name_columns: 1,
        query: "SELECT seq, message, model, input_tokens, output_tokens, total_tokens, cached_input_tokens, reasoning_tokens,
           duration_ms, run, agent, cache_write_tokens, cost, failed FROM usage WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "queued message",
        name_columns: 1,
        query: "SELECT id, seq, body FROM queue WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "file",
        name_columns: 1,
        query: "SELECT id, message, tool_call, name, media_type, bytes FROM artifacts WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "change set",
        name_columns: 1,
        query: "SELECT id, seq, message, tool_call, tool, agent, status, error FROM change_sets
         WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "changed file",
        name_columns: 2,
        query: "SELECT change_set, place, path, before_content, before_bytes, before_mode, after_content, after_bytes,
           after_mode, known_before FROM changed_files WHERE session = ?1 ORDER BY 1, 2",
    },
    DerivedTable {
        noun: "version of the file",
        name_columns: 1,
        query: "SELECT path, version FROM known_files WHERE session = ?1 ORDER BY 1",
    },
    DerivedTable {
        noun: "the chat's own row",
        name_columns: 0,
        query: "SELECT message_count, last_run, running, queued, preface, preface_agent, rules, agent FROM sessions WHERE key = ?1",
    },
];

/// Verifies the whole database. `progress` is called with the number of verified sessions and of all sessions.
pub fn verify(
    connection: &Connection,
    mut progress: impl FnMut(usize, usize),
) -> Result<VerifyReport, StoreError> {
    let mut problems = structure(connection)?;
    let keys = keys(connection, &mut problems);
    let rebuilt = Connection::open_in_memory()?;
    migrate::create(&rebuilt)?;
    for (done, key) in keys.iter().enumerate() {
        progress(done, keys.len());
        if problems.len() >= MAX_PROBLEMS {
            problems.push("the verification stopped here; there may be more damage".to_owned());
            break;
        }
        let found = session(connection, &rebuilt, *key)?;
        if !found.is_empty() {
            let name = salvage::chat_name(connection, *key);
            problems.extend(found.into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    progress(keys.len(), keys.len());
    Ok(VerifyReport { sessions: keys.len(), problems })
}

/// Checks the file with SQLite's own check, and the schema against that of this program.
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
        _ => problems.push("the schema is not that of this version of the program".to_owned()),
    }
    Ok(problems)
}

fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_master ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The keys of all sessions, also of those that are missing in some table or index.
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

/// Returns what is wrong with one session.
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
    let (workspace, id, high_water, history_is_pending): (_, _, _, bool) = match row {
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
        problems.push("it has events with numbers above its high-water mark".to_owned());
    }
    rebuilt.execute(
        "INSERT INTO sessions (key, workspace, id, created_at, updated_at, high_water) VALUES (?1, ?2, ?3, 0, 0, 0)",
        params![key.0, workspace, id],
    )?;
    if let Err(error) = apply_again(rebuilt, key, &entries) {
        problems.push(error);
    } else {
        for table in &TABLES {
            // Planted messages that have no rows yet cannot be compared.
            if !(history_is_pending && table.noun == "message") {
                compare(connection, rebuilt, key, table, &mut problems);
            }
        }
    }
    for table in [
        "messages",
        "forks",
        "runs",
        "frames",
        "interactions",
        "notes",
        "usage",
        "queue",
        "artifacts",
        "change_sets",
        "changed_files",
        "known_files",
    ] {
        rebuilt.prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?.execute([key.0])?;
    }
    // Rules of the workspace are not compared: they outlive the session that they were given in, and can be revoked.
    rebuilt.prepare_cached("DELETE FROM rules")?.execute([])?;
    rebuilt.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key.0])?;
    Ok(problems)
}

/// Applies a log to empty tables, as it was applied when it was written.
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
            .map_err(|error| format!("event {} does not fit the events before it: {error}", entry.seq))?;
    }
    patch.write(rebuilt, key, protocol::Timestamp(0), None).map_err(|error| error.to_string())
}

fn compare(
    stored: &Connection,
    rebuilt: &Connection,
    key: SessionKey,
    table: &DerivedTable,
    problems: &mut Vec<String>,
) {
    let noun = table.noun;
    let (stored, rebuilt) = match (rows(stored, table, key), rows(rebuilt, table, key)) {
        (Ok(stored), Ok(rebuilt)) => (stored, rebuilt),
        (Err(error), _) | (_, Err(error)) => return problems.push(format!("{noun}: {error}")),
    };
    for (name, row) in &stored {
        match rebuilt.get(name) {
            Some(same)
                if row.len() == same.len() && row.iter().zip(same).all(|(one, other)| equal(one, other)) => {}
            Some(_) => problems.push(format!("{noun} {name} is not what the log says")),
            None => problems.push(format!("{noun} {name} is not in the log")),
        }
    }
    for name in rebuilt.keys().filter(|name| !stored.contains_key(*name)) {
        problems.push(format!("{noun} {name} is missing"));
    }
}

fn rows(
    connection: &Connection,
    table: &DerivedTable,
    key: SessionKey,
) -> rusqlite::Result<BTreeMap<String, Vec<Value>>> {
    let mut statement = connection.prepare_cached(table.query)?;
    let columns = statement.column_count();
    let mut rows = statement.query([key.0])?;
    let mut all = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let values =
            (0..columns).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<_>>>()?;
        let name: Vec<String> = values[..table.name_columns].iter().map(shown).collect();
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

/// Compares two values. Texts that are different JSON for the same value, or for the same rules, are equal: another
/// version of this program may have written them.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) if one != other => {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
            let rules = |text: &str| read_session_rules(Some(text)).ok();
            matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
                || matches!((rules(one), rules(other)), (Some(one), Some(other)) if one == other)
        }
        (one, other) => one == other,
    }
}

/// A hash over all rows of a session in all tables, to compare two copies; `None` when a row cannot be read.
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
        ("change_sets", "session"),
        ("changed_files", "session"),
        ("known_files", "session"),
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
