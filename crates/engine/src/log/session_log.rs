//! Numbers, stores and publishes events: the only place where events are written.
//!
//! - A boundary event is stored before any reader can see it; `visible` moves only after the store has answered.
//! - Deltas are visible at once; the flusher stores them within a tenth of a second.
//! - Numbers are never reused: no event is published above the stored high-water mark.
//! - Each event is serialised once; all readers share the bytes. Stored events beyond the memory bound are dropped from
//!   memory and read from the store again.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use protocol::{
    Clock, MessageId, Seq, SessionEvent, UiMessage,
    event::LogEntry,
    project::chat::{Reading, chunk_of, ends_stream},
    wire::chat::{Profile, write_sse_event},
};
use store::{Append, DeltaRow, Row, SessionKey, SessionTarget, Store, StoreError};
use tokio::sync::watch;

use super::{
    flusher::Flusher,
    merge::{continues, join},
};

/// How many bytes of events stay in memory for readers that keep up.
const TAIL_BYTES: usize = 256 * 1024;
/// How many numbers are reserved at once. The next ones are reserved when half of them are used.
const RESERVE: Seq = 1 << 16;
/// A reader that is further behind than this receives neighbouring deltas as one.
const MERGE_ABOVE: Seq = 32;
/// How many bytes a reader receives at once, about.
pub(crate) const BATCH_BYTES: usize = 64 * 1024;
const RETRIES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The log of a live session. Its writer, its readers and the flusher share it.
pub(crate) struct SessionLog {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    profile: Profile,
    state: Mutex<State>,
    /// Held while events are appended: several agents of a run write, and none may publish what another is still storing.
    appending: tokio::sync::Mutex<()>,
    /// Held while rows are being stored, so that they are stored in order.
    storing: tokio::sync::Mutex<()>,
    visible: watch::Sender<Visible>,
    flags: Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visible {
    pub(crate) seq: Seq,
    /// No more events will be appended.
    pub(crate) closed: bool,
}

/// State that is read without the lock.
#[derive(Default)]
struct Flags {
    /// The flusher has been asked to store deltas of this log.
    dirty: AtomicBool,
    /// Storing was given up.
    broken: AtomicBool,
    /// The run has parked or ended.
    over: AtomicBool,
}

struct State {
    target: SessionTarget,
    last: Seq,
    high_water: Seq,
    stored: Seq,
    tail: VecDeque<TailEntry>,
    tail_bytes: usize,
    unsaved: Vec<Row>,
    unsaved_bytes: usize,
    /// The folded messages of frames that unsaved rows park or close; they are stored with them.
    folded: Vec<UiMessage>,
}

struct TailEntry {
    seq: Seq,
    event: SessionEvent,
    /// The SSE event; empty if the chat surface has no chunk for this event.
    sse: Bytes,
}

/// Which of the appended events must be stored before `append` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// All of them, if a boundary event is among them.
    Boundaries,
    All,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) tail_bytes: usize,
    pub(crate) rows_waiting: usize,
    pub(crate) viewers: usize,
}

/// What [`SessionLog::find`] returns to a reader.
pub(crate) enum Found {
    /// Serialised events, up to the new cursor.
    Events { bytes: Vec<u8>, cursor: Seq, ended: bool },
    /// The next events are no longer in memory: read them from the store.
    Stored,
    /// The next events belong to other messages.
    Others,
}

impl SessionLog {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        profile: Profile,
        target: SessionTarget,
        high_water: Seq,
    ) -> Arc<Self> {
        let (visible, _) = watch::channel(Visible { seq: high_water, closed: false });
        Arc::new(Self {
            store,
            clock,
            profile,
            state: Mutex::new(State {
                target,
                last: high_water,
                high_water,
                stored: high_water,
                tail: VecDeque::new(),
                tail_bytes: 0,
                unsaved: Vec::new(),
                unsaved_bytes: 0,
                folded: Vec::new(),
            }),
            appending: tokio::sync::Mutex::new(()),
            storing: tokio::sync::Mutex::new(()),
            visible,
            flags: Flags::default(),
        })
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn last(&self) -> Seq {
        self.state.lock().last
    }

    pub(crate) fn key(&self) -> Option<SessionKey> {
        match self.state.lock().target {
            SessionTarget::Known(key) => Some(key),
            SessionTarget::New { .. } => None,
        }
    }

    /// What this log holds in memory.
    pub(crate) fn held(&self) -> Held {
        let state = self.state.lock();
        Held {
            tail_bytes: state.tail_bytes,
            rows_waiting: state.unsaved.len(),
            viewers: self.visible.receiver_count(),
        }
    }

    /// Whether the event is still in memory.
    pub(crate) fn remembers(&self, seq: Seq) -> bool {
        let state = self.state.lock();
        state.tail.front().is_some_and(|first| first.seq <= seq) && seq <= state.last
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Visible> {
        self.visible.subscribe()
    }

    /// Ends the readers once they have read everything.
    pub(crate) fn close(&self) {
        self.visible.send_modify(|visible| visible.closed = true);
    }

    /// Gives up on this log after the store failed: nothing more is published or stored, and readers are cut off.
    pub(crate) fn break_off(&self) {
        self.flags.broken.store(true, Ordering::Release);
        self.close();
    }

    /// Whether the pause or the end of the run is stored; its task has nothing left to do then.
    pub(crate) fn is_over(&self) -> bool {
        self.flags.over.load(Ordering::Acquire)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.flags.broken.load(Ordering::Acquire)
    }

    fn check_not_broken(&self) -> Result<(), StoreError> {
        match self.is_broken() {
            true => Err(StoreError::Unavailable("storing this chat was given up".into())),
            false => Ok(()),
        }
    }

    /// Marks the log as having unstored deltas; returns `true` if it was not marked since the last flush.
    pub(crate) fn mark_dirty(&self) -> bool {
        !self.flags.dirty.swap(true, Ordering::AcqRel)
    }

    /// The SSE events between the cursor and the visible edge, for a reader of one message.
    pub(crate) fn find(&self, cursor: Seq, visible: Seq, message: &MessageId, reading: &Reading) -> Found {
        let state = self.state.lock();
        let first = match state.tail.front() {
            Some(entry) if entry.seq <= cursor + 1 => entry.seq,
            _ => return Found::Stored,
        };
        let merge = visible.saturating_sub(cursor) > MERGE_ABOVE;
        let mut bytes = Vec::new();
        let mut at = cursor;
        let skip = usize::try_from(cursor + 1 - first).unwrap_or(usize::MAX);
        let mut entries = state.tail.iter().skip(skip).take_while(|entry| entry.seq <= visible).peekable();
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
                _ => bytes.extend_from_slice(&entry.sse),
            }
            if ends_stream(&entry.event) {
                return Found::Events { bytes, cursor: at, ended: true };
            }
            if bytes.len() >= BATCH_BYTES {
                break;
            }
        }
        Found::Events { bytes, cursor: at, ended: false }
    }

    /// The events between the cursor and the visible edge, at most about [`BATCH_BYTES`]; `None` if they are no longer in
    /// memory.
    pub(crate) fn entries(&self, cursor: Seq, visible: Seq) -> Option<Vec<LogEntry>> {
        let at = self.clock.now();
        let state = self.state.lock();
        let first = state.tail.front().map(|entry| entry.seq).filter(|first| *first <= cursor + 1)?;
        let skip = usize::try_from(cursor + 1 - first).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let entries = state.tail.iter().skip(skip).take_while(|entry| {
            let room = bytes < BATCH_BYTES;
            bytes += entry.sse.len() + ENTRY_BYTES;
            room && entry.seq <= visible
        });
        Some(entries.map(|entry| LogEntry { seq: entry.seq, at, event: entry.event.clone() }).collect())
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    /// Writes the SSE event of a log event, if the chat surface has a chunk for it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, seq: Seq, event: &SessionEvent) {
        if let Some(chunk) = chunk_of(event)
            && chunk.is_in(self.profile)
            && let Err(error) = write_sse_event(out, seq, &chunk)
        {
            tracing::error!(%error, "an event could not be written as an SSE event");
        }
    }

    /// Stores all events that are not stored yet. The flusher calls this, and every append with a boundary event.
    pub(crate) async fn flush(&self, last_of_run: bool) -> Result<(), StoreError> {
        let _order = self.storing.lock().await;
        self.check_not_broken()?;
        self.flags.dirty.store(false, Ordering::Release);
        let (append, last) = {
            let mut state = self.state.lock();
            let rows = std::mem::take(&mut state.unsaved);
            state.unsaved_bytes = 0;
            if rows.is_empty() {
                return Ok(());
            }
            let messages = std::mem::take(&mut state.folded);
            let high_water = state.next_mark(last_of_run);
            let append =
                Append { target: state.target.clone(), at: self.clock.now(), rows, messages, high_water };
            (append, state.last)
        };
        let high_water = append.high_water;
        let append = Arc::new(append);
        match self.store_with_patience(&append).await {
            Ok(key) => {
                let mut state = self.state.lock();
                state.target = SessionTarget::Known(key);
                state.high_water = high_water.unwrap_or(state.high_water);
                state.stored = last;
                state.trim();
                Ok(())
            }
            Err(error) => {
                // Put them back in order; the next flush tries again.
                let Append { rows, messages, .. } = Arc::unwrap_or_clone(append);
                let mut state = self.state.lock();
                let newer = std::mem::replace(&mut state.unsaved, rows);
                state.unsaved.extend(newer);
                let newer = std::mem::replace(&mut state.folded, messages);
                state.folded.extend(newer);
                Err(error)
            }
        }
    }

    async fn store_with_patience(&self, append: &Arc<Append>) -> Result<SessionKey, StoreError> {
        for pause in RETRIES {
            match self.store.append(Arc::clone(append)).await {
                Err(StoreError::Unavailable(error)) => {
                    tracing::warn!(%error, "the store refused a write; trying again");
                    tokio::time::sleep(pause).await;
                }
                result => return result,
            }
        }
        self.store.append(Arc::clone(append)).await
    }

    /// Appends events that concern the session itself, such as queued messages, beside the run that writes its own
    /// events. Readers of messages skip them.
    pub(crate) async fn append_session_events(&self, events: Vec<SessionEvent>) -> Result<(), StoreError> {
        let pushed = self.push(events, Vec::new());
        self.flush(false).await?;
        self.publish(pushed.last);
        Ok(())
    }

    /// Appends the events of a run. `messages` are the folded messages of frames that the events park or close.
    pub(super) async fn append(
        self: &Arc<Self>,
        flusher: &Flusher,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
        durability: Durability,
    ) -> Result<Seq, StoreError> {
        if events.is_empty() {
            return Ok(self.last());
        }
        let last_of_run = events
            .iter()
            .any(|event| matches!(event, SessionEvent::RunEnded { .. } | SessionEvent::RunParked { .. }));
        let _turn = self.appending.lock().await;
        self.check_not_broken()?;
        let pushed = self.push(events, messages);
        if pushed.boundary || durability == Durability::All {
            self.flush(last_of_run).await?;
        } else {
            flusher.add(self);
        }
        if last_of_run {
            self.flags.over.store(true, Ordering::Release);
        }
        self.publish(pushed.last);
        Ok(pushed.last)
    }

    fn publish(&self, seq: Seq) {
        self.visible.send_modify(|visible| visible.seq = visible.seq.max(seq));
    }

    fn push(&self, events: Vec<SessionEvent>, messages: Vec<UiMessage>) -> Pushed {
        let at = self.clock.now();
        let mut bytes = Vec::with_capacity(events.len() * 96);
        let mut state = self.state.lock();
        state.folded.extend(messages);
        let mut ends = Vec::with_capacity(events.len());
        let mut boundary = false;
        for event in &events {
            state.last += 1;
            self.write(&mut bytes, state.last, event);
            ends.push(bytes.len());
            boundary |= event.is_boundary();
        }
        let bytes = Bytes::from(bytes);
        let first = state.last + 1 - events.len() as Seq;
        let mut start = 0;
        for (index, (event, end)) in events.into_iter().zip(ends).enumerate() {
            let seq = first + index as Seq;
            let sse = bytes.slice(start..end);
            start = end;
            state.save_later(seq, at, &event);
            state.tail_bytes += sse.len() + ENTRY_BYTES;
            state.unsaved_bytes += sse.len();
            state.tail.push_back(TailEntry { seq, event, sse });
        }
        Pushed { last: state.last, boundary: boundary || state.is_full() }
    }
}

/// Memory of an entry beside its SSE event, about.
const ENTRY_BYTES: usize = 160;

struct Pushed {
    last: Seq,
    boundary: bool,
}

impl State {
    /// Whether the next events must be stored first: no reserved number is left, or too many events are unstored.
    fn is_full(&self) -> bool {
        self.last > self.high_water || self.unsaved_bytes > TAIL_BYTES
    }

    /// The high-water mark to store, if it must move. The end of a run releases numbers that were reserved and not used.
    fn next_mark(&self, last_of_run: bool) -> Option<Seq> {
        if last_of_run {
            return Some(self.last);
        }
        (self.last + RESERVE / 2 > self.high_water).then_some(self.last + RESERVE)
    }

    fn save_later(&mut self, seq: Seq, at: protocol::Timestamp, event: &SessionEvent) {
        if let Some(Row::Deltas(row)) = self.unsaved.last_mut()
            && row.extend(seq, event)
        {
            return;
        }
        self.unsaved.push(match DeltaRow::start(seq, at, event) {
            Some(row) => Row::Deltas(row),
            None => Row::Event(LogEntry { seq, at, event: event.clone() }),
        });
    }

    fn trim(&mut self) {
        while self.tail_bytes > TAIL_BYTES
            && self.tail.front().is_some_and(|entry| entry.seq <= self.stored)
            && let Some(entry) = self.tail.pop_front()
        {
            self.tail_bytes -= entry.sse.len() + ENTRY_BYTES;
        }
    }
}

#[cfg(test)]
#[path = "session_log_tests.rs"]
mod tests;
