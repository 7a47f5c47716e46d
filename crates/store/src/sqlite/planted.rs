//! A long planted history: a few rows of the log at first, so that the answer need not wait. Its messages get their rows
//! when the session is next looked at, a few at a time, so that nobody else waits. It can be broken off and taken up
//! anywhere; a chat that nobody comes back to never costs more than that.

use protocol::{MessageId, Timestamp, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteStore,
    apply::{NewMessage, insert_message},
    chain, checksum, json,
};
use crate::{SessionKey, StoreError, row};

const AT_ONCE: usize = 256;

/// What is left to do for a session.
struct Planted {
    done: usize,
    at: Timestamp,
    messages: Vec<(MessageId, String)>,
}

impl SqliteStore {
    pub(super) async fn settle(&self, key: SessionKey) -> Result<(), StoreError> {
        while let Some(planted) = self.readers.read(move |connection| left(connection, key)).await? {
            let Planted { mut done, at, messages } = planted;
            let total = messages.len();
            let mut messages = messages.into_iter().skip(done);
            loop {
                let some: Vec<_> = messages.by_ref().take(AT_ONCE).collect();
                let (from, count) = (done, some.len());
                let is_last = from + count == total;
                // The log has them all: rows that are lost are made again.
                let ours = self
                    .writer
                    .write_relaxed(move |connection| give_rows(connection, key, at, from, &some, is_last));
                if !ours.await? || is_last {
                    // Done, or somebody else is at it as well: look again.
                    break;
                }
                done += count;
            }
        }
        Ok(())
    }
}

fn left(connection: &Connection, key: SessionKey) -> Result<Option<Planted>, StoreError> {
    let done: Option<i64> = connection
        .prepare_cached("SELECT planted FROM sessions WHERE key = ?1")?
        .query_row([key.0], |row| row.get(0))
        .optional()?
        .flatten();
    let Some(done) = done else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT from_seq, to_seq, at, body, crc FROM log WHERE session = ?1 ORDER BY from_seq",
    )?;
    let mut rows = statement.query([key.0])?;
    let mut entries = Vec::new();
    // It is what the log begins with.
    while entries.iter().all(|entry: &LogEntry| entry.event.planted().is_some())
        && let Some(row) = rows.next()?
    {
        let (from, at, body) = checksum::log_text(key, row)?;
        row::decode(from, at, body, 0, &mut entries)?;
    }
    let at = entries.first().filter(|first| first.event.planted().is_some()).map(|first| first.at);
    let at = at.ok_or_else(|| StoreError::Corrupt("the planted history is not in the log".to_owned()))?;
    let mut messages = Vec::new();
    for planted in entries.iter().map_while(|entry| entry.event.planted()) {
        for message in planted.messages().map_err(StoreError::Corrupt)? {
            messages.push((message.id.clone(), json(&message)?));
        }
    }
    Ok(Some(Planted { done: usize::try_from(done).unwrap_or(0), at, messages }))
}

/// Gives some messages their rows; `false` when they have them already.
fn give_rows(
    connection: &Connection,
    key: SessionKey,
    at: Timestamp,
    from: usize,
    messages: &[(MessageId, String)],
    is_last: bool,
) -> Result<bool, StoreError> {
    let (done, tail, child): (Option<i64>, Option<i64>, Option<i64>) = connection
        .prepare_cached("SELECT planted, planted_tail, planted_child FROM sessions WHERE key = ?1")?
        .query_row([key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?
        .ok_or(StoreError::Conflict)?;
    if done.and_then(|done| usize::try_from(done).ok()) != Some(from) {
        return Ok(false);
    }
    let mut parent = tail;
    for (id, body) in messages {
        let new = NewMessage { parent, ..NewMessage::default() };
        parent = Some(insert_message(connection, key, id, body, new, at)?);
    }
    let done = (!is_last).then_some(i64::try_from(from + messages.len()).unwrap_or(i64::MAX));
    connection
        .prepare_cached("UPDATE sessions SET planted = ?2, planted_tail = ?3 WHERE key = ?1")?
        .execute(params![key.0, done, parent])?;
    if is_last {
        connection
            .prepare_cached("UPDATE messages SET parent = ?2 WHERE node = ?1")?
            .execute(params![child, parent])?;
        if let (Some(child), Some(parent)) = (child, parent) {
            chain::hang(connection, key, child, parent)?;
        }
    }
    Ok(true)
}
