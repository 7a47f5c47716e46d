//! The format of the log: events that are stored together are one row, and in it consecutive deltas of one segment are
//! one item. One row per delta would be too slow. A cursor may point into an item: `lengths` says where each delta ends,
//! so that the deltas after any number can be cut out.

use std::borrow::Cow;

use bytes::Bytes;
use protocol::{MessageId, Planted, SegmentKind, Seq, SessionEvent, Timestamp, ToolCallId, event::LogEntry};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::StoreError;

/// A part of an append: one event, or consecutive deltas.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    Event(LogEntry),
    Deltas(DeltaRow),
}

/// The deltas `from..=to` of one segment or one tool input, with no other event between them.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaRow {
    pub from: Seq,
    pub to: Seq,
    pub at: Timestamp,
    pub target: DeltaTarget,
    pub text: String,
    /// The length of each delta in bytes.
    pub lengths: Vec<u32>,
}

/// What the deltas belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum DeltaTarget {
    Segment { message: MessageId, segment: u32, kind: SegmentKind },
    ToolInput { message: MessageId, call: ToolCallId },
}

/// An item with this many bytes of text takes no further delta.
const MAX_ITEM_TEXT: usize = 32 * 1024;
/// A stored body with this many bytes of deltas or planted messages takes no further item.
const MAX_BODY_TEXT: usize = 64 * 1024;

/// Splits rows that are stored together where a body would become too long to be read at once.
pub(crate) fn bodies(rows: &[Row]) -> Vec<&[Row]> {
    let mut out = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (place, row) in rows.iter().enumerate() {
        if bytes >= MAX_BODY_TEXT {
            out.push(&rows[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += match row {
            Row::Deltas(row) => row.text.len(),
            Row::Event(entry) => entry.event.planted().map_or(0, |planted| planted.as_bytes().len()),
        };
    }
    if start < rows.len() {
        out.push(&rows[start..]);
    }
    out
}

/// Consecutive deltas, as an element of a stored body.
#[derive(Serialize, Deserialize)]
struct DeltaBody<'a> {
    #[serde(rename = "type")]
    kind: DeltasTag,
    target: Cow<'a, DeltaTarget>,
    text: Cow<'a, str>,
    lengths: Cow<'a, [u32]>,
}

#[derive(Serialize, Deserialize)]
enum DeltasTag {
    #[serde(rename = "deltas")]
    Deltas,
}

/// What precedes and follows the messages of a planted history in a body. They are stored as the client wrote them.
const PLANTED_START: &str = r#"{"type":"history_planted","messages":["#;
const PLANTED_END: &str = "]}";

/// Encodes rows that are stored together as one text. Their numbers must be consecutive.
pub(crate) fn encode(rows: &[Row]) -> Result<String, StoreError> {
    let mut out = Vec::with_capacity(rows.iter().map(estimated_length).sum());
    for row in rows {
        out.push(if out.is_empty() { b'[' } else { b',' });
        match row {
            Row::Event(LogEntry { event: SessionEvent::HistoryPlanted { messages }, .. }) => {
                out.extend_from_slice(PLANTED_START.as_bytes());
                out.extend_from_slice(messages.as_bytes());
                out.extend_from_slice(PLANTED_END.as_bytes());
            }
            Row::Event(entry) => serde_json::to_writer(&mut out, &entry.event).map_err(corrupt)?,
            Row::Deltas(row) => serde_json::to_writer(&mut out, &DeltaBody::of(row)).map_err(corrupt)?,
        }
    }
    out.push(b']');
    String::from_utf8(out).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// About how many bytes the encoded row will have.
fn estimated_length(row: &Row) -> usize {
    match row {
        Row::Event(LogEntry { event: SessionEvent::HistoryPlanted { messages }, .. }) => {
            messages.as_bytes().len() + 64
        }
        Row::Event(_) => 192,
        Row::Deltas(row) => row.text.len() + row.lengths.len() * 3 + 128,
    }
}

/// Decodes the events with numbers above `after` from a stored text whose first event has the number `from`.
pub(crate) fn decode(
    from: Seq,
    at: Timestamp,
    body: &str,
    after: Seq,
    out: &mut Vec<LogEntry>,
) -> Result<(), StoreError> {
    let items: Vec<&RawValue> = serde_json::from_str(body).map_err(corrupt)?;
    let mut next = from;
    for item in items {
        if item.get().starts_with(r#"{"type":"deltas""#) {
            let DeltaBody { target, text, lengths, .. } =
                serde_json::from_str(item.get()).map_err(corrupt)?;
            let row = DeltaRow {
                from: next,
                to: next + (lengths.len() as Seq).saturating_sub(1),
                at,
                target: target.into_owned(),
                text: text.into_owned(),
                lengths: lengths.into_owned(),
            };
            next = row.to + 1;
            if row.to > after {
                out.push(row.tail(after)?);
            }
        } else {
            if next > after {
                out.push(LogEntry { seq: next, at, event: event(item.get())? });
            }
            next += 1;
        }
    }
    Ok(())
}

fn event(text: &str) -> Result<SessionEvent, StoreError> {
    match text.strip_prefix(PLANTED_START).and_then(|text| text.strip_suffix(PLANTED_END)) {
        Some(planted) => {
            let messages = Planted::read(Bytes::copy_from_slice(planted.as_bytes()));
            Ok(SessionEvent::HistoryPlanted { messages: messages.map_err(StoreError::Corrupt)? })
        }
        None => serde_json::from_str(text).map_err(corrupt),
    }
}

impl<'a> DeltaBody<'a> {
    fn of(row: &'a DeltaRow) -> Self {
        Self {
            kind: DeltasTag::Deltas,
            target: Cow::Borrowed(&row.target),
            text: Cow::Borrowed(&row.text),
            lengths: Cow::Borrowed(&row.lengths),
        }
    }
}

fn corrupt(error: serde_json::Error) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

impl DeltaRow {
    /// Starts a row, if the event is a delta.
    pub fn start(seq: Seq, at: Timestamp, event: &SessionEvent) -> Option<Self> {
        let (target, delta) = split(event)?;
        let lengths = vec![length(delta)];
        Some(Self { from: seq, to: seq, at, target, text: delta.to_owned(), lengths })
    }

    /// Appends the next delta; returns `false` when it belongs to another segment or this item is long enough. Items are
    /// bounded so that a reader can read a long text in pieces.
    pub fn extend(&mut self, seq: Seq, event: &SessionEvent) -> bool {
        let same = match (&self.target, event) {
            (
                DeltaTarget::Segment { message, segment, .. },
                SessionEvent::SegmentDelta { message: other, segment: number, .. },
            ) => message == other && segment == number,
            (
                DeltaTarget::ToolInput { message, call },
                SessionEvent::ToolInputDelta { message: other, call: name, .. },
            ) => message == other && call == name,
            _ => false,
        };
        if !same || seq != self.to + 1 || self.text.len() >= MAX_ITEM_TEXT {
            return false;
        }
        if let SessionEvent::SegmentDelta { delta, .. } | SessionEvent::ToolInputDelta { delta, .. } = event {
            self.text.push_str(delta);
            self.lengths.push(length(delta));
        }
        self.to = seq;
        true
    }

    /// The deltas after `after` as one event, numbered like the last of them.
    pub fn tail(mut self, after: Seq) -> Result<LogEntry, StoreError> {
        if after >= self.from {
            let skipped = usize::try_from(after - self.from + 1).unwrap_or(usize::MAX);
            let bytes: usize = self.lengths.iter().take(skipped).map(|length| *length as usize).sum();
            self.text = self
                .text
                .get(bytes..)
                .ok_or_else(|| StoreError::Corrupt("a delta row does not match its lengths".to_owned()))?
                .to_owned();
        }
        let delta = self.text;
        let event = match self.target {
            DeltaTarget::Segment { message, segment, kind } => {
                SessionEvent::SegmentDelta { message, segment, kind, delta }
            }
            DeltaTarget::ToolInput { message, call } => SessionEvent::ToolInputDelta { message, call, delta },
        };
        Ok(LogEntry { seq: self.to, at: self.at, event })
    }
}

impl Row {
    pub(crate) fn first_seq(&self) -> Seq {
        match self {
            Self::Event(entry) => entry.seq,
            Self::Deltas(row) => row.from,
        }
    }

    pub(crate) fn last_seq(&self) -> Seq {
        match self {
            Self::Event(entry) => entry.seq,
            Self::Deltas(row) => row.to,
        }
    }

    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Event(entry) => entry.at,
            Self::Deltas(row) => row.at,
        }
    }
}

fn split(event: &SessionEvent) -> Option<(DeltaTarget, &str)> {
    match event {
        SessionEvent::SegmentDelta { message, segment, kind, delta } => {
            let target = DeltaTarget::Segment { message: message.clone(), segment: *segment, kind: *kind };
            Some((target, delta))
        }
        SessionEvent::ToolInputDelta { message, call, delta } => {
            Some((DeltaTarget::ToolInput { message: message.clone(), call: call.clone() }, delta))
        }
        _ => None,
    }
}

fn length(delta: &str) -> u32 {
    u32::try_from(delta.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> SessionEvent {
        SessionEvent::SegmentDelta {
            message: MessageId::new("m"),
            segment: 0,
            kind: SegmentKind::Text,
            delta: text.to_owned(),
        }
    }

    #[test]
    fn a_long_text_is_stored_in_pieces_that_can_be_read_alone() {
        let piece = "x".repeat(1000);
        let mut rows = vec![Row::Deltas(DeltaRow::start(1, Timestamp(1), &delta(&piece)).unwrap())];
        for seq in 2..=500 {
            let Some(Row::Deltas(last)) = rows.last_mut() else { panic!() };
            if !last.extend(seq, &delta(&piece)) {
                rows.push(Row::Deltas(DeltaRow::start(seq, Timestamp(1), &delta(&piece)).unwrap()));
            }
        }
        let bodies = bodies(&rows);
        assert!(bodies.len() > 5, "{}", bodies.len());
        assert!(bodies.iter().all(|rows| encode(rows).unwrap().len() < 2 * MAX_BODY_TEXT));
        let mut next = 1;
        for row in bodies.into_iter().flatten() {
            assert_eq!(row.first_seq(), next);
            next = row.last_seq() + 1;
        }
        assert_eq!(next, 501);
    }

    #[test]
    fn a_cursor_may_stand_inside_a_row() {
        let mut row = DeltaRow::start(7, Timestamp(1), &delta("äb")).unwrap();
        assert!(row.extend(8, &delta("会")));
        assert!(row.extend(9, &delta("!")));
        assert!(!row.extend(11, &delta("gap")), "another event lies between");
        let end = LogEntry { seq: 10, at: Timestamp(1), event: delta("end") };
        let body = encode(&[Row::Deltas(row), Row::Event(end.clone())]).unwrap();
        for (after, text) in [(0, "äb会!"), (6, "äb会!"), (7, "会!"), (8, "!")] {
            let mut read = Vec::new();
            decode(7, Timestamp(1), &body, after, &mut read).unwrap();
            let joined = LogEntry { seq: 9, at: Timestamp(1), event: delta(text) };
            assert_eq!(read, [joined, end.clone()], "after {after}");
        }
        let mut read = Vec::new();
        decode(7, Timestamp(1), &body, 9, &mut read).unwrap();
        assert_eq!(read, [end]);
    }
}
