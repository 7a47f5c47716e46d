//! An append as the text that will be stored. Made on the thread of the caller, so that the one writer has less to do.

use std::io;

use protocol::{MessageId, Part, Seq, Timestamp, UiMessage};

use super::{checksum, json};
use crate::{Append, Row, StoreError, row};

/// The rows of the log and the messages of one append.
pub(super) struct EncodedAppend {
    pub(super) rows: Vec<EncodedRow>,
    pub(super) messages: Vec<EncodedMessage>,
}

/// One row of the log.
pub(super) struct EncodedRow {
    pub(super) from: Seq,
    pub(super) to: Seq,
    pub(super) at: Timestamp,
    pub(super) body: String,
    /// Covers the body so far; completed when the key of the session is known.
    pub(super) crc: crc32fast::Hasher,
}

/// The JSON of a message.
pub(super) struct EncodedMessage {
    pub(super) id: MessageId,
    pub(super) body: String,
}

impl EncodedAppend {
    /// Every row of the log gets the time of the append.
    pub(super) fn new(append: &Append) -> Result<Self, StoreError> {
        let rows = row::bodies(&append.rows).into_iter().map(|rows| EncodedRow::new(rows, append.at));
        Self::of(append, rows)
    }

    /// Every row of the log gets the time of its events, so that events of different times are in different rows.
    pub(super) fn with_own_times(append: &Append) -> Result<Self, StoreError> {
        let same_time = append.rows.chunk_by(|one, next| one.at() == next.at());
        let rows = same_time.flat_map(row::bodies);
        Self::of(append, rows.map(|rows| EncodedRow::new(rows, rows.first().map_or(append.at, Row::at))))
    }

    fn of(
        append: &Append,
        rows: impl Iterator<Item = Result<Option<EncodedRow>, StoreError>>,
    ) -> Result<Self, StoreError> {
        let rows = rows.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let message =
            |message: &UiMessage| Ok(EncodedMessage { id: message.id.clone(), body: message_body(message)? });
        let messages = append.messages.iter().map(message).collect::<Result<_, StoreError>>()?;
        Ok(Self { rows, messages })
    }

    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| row.body.len()).sum();
        rows + self.messages.iter().map(|message| message.body.len()).sum::<usize>()
    }
}

impl EncodedRow {
    /// These events as one row; `None` when there are none.
    fn new(rows: &[Row], at: Timestamp) -> Result<Option<Self>, StoreError> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
        let body = row::encode(rows)?;
        Ok(Some(Self {
            from: first.first_seq(),
            to: last.last_seq(),
            at,
            crc: checksum::of_text(&body),
            body,
        }))
    }
}

/// For a message with this many bytes of text the exact length of its JSON is counted first.
const LONG_MESSAGE: usize = 64 * 1024;

/// The JSON of a message. A growing buffer doubles its capacity, which would be another copy of a long message; so the
/// length is counted first and the buffer is allocated once.
fn message_body(message: &UiMessage) -> Result<String, StoreError> {
    let text = |part: &Part| match part {
        Part::Text { text, .. } | Part::Reasoning { text, .. } => text.len(),
        _ => 0,
    };
    if message.parts.iter().map(text).sum::<usize>() < LONG_MESSAGE {
        return json(message);
    }
    let failed = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let mut counter = ByteCounter(0);
    serde_json::to_writer(&mut counter, message).map_err(failed)?;
    let mut out = Vec::with_capacity(counter.0);
    serde_json::to_writer(&mut out, message).map_err(failed)?;
    String::from_utf8(out).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Counts the bytes that are written to it and discards them.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use protocol::Role;

    use super::*;

    #[test]
    fn a_long_message_is_allocated_once_and_has_the_same_json() {
        let text = "\"quoted\" ".repeat(20_000);
        let parts = vec![Part::Text { text, state: None }];
        let message = UiMessage { id: MessageId::new("m"), role: Role::User, metadata: None, parts };
        let body = message_body(&message).unwrap();
        assert_eq!(body, json(&message).unwrap());
        assert_eq!(body.capacity(), body.len());
    }
}
