//! The chat surface over a log: the SSE events that a reader of one message receives. Readers share the bytes of an event;
//! the first one that needs them writes them.

use bytes::Bytes;
use protocol::{
    MessageId, Seq, SessionEvent,
    project::chat::{Reading, chunk_of, ends_stream},
    wire::chat::{Profile, write_sse_event},
};

use crate::{
    log::{
        merge::{continues, join},
        session_log::{BATCH_BYTES, SessionLog},
    },
    services::Services,
};

/// A reader that is further behind than this receives neighbouring deltas as one.
pub(crate) const MERGE_ABOVE: Seq = 32;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatSurface {
    pub(crate) profile: Profile,
}

/// What [`ChatSurface::find`] returns to a reader.
pub(crate) enum Found {
    /// SSE events, up to the new cursor.
    Events { bytes: Vec<u8>, cursor: Seq, ended: bool },
    /// The next events are no longer in memory: read them from the store.
    Stored,
    /// The next events belong to other messages.
    Others,
}

impl ChatSurface {
    /// For the client releases that the settings name.
    pub(crate) fn of(services: &Services) -> Self {
        Self { profile: services.settings.profile }
    }

    /// The SSE events between the cursor and the visible edge, for a reader of one message.
    pub(crate) fn find(
        self,
        log: &SessionLog,
        cursor: Seq,
        visible: Seq,
        message: &MessageId,
        reading: &Reading,
    ) -> Found {
        let merge = visible.saturating_sub(cursor) > MERGE_ABOVE;
        let found = log.with_tail(cursor, visible, |entries| {
            let mut bytes = Vec::new();
            let mut at = cursor;
            let mut entries = entries.peekable();
            while let Some(entry) = entries.next() {
                if entry.event.message().is_some_and(|other| other != message) {
                    if at == cursor {
                        return Found::Others;
                    }
                    break;
                }
                at = entry.seq;
                if entry.event.message().is_none() || !reading.tells(entry.seq, &entry.event) {
                    continue;
                }
                match entries.peek() {
                    Some(next) if merge && continues(&entry.event, &next.event) => {
                        let mut joined = entry.event.clone();
                        while let Some(next) = entries.next_if(|next| join(&mut joined, &next.event)) {
                            at = next.seq;
                        }
                        self.write(&mut bytes, at, &joined);
                    }
                    _ if self.profile.shows(&entry.event) => {
                        bytes.extend_from_slice(entry.shared(|| sse_event(entry.seq, &entry.event)));
                    }
                    _ => {}
                }
                if ends_stream(&entry.event) {
                    return Found::Events { bytes, cursor: at, ended: true };
                }
                if bytes.len() >= BATCH_BYTES {
                    break;
                }
            }
            Found::Events { bytes, cursor: at, ended: false }
        });
        found.unwrap_or(Found::Stored)
    }

    /// Writes the SSE event of a log event, if this surface has a chunk for it.
    pub(super) fn write(self, out: &mut Vec<u8>, seq: Seq, event: &SessionEvent) {
        if let Some(chunk) = chunk_of(event)
            && self.profile.shows(event)
            && let Err(error) = write_sse_event(out, seq, &chunk)
        {
            tracing::error!(%error, "an event could not be written as an SSE event");
        }
    }
}

/// The SSE event of a log event; empty if it has no chunk.
fn sse_event(seq: Seq, event: &SessionEvent) -> Bytes {
    let mut out = Vec::new();
    if let Some(chunk) = chunk_of(event)
        && let Err(error) = write_sse_event(&mut out, seq, &chunk)
    {
        tracing::error!(%error, "an event could not be written as an SSE event");
    }
    Bytes::from(out)
}
