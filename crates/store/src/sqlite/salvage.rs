//! Reads what a damaged database still has. These reads are slow and are used only when the usual ones fail.

use protocol::{MessageFold, MessageId, MessageRef, SessionEvent, Timestamp, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::{
    damage::DamageReport,
    log,
    messages::{BY_NODE, record},
    planted::SessionRead,
    sessions,
};
use crate::{MessageRecord, SessionCursor, SessionKey, SessionRecord, StoreError};

const UNREADABLE: &str =
    "This message is damaged in the database and cannot be read. Restore a backup to get it back.";

/// The name of a chat in damage reports.
pub(super) fn chat_name(connection: &Connection, key: SessionKey) -> String {
    let name = connection.prepare_cached("SELECT workspace, id FROM sessions WHERE key = ?1").and_then(
        |mut statement| {
            statement.query_row([key.0], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        },
    );
    match name {
        Ok((workspace, id)) => format!("chat {id} of workspace {workspace}"),
        Err(_) => format!("chat number {}", key.0),
    }
}

/// The JSON of a message that is shown instead of one that cannot be read.
pub(super) fn placeholder(id: &str, is_user: bool) -> String {
    let role = if is_user { "user" } else { "assistant" };
    json!({
        "id": id, "role": role, "metadata": { "damaged": true },
        "parts": [{ "type": "text", "text": UNREADABLE, "state": "done" }],
    })
    .to_string()
}

/// The reference that is used for a message whose row cannot be read.
pub(super) fn lost_leaf(node: i64) -> MessageRef {
    MessageRef::first(MessageId::new(format!("damaged-{node}")))
}

/// Whether this is the last message of the active branch, according to the row of the session.
pub(super) fn is_last(
    connection: &Connection,
    key: SessionKey,
    leaf: &MessageRef,
) -> Result<bool, StoreError> {
    let found: Option<(i64, Option<String>, Option<u32>)> = connection
        .prepare_cached(
            "SELECT s.leaf, m.id, m.revision FROM sessions s LEFT JOIN messages m ON m.node = s.leaf
             WHERE s.key = ?1 AND s.leaf IS NOT NULL",
        )?
        .query_row([key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(match found {
        Some((_, Some(id), Some(revision))) => id == leaf.id.as_str() && revision == leaf.revision,
        Some((node, ..)) => *leaf == lost_leaf(node),
        None => false,
    })
}

/// The body of a message whose row is damaged: from the log if possible, or else a placeholder.
pub(super) fn body(
    connection: &Connection,
    damage: &DamageReport,
    key: SessionKey,
    id: &str,
    revision: u32,
    stored: &[u8],
) -> String {
    let place = format!("{}, message {id}", chat_name(connection, key));
    if let Some(body) = from_log(connection, key, id, revision) {
        damage.note(place, "it does not match its checksum; it was read from the log instead");
        return body;
    }
    damage.note(place, "it does not match its checksum, and the log does not have it");
    let stored = String::from_utf8_lossy(stored);
    placeholder(id, stored.contains(r#""role":"user""#))
}

fn from_log(connection: &Connection, key: SessionKey, id: &str, revision: u32) -> Option<String> {
    let entries = log::read(connection, key, 0, usize::MAX).ok()?;
    for entry in &entries {
        match &entry.event {
            SessionEvent::MessageAccepted { message, revision: of, .. }
                if message.id.as_str() == id && *of == revision =>
            {
                return serde_json::to_string(message).ok();
            }
            SessionEvent::HistoryPlanted { messages } if revision == 0 => {
                let messages = messages.messages().ok()?;
                if let Some(message) = messages.iter().find(|message| message.id.as_str() == id) {
                    return serde_json::to_string(message).ok();
                }
            }
            _ => {}
        }
    }
    folded(&MessageId::new(id), &entries)
}

/// The JSON of an answer at its newest pause or end.
pub(super) fn folded(id: &MessageId, entries: &[LogEntry]) -> Option<String> {
    let is_pause_or_end = |entry: &LogEntry| {
        matches!(entry.event, SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. })
            && entry.event.message() == Some(id)
    };
    let last = entries.iter().rposition(is_pause_or_end)?;
    let fold = MessageFold::of(id, &entries[..=last]).ok()?;
    serde_json::to_string(fold.message()).ok()
}

/// The messages of a session up to `leaf`, in the order in which they were stored, with a placeholder for each that is
/// known to exist and cannot be read. At most `limit`, the newest.
pub(super) fn messages(
    connection: &Connection,
    damage: &DamageReport,
    key: SessionKey,
    leaf: i64,
    limit: u32,
) -> Vec<MessageRecord> {
    let mut nodes = numbers(connection, "SELECT node FROM messages WHERE session = ?1", key.0);
    nodes.extend(numbers(
        connection,
        "WITH RECURSIVE up (node, depth) AS (
             SELECT leaf, 0 FROM sessions WHERE key = ?1 AND leaf IS NOT NULL
             UNION ALL
             SELECT m.parent, up.depth + 1 FROM messages m JOIN up ON m.node = up.node
             WHERE m.parent IS NOT NULL AND up.depth < 100000
         )
         SELECT node FROM up",
        key.0,
    ));
    nodes.sort_unstable();
    nodes.dedup();
    nodes.retain(|node| *node <= leaf);
    let skipped = nodes.len().saturating_sub(limit as usize);
    let mut found = Vec::new();
    for node in nodes.into_iter().skip(skipped) {
        let read = connection.prepare_cached(BY_NODE).and_then(|mut statement| {
            statement.query_row([node], |row| Ok(record(connection, damage, key, row)))
        });
        found.push(match read.map_err(StoreError::from).and_then(|read| read) {
            Ok(message) => message,
            Err(error) => {
                damage.note(format!("{}, message number {node}", chat_name(connection, key)), error);
                let reference = lost_leaf(node);
                let body = placeholder(reference.id.as_str(), false);
                MessageRecord { reference, parent: None, created_at: Timestamp(0), body, facts: None }
            }
        });
    }
    found
}

/// Reads a page of the list of sessions row by row.
pub(super) fn sessions(
    connection: &Connection,
    damage: &DamageReport,
    workspace: &str,
    before: SessionCursor,
    limit: usize,
) -> Vec<SessionRead<SessionRecord>> {
    let mut keys = numbers(
        connection,
        "SELECT key FROM sessions INDEXED BY sessions_by_time WHERE workspace = ?1",
        workspace,
    );
    keys.extend(numbers(
        connection,
        "SELECT key FROM sessions INDEXED BY sqlite_autoindex_sessions_1 WHERE workspace = ?1",
        workspace,
    ));
    keys.extend(numbers(connection, "SELECT key FROM sessions NOT INDEXED WHERE workspace = ?1", workspace));
    keys.sort_unstable();
    keys.dedup();
    let mut found: Vec<_> = keys
        .into_iter()
        .filter_map(|key| match sessions::by_key_alone(connection, SessionKey(key)) {
            Ok(session) => session,
            Err(error) => {
                damage.note(format!("chat number {key}"), error);
                None
            }
        })
        .filter(|SessionRead { value: record, .. }| {
            record.workspace.as_str() == workspace && record.cursor() < before
        })
        .collect();
    found.sort_by_key(|session| std::cmp::Reverse(session.value.cursor()));
    found.truncate(limit);
    found
}

/// The numbers that a query returns, as far as it can be read.
fn numbers(connection: &Connection, query: &str, of: impl rusqlite::ToSql) -> Vec<i64> {
    let Ok(mut statement) = connection.prepare_cached(query) else { return Vec::new() };
    let Ok(rows) = statement.query_map(params![of], |row| row.get(0)) else { return Vec::new() };
    rows.map_while(Result::ok).collect()
}
