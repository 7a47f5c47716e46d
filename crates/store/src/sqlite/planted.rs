//! Message rows of a planted history, the conversation that a client brings along when it starts a session.
//!
//! A long history is first stored as a few rows of the log, so that the first answer does not have to wait. Its messages
//! get their rows before the first read that needs them, in batches, so that other writes can commit in between. The work
//! can stop after any batch and continue later, also in another process. Callers of the store notice nothing of this.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use protocol::{Timestamp, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteStore, chain, checksum,
    encode::EncodedMessage,
    json,
    message_rows::{self, NewMessage},
};
use crate::{SessionKey, StoreError, row};

/// How many messages get their rows in one transaction.
const BATCH: usize = 256;

/// The sessions with planted messages that have no rows yet, as far as callers know their keys.
///
/// A caller gets the key of a session from the append that created it or from a read; both add the key here when rows
/// are missing (the read finds the mark in the row of the session). So a read of messages needs no query to find out
/// that all rows are there.
#[derive(Default)]
pub(super) struct PendingHistories {
    /// Whether `keys` has any element. Usually it has none, and then no lock is taken. Changed under the lock only.
    any: AtomicBool,
    keys: Mutex<HashSet<SessionKey>>,
}

/// Something that was read of a session, and whether planted messages of the session have no rows yet.
pub(super) struct SessionRead<T> {
    pub(super) key: SessionKey,
    pub(super) has_pending_history: bool,
    pub(super) value: T,
}

impl PendingHistories {
    pub(super) fn add(&self, key: SessionKey) {
        let mut keys = self.keys.lock();
        keys.insert(key);
        self.any.store(true, Ordering::Release);
    }

    pub(super) fn remove(&self, key: SessionKey) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        let mut keys = self.keys.lock();
        keys.remove(&key);
        self.any.store(!keys.is_empty(), Ordering::Release);
    }

    /// Remembers the session if its history is pending; returns what was read.
    pub(super) fn note<T>(&self, read: SessionRead<T>) -> T {
        if read.has_pending_history {
            self.add(read.key);
        }
        read.value
    }

    pub(super) fn note_all<T>(&self, read: Vec<SessionRead<T>>) -> Vec<T> {
        read.into_iter().map(|read| self.note(read)).collect()
    }

    fn contains(&self, key: SessionKey) -> bool {
        self.any.load(Ordering::Acquire) && self.keys.lock().contains(&key)
    }
}

/// The planted messages of a session, of which the first `stored` have rows.
struct PlantedHistory {
    stored: usize,
    at: Timestamp,
    messages: Vec<EncodedMessage>,
}

impl SqliteStore {
    /// Makes sure that all messages of the session have rows. Every read of messages calls this first.
    pub(super) async fn complete_history(&self, key: SessionKey) -> Result<(), StoreError> {
        if !self.pending_histories.contains(key) {
            return Ok(());
        }
        while let Some(history) = self.readers.read(move |connection| pending(connection, key)).await? {
            let PlantedHistory { mut stored, at, messages } = history;
            let total = messages.len();
            let mut messages = messages.into_iter().skip(stored);
            loop {
                let batch: Vec<_> = messages.by_ref().take(BATCH).collect();
                let (from, count) = (stored, batch.len());
                let is_last = from + count == total;
                // Relaxed: the log has all of them, so rows that a power loss takes are inserted again.
                let inserted = self
                    .writer
                    .write_relaxed(move |connection| insert_rows(connection, key, at, from, &batch, is_last));
                if !inserted.await? || is_last {
                    // All rows are there, or another caller inserts them as well: read again what is missing.
                    break;
                }
                stored += count;
            }
        }
        self.pending_histories.remove(key);
        Ok(())
    }
}

/// Inserts all missing rows in the transaction of the caller; returns `false` when none was missing. For an append that
/// refers to a planted message without having read it.
pub(super) fn store_now(connection: &Connection, key: SessionKey) -> Result<bool, StoreError> {
    match pending(connection, key)? {
        Some(PlantedHistory { stored, at, messages }) => {
            insert_rows(connection, key, at, stored, &messages[stored.min(messages.len())..], true)
        }
        None => Ok(false),
    }
}

/// The planted history of a session, read from its log; `None` when all its messages have rows.
fn pending(connection: &Connection, key: SessionKey) -> Result<Option<PlantedHistory>, StoreError> {
    let stored: Option<i64> = connection
        .prepare_cached("SELECT planted FROM sessions WHERE key = ?1")?
        .query_row([key.0], |row| row.get(0))
        .optional()?
        .flatten();
    let Some(stored) = stored else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT from_seq, to_seq, at, body, crc FROM log WHERE session = ?1 ORDER BY from_seq",
    )?;
    let mut rows = statement.query([key.0])?;
    let mut entries = Vec::new();
    // The log begins with the planted history.
    while entries.iter().all(|entry: &LogEntry| entry.event.planted().is_some())
        && let Some(row) = rows.next()?
    {
        let stored = checksum::log_row(key, row)?;
        row::decode(stored.from, stored.at, stored.body, 0, &mut entries)?;
    }
    let at = entries.first().filter(|first| first.event.planted().is_some()).map(|first| first.at);
    let at = at.ok_or_else(|| StoreError::Corrupt("the planted history is not in the log".to_owned()))?;
    let mut messages = Vec::new();
    for planted in entries.iter().map_while(|entry| entry.event.planted()) {
        for message in planted.messages().map_err(StoreError::Corrupt)? {
            messages.push(EncodedMessage { body: json(&message)?, id: message.id });
        }
    }
    Ok(Some(PlantedHistory { stored: usize::try_from(stored).unwrap_or(0), at, messages }))
}

/// Inserts the rows of the messages from number `from` on; returns `false` when another caller has inserted them.
fn insert_rows(
    connection: &Connection,
    key: SessionKey,
    at: Timestamp,
    from: usize,
    messages: &[EncodedMessage],
    is_last: bool,
) -> Result<bool, StoreError> {
    let (stored, tail, child): (Option<i64>, Option<i64>, Option<i64>) = connection
        .prepare_cached("SELECT planted, planted_tail, planted_child FROM sessions WHERE key = ?1")?
        .query_row([key.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?
        .ok_or(StoreError::Conflict)?;
    if stored.and_then(|stored| usize::try_from(stored).ok()) != Some(from) {
        return Ok(false);
    }
    let mut parent = tail;
    for EncodedMessage { id, body } in messages {
        let new = NewMessage { id, revision: 0, parent, body, facts: None };
        parent = Some(message_rows::insert(connection, key, &new, at)?);
    }
    let stored = (!is_last).then_some(i64::try_from(from + messages.len()).unwrap_or(i64::MAX));
    connection
        .prepare_cached("UPDATE sessions SET planted = ?2, planted_tail = ?3 WHERE key = ?1")?
        .execute(params![key.0, stored, parent])?;
    if is_last {
        // The first message after the history was stored without a parent.
        connection
            .prepare_cached("UPDATE messages SET parent = ?2 WHERE node = ?1")?
            .execute(params![child, parent])?;
        if let (Some(child), Some(parent)) = (child, parent) {
            chain::insert_fork(connection, key, child, parent)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_with_missing_rows_are_remembered_until_they_are_complete() {
        let pending = PendingHistories::default();
        let read = |key: i64, has_pending_history| SessionRead {
            key: SessionKey(key),
            has_pending_history,
            value: key,
        };
        assert_eq!(pending.note_all(vec![read(1, true), read(2, false), read(3, true)]), [1, 2, 3]);
        let is_pending = |key| pending.contains(SessionKey(key));
        assert!(is_pending(1) && !is_pending(2) && is_pending(3));
        pending.remove(SessionKey(1));
        assert!(!is_pending(1) && is_pending(3));
        pending.remove(SessionKey(3));
        assert!(!is_pending(3) && !pending.any.load(Ordering::Acquire));
    }
}
