//! CRC-32 checksums of rows: computed when a row is written, compared when it is read. Rows that were written before
//! checksums existed have none and are accepted.

use protocol::{Seq, Timestamp};
use rusqlite::Row;

use crate::{SessionKey, StoreError};

/// A row of the log whose checksum is right.
pub(super) struct LogRow<'a> {
    pub(super) from: Seq,
    pub(super) at: Timestamp,
    pub(super) body: &'a str,
}

/// Begins the checksum of a row with its text, which is known before the key of the session is.
pub(super) fn of_text(text: &str) -> crc32fast::Hasher {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(text.as_bytes());
    hasher
}

/// Completes the checksum of a row of the log.
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

/// The checksum of a message. The message of a sub-agent always has revision 0.
pub(super) fn of_message(session: SessionKey, id: &str, revision: u32, body: &str) -> u32 {
    let mut hasher = of_text(body);
    hasher.update(&session.0.to_le_bytes());
    hasher.update(&revision.to_le_bytes());
    hasher.update(id.as_bytes());
    hasher.finalize()
}

/// Whether the checksum in this column equals the computed one, or the row has none.
pub(super) fn matches(row: &Row<'_>, column: usize, compute: impl FnOnce() -> u32) -> rusqlite::Result<bool> {
    Ok(row.get::<_, Option<u32>>(column)?.is_none_or(|stored| stored == compute()))
}

/// Reads a row of the log with the columns `from_seq`, `to_seq`, `at`, `body` and `crc`.
pub(super) fn log_row<'a>(session: SessionKey, row: &'a Row<'_>) -> Result<LogRow<'a>, StoreError> {
    let (from, to) = (super::unsigned(row.get(0)?), super::unsigned(row.get(1)?));
    let at = Timestamp(row.get(2)?);
    let body = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    if matches(row, 4, || of_log(of_text(body), session, from, to, at))? {
        return Ok(LogRow { from, at, body });
    }
    Err(StoreError::Corrupt(format!("the events {from} to {to} of a chat do not match their checksum")))
}
