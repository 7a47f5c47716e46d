//! Checksums of rows: computed once when a row is written, compared when it is read. Rows from before have none.

use protocol::{Seq, Timestamp};
use rusqlite::Row;

use crate::{SessionKey, StoreError};

/// Begins the checksum of a row of the log with its text, which is known before its place is.
pub(super) fn of_text(text: &str) -> crc32fast::Hasher {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(text.as_bytes());
    hasher
}

pub(super) fn of_log(
    mut text: crc32fast::Hasher,
    session: SessionKey,
    from: Seq,
    to: Seq,
    at: Timestamp,
) -> u32 {
    for number in [session.0.to_le_bytes(), from.to_le_bytes(), to.to_le_bytes(), at.0.to_le_bytes()] {
        text.update(&number);
    }
    text.finalize()
}

/// Of a message, or of a sub-agent's message, which has no revision but 0.
pub(super) fn of_message(session: SessionKey, id: &str, revision: u32, body: &str) -> u32 {
    let mut hasher = of_text(body);
    hasher.update(&session.0.to_le_bytes());
    hasher.update(&revision.to_le_bytes());
    hasher.update(id.as_bytes());
    hasher.finalize()
}

/// The checksum in this column is that of the row, or there is none.
pub(super) fn matches(row: &Row<'_>, column: usize, found: impl FnOnce() -> u32) -> rusqlite::Result<bool> {
    Ok(row.get::<_, Option<u32>>(column)?.is_none_or(|stored| stored == found()))
}

/// The text of a row of the log: `from_seq`, `to_seq`, `at`, `body` and `crc` in the columns 0 to 4.
pub(super) fn log_text<'a>(
    session: SessionKey,
    row: &'a Row<'_>,
) -> Result<(Seq, Timestamp, &'a str), StoreError> {
    let (from, to) = (super::unsigned(row.get(0)?), super::unsigned(row.get(1)?));
    let at = Timestamp(row.get(2)?);
    let body = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    if matches(row, 4, || of_log(of_text(body), session, from, to, at))? {
        return Ok((from, at, body));
    }
    Err(StoreError::Corrupt(format!("the events {from} to {to} of a chat do not match their checksum")))
}
