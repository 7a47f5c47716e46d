//! The log: appends rows together with what they mean to the tables, and reads them from any number on.

use std::sync::{Arc, atomic::Ordering};

use async_trait::async_trait;
use protocol::{Seq, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteStore,
    apply::apply,
    checksum,
    encode::{EncodedAppend, EncodedRow},
    notes,
    session_patch::SessionPatch,
    signed, unsigned,
};
use crate::{Append, Log, Row, SessionKey, StoreError, record::SessionTarget, row};

#[async_trait]
impl Log for SqliteStore {
    async fn append(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        let encoded = EncodedAppend::new(&append)?;
        let next_key = self.next_key.load(Ordering::Relaxed);
        let has_boundary = append.rows.iter().any(is_boundary);
        // A new high-water mark must be durable as well: no number may be used twice.
        let is_relaxed = !has_boundary && append.high_water.is_none();
        let is_brief = has_boundary && encoded.bytes() <= BRIEF;
        let history_is_pending = SessionPatch::of(&append.rows).history_is_pending();
        let work = move |connection: &Connection| write(connection, next_key, &append, &encoded);
        let key = if is_brief {
            self.writer.write_briefly(work).await?
        } else if is_relaxed {
            self.writer.write_relaxed(work).await?
        } else {
            self.writer.write(work).await?
        };
        self.note_append(key, history_is_pending);
        Ok(key)
    }

    async fn append_past(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        let encoded = EncodedAppend::with_own_times(&append)?;
        let next_key = self.next_key.load(Ordering::Relaxed);
        let history_is_pending = SessionPatch::of(&append.rows).history_is_pending();
        let work = move |connection: &Connection| write(connection, next_key, &append, &encoded);
        let key = self.writer.write(work).await?;
        self.note_append(key, history_is_pending);
        Ok(key)
    }

    async fn read_log(
        &self,
        key: SessionKey,
        after: Seq,
        max_bytes: usize,
    ) -> Result<Vec<LogEntry>, StoreError> {
        self.readers.read(move |connection| read(connection, key, after, max_bytes)).await
    }

    async fn is_stored(&self, key: SessionKey, seq: Seq) -> Result<bool, StoreError> {
        self.look_up(move |connection| {
            let last: Option<i64> = connection
                .prepare_cached(
                    "SELECT to_seq FROM log WHERE session = ?1 AND from_seq <= ?2
                     ORDER BY from_seq DESC LIMIT 1",
                )?
                .query_row(params![key.0, signed(seq)], |row| row.get(0))
                .optional()?;
            Ok(last.is_some_and(|last| unsigned(last) >= seq))
        })
        .await
    }

    async fn latest_data(
        &self,
        key: SessionKey,
        name: &str,
    ) -> Result<Option<serde_json::Value>, StoreError> {
        let name = name.to_owned();
        self.look_up(move |connection| notes::latest(connection, key, &name)).await
    }
}

/// About as many bytes are written within a fraction of a millisecond.
const BRIEF: usize = 64 * 1024;

fn is_boundary(row: &Row) -> bool {
    matches!(row, Row::Event(entry) if entry.event.is_boundary())
}

impl SqliteStore {
    fn note_append(&self, key: SessionKey, history_is_pending: bool) {
        self.next_key.fetch_max(key.0 + 1, Ordering::Relaxed);
        if history_is_pending {
            self.pending_histories.add(key);
        }
    }
}

/// Writes an append in a transaction. A new session gets a key of at least `next_key`.
fn write(
    connection: &Connection,
    next_key: i64,
    append: &Append,
    encoded: &EncodedAppend,
) -> Result<SessionKey, StoreError> {
    let mut high_water = append.high_water.map(signed);
    let key = match &append.target {
        SessionTarget::Known(key) => *key,
        SessionTarget::New { workspace, id } => {
            connection
                .prepare_cached(
                    "INSERT INTO sessions (key, workspace, id, created_at, updated_at, high_water)
                     VALUES (max(?1, (SELECT coalesce(max(key), 0) + 1 FROM sessions)), ?2, ?3, ?4, ?4, ?5)",
                )?
                .execute(params![
                    next_key,
                    workspace.as_str(),
                    id.as_str(),
                    append.at.0,
                    high_water.take().unwrap_or(0)
                ])?;
            SessionKey(connection.last_insert_rowid())
        }
    };
    for EncodedRow { from, to, at, body, crc } in &encoded.rows {
        let crc = checksum::of_log(crc.clone(), key, *from, *to, *at);
        connection
            .prepare_cached(
                "INSERT INTO log (session, from_seq, to_seq, at, body, crc) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![key.0, signed(*from), signed(*to), at.0, body, crc])?;
    }
    let mut patch = SessionPatch::of(&append.rows);
    for row in &append.rows {
        if let Row::Event(entry) = row {
            apply(connection, key, &mut patch, entry, &encoded.messages)?;
        }
    }
    patch.write(connection, key, append.at, high_water)?;
    Ok(key)
}

pub(super) fn read(
    connection: &Connection,
    key: SessionKey,
    after: Seq,
    max_bytes: usize,
) -> Result<Vec<LogEntry>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT from_seq, to_seq, at, body, crc FROM log
         WHERE session = ?1 AND to_seq > ?2
           AND from_seq >= coalesce((SELECT max(from_seq) FROM log WHERE session = ?1 AND from_seq <= ?2), 0)
         ORDER BY from_seq",
    )?;
    let mut rows = statement.query(params![key.0, signed(after)])?;
    let mut entries = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let stored = checksum::log_row(key, row)?;
        bytes += stored.body.len();
        row::decode(stored.from, stored.at, stored.body, after, &mut entries)?;
        if bytes >= max_bytes {
            break;
        }
    }
    Ok(entries)
}
