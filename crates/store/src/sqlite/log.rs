//! The log itself: append with all it means, read from any number.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use protocol::{MessageId, Part, Seq, Timestamp, UiMessage, event::LogEntry};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteStore,
    apply::{SessionPatch, apply},
    checksum, json, parse, signed, unsigned,
};
use crate::{Append, Log, Row, SessionKey, StoreError, record::SessionTarget, row};

#[async_trait]
impl Log for SqliteStore {
    async fn append(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        // Everything that can be done before the one writer thread is done before it.
        let text = Text::of(&append, &row::bodies(&append.rows))?;
        let next = self.next_key.load(Ordering::Relaxed);
        let has_boundary = append.rows.iter().any(is_boundary);
        // The mark must last as well: a number is never given twice.
        let relaxed = !has_boundary && append.high_water.is_none();
        let plants = SessionPatch::of(&append.rows).plants_later();
        let brief = has_boundary && text.bytes() <= BRIEF;
        let work = move |connection: &Connection| write(connection, next, &append, &text);
        let key = if brief {
            self.writer.write_briefly(work).await?
        } else if relaxed {
            self.writer.write_relaxed(work).await?
        } else {
            self.writer.write(work).await?
        };
        self.note_append(key, plants);
        Ok(key)
    }

    async fn append_past(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        let moments = append.rows.chunk_by(|one, next| one.at() == next.at());
        let bodies: Vec<_> = moments.flat_map(row::bodies).collect();
        let mut text = Text::of(&append, &bodies)?;
        for (body, rows) in text.bodies.iter_mut().zip(&bodies) {
            body.at = rows.first().map_or(append.at, Row::at);
        }
        drop(bodies);
        let next = self.next_key.load(Ordering::Relaxed);
        let plants = SessionPatch::of(&append.rows).plants_later();
        let key = self.writer.write(move |connection| write(connection, next, &append, &text)).await?;
        self.note_append(key, plants);
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
            let row: Option<i64> = connection
                .prepare_cached(
                    "SELECT to_seq FROM log WHERE session = ?1 AND from_seq <= ?2
                     ORDER BY from_seq DESC LIMIT 1",
                )?
                .query_row(params![key.0, signed(seq)], |row| row.get(0))
                .optional()?;
            Ok(row.is_some_and(|to| unsigned(to) >= seq))
        })
        .await
    }

    async fn latest_data(
        &self,
        key: SessionKey,
        name: &str,
    ) -> Result<Option<serde_json::Value>, StoreError> {
        let name = name.to_owned();
        self.look_up(move |connection| {
            connection
                .prepare_cached("SELECT data FROM notes WHERE session = ?1 AND name = ?2")?
                .query_row(params![key.0, name], |row| row.get::<_, String>(0))
                .optional()?
                .map(|data| parse(&data))
                .transpose()
        })
        .await
    }
}

/// About as much text is written within a fraction of a millisecond.
const BRIEF: usize = 64 * 1024;

/// Whether it must be stored before anybody sees it.
fn is_boundary(row: &Row) -> bool {
    matches!(row, Row::Event(entry) if entry.event.is_boundary())
}

/// An append as it will be written.
struct Text {
    bodies: Vec<Body>,
    messages: Vec<(MessageId, String)>,
}

/// One row of the log.
struct Body {
    from: Seq,
    to: Seq,
    at: Timestamp,
    text: String,
    /// Begun with the text; finished when the session is known.
    crc: crc32fast::Hasher,
}

impl Text {
    fn of(append: &Append, rows: &[&[Row]]) -> Result<Self, StoreError> {
        let mut bodies = Vec::with_capacity(rows.len());
        for rows in rows {
            if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
                let (from, to, at) = (first.range().0, last.range().1, append.at);
                let text = row::encode(rows)?;
                bodies.push(Body { from, to, at, crc: checksum::of_text(&text), text });
            }
        }
        let message = |message: &UiMessage| Ok((message.id.clone(), body(message)?));
        let messages = append.messages.iter().map(message).collect::<Result<_, StoreError>>()?;
        Ok(Self { bodies, messages })
    }

    fn bytes(&self) -> usize {
        let bodies: usize = self.bodies.iter().map(|body| body.text.len()).sum();
        bodies + self.messages.iter().map(|(_, text)| text.len()).sum::<usize>()
    }
}

/// A message of this many bytes of text is measured before it is written.
const LONG: usize = 64 * 1024;

/// A message as it is stored. A buffer that grows doubles: for a long message that would be its size again, so its length
/// is counted first.
fn body(message: &UiMessage) -> Result<String, StoreError> {
    let text = |part: &Part| match part {
        Part::Text { text, .. } | Part::Reasoning { text, .. } => text.len(),
        _ => 0,
    };
    if message.parts.iter().map(text).sum::<usize>() < LONG {
        return json(message);
    }
    let damaged = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let mut length = Length(0);
    serde_json::to_writer(&mut length, message).map_err(damaged)?;
    let mut out = Vec::with_capacity(length.0);
    serde_json::to_writer(&mut out, message).map_err(damaged)?;
    String::from_utf8(out).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Counts what is written and keeps nothing.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SqliteStore {
    fn note_append(&self, key: SessionKey, plants: bool) {
        self.next_key.fetch_max(key.0 + 1, Ordering::Relaxed);
        if plants {
            self.pending_histories.add(key);
        }
    }
}

/// A new session gets a key of at least `next`.
fn write(connection: &Connection, next: i64, append: &Append, text: &Text) -> Result<SessionKey, StoreError> {
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
                    next,
                    workspace.as_str(),
                    id.as_str(),
                    append.at.0,
                    high_water.take().unwrap_or(0)
                ])?;
            SessionKey(connection.last_insert_rowid())
        }
    };
    for Body { from, to, at, text, crc } in &text.bodies {
        let crc = checksum::of_log(crc.clone(), key, *from, *to, *at);
        connection
            .prepare_cached(
                "INSERT INTO log (session, from_seq, to_seq, at, body, crc) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![key.0, signed(*from), signed(*to), at.0, text, crc])?;
    }
    let mut patch = SessionPatch::of(&append.rows);
    for row in &append.rows {
        if let Row::Event(entry) = row {
            apply(connection, key, &mut patch, entry, &text.messages)?;
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
        let (from, at, body) = checksum::log_text(key, row)?;
        bytes += body.len();
        row::decode(from, at, body, after, &mut entries)?;
        if bytes >= max_bytes {
            break;
        }
    }
    Ok(entries)
}
