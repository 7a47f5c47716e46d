//! Numbers, stores and publishes events: the only place where events are written.
//!
//! - A boundary event is stored before any reader can see it; `visible` moves only after the store has answered.
//! - Deltas are visible at once; the flusher stores them within a tenth of a second.
//! - Numbers are never reused: no event is published above the stored high-water mark.
//! - The log knows no surface. A surface whose readers share their bytes keeps them with the entry ([`TailEntry::shared`]), so
//!   that each event is written once, and only if somebody reads it.
//! - Stored events beyond the memory bound are dropped from memory and read from the store again.
//!
//! A log outlives its runs: whoever follows the session holds it, with or without a run (`open_logs.rs`).

use std::{
    collections::{VecDeque, vec_deque},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use protocol::{Clock, Seq, SessionEvent, Timestamp, UiMessage, event::LogEntry};
use store::{Append, DeltaRow, Row, SessionKey, SessionTarget, Store, StoreError};
use tokio::sync::watch;

use super::{flusher::Flusher, writer::RunOver};

/// How many bytes of events stay in memory for readers that keep up.
const TAIL_BYTES: usize = 256 * 1024;
/// How many numbers are reserved at once. The next ones are reserved when half of them are used.
const RESERVE: Seq = 1 << 16;
/// How many bytes of events stay in memory while nothing happens in the session.
const IDLE_BYTES: usize = 8 * 1024;
/// How many bytes a reader receives at once, about.
pub(crate) const BATCH_BYTES: usize = 64 * 1024;
const RETRIES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The log of a session that is in memory. Its writer, its readers and the flusher share it.
pub(crate) struct SessionLog {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
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
    /// The run that appended up to this event has parked, ended or broken off. A reader of one of its messages that has not
    /// seen the end by then never will.
    pub(crate) run_over: Seq,
    /// Storing was given up: nothing more is published here.
    pub(crate) broken: bool,
}

/// State that is read without the lock.
#[derive(Default)]
struct Flags {
    /// The flusher has been asked to store deltas of this log.
    dirty: AtomicBool,
    /// Storing was given up.
    broken: AtomicBool,
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

/// An event in memory.
pub(crate) struct TailEntry {
    pub(crate) seq: Seq,
    at: Timestamp,
    pub(crate) event: SessionEvent,
    bytes: usize,
    shared: OnceLock<Bytes>,
}

impl TailEntry {
    /// The event as the readers of a surface share it; `write` is called by the first of them.
    pub(crate) fn shared(&self, write: impl FnOnce() -> Bytes) -> &Bytes {
        self.shared.get_or_init(write)
    }
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

impl SessionLog {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        target: SessionTarget,
        high_water: Seq,
    ) -> Arc<Self> {
        let (visible, _) = watch::channel(Visible { seq: high_water, run_over: 0, broken: false });
        Arc::new(Self {
            store,
            clock,
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

    /// Notes that the run is over. Readers of its messages are cut off once they have read everything.
    pub(crate) fn end_run(&self) {
        let last = {
            let mut state = self.state.lock();
            state.trim(IDLE_BYTES);
            state.last
        };
        self.visible.send_modify(|visible| visible.run_over = last);
    }

    /// Gives up on this log after the store failed: nothing more is published or stored, and readers are cut off.
    pub(crate) fn break_off(&self) {
        self.flags.broken.store(true, Ordering::Release);
        self.visible.send_modify(|visible| visible.broken = true);
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

    /// Reads the events between the cursor and the visible edge; `None` if they are no longer in memory.
    pub(crate) fn with_tail<R>(
        &self,
        cursor: Seq,
        visible: Seq,
        read: impl FnOnce(vec_deque::Iter<'_, TailEntry>) -> R,
    ) -> Option<R> {
        let state = self.state.lock();
        let first = state.tail.front().map(|entry| entry.seq).filter(|first| *first <= cursor + 1)?;
        let index = |seq: Seq| usize::try_from(seq.saturating_sub(first)).unwrap_or(usize::MAX);
        let end = index(visible + 1).min(state.tail.len());
        let start = index(cursor + 1).min(end);
        Some(read(state.tail.range(start..end)))
    }

    /// The events between the cursor and the visible edge, at most about [`BATCH_BYTES`]; `None` if they are no longer in
    /// memory.
    pub(crate) fn entries(&self, cursor: Seq, visible: Seq) -> Option<Vec<LogEntry>> {
        self.with_tail(cursor, visible, |entries| {
            let mut bytes = 0;
            entries
                .take_while(|entry| {
                    let room = bytes < BATCH_BYTES;
                    bytes += entry.bytes;
                    room
                })
                .map(|entry| LogEntry { seq: entry.seq, at: entry.at, event: entry.event.clone() })
                .collect()
        })
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
                state.trim(TAIL_BYTES);
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
    pub(crate) async fn append_session_events(&self, events: Vec<SessionEvent>) -> Result<Seq, StoreError> {
        self.check_not_broken()?;
        let last = self.push(events, Vec::new()).last;
        self.flush(false).await?;
        self.publish(last);
        Ok(last)
    }

    /// Appends events while no run is active. All of them are stored, and the numbers that were reserved are released. If the
    /// store refuses them, the log is given up: nothing of them may be stored later.
    pub(crate) async fn append_without_run(
        &self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<Seq, StoreError> {
        let _turn = self.appending.lock().await;
        self.check_not_broken()?;
        let last = self.push(events, messages).last;
        self.flush(true).await.inspect_err(|_| self.break_off())?;
        self.publish(last);
        Ok(last)
    }

    /// Appends the events of a run, of which they may be the last. `messages` are the folded messages of frames that the
    /// events park or close.
    pub(super) async fn append(
        self: &Arc<Self>,
        flusher: &Flusher,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
        durability: Durability,
        ends: Option<&RunOver>,
    ) -> Result<Seq, StoreError> {
        if events.is_empty() {
            return Ok(self.last());
        }
        let _turn = self.appending.lock().await;
        self.check_not_broken()?;
        let pushed = self.push(events, messages);
        if pushed.boundary || durability == Durability::All {
            self.flush(ends.is_some()).await?;
        } else {
            flusher.add(self);
        }
        // Before anybody sees the end: whoever does may send the next message.
        if let Some(run) = ends {
            run.set();
        }
        self.publish(pushed.last);
        Ok(pushed.last)
    }

    fn publish(&self, seq: Seq) {
        self.visible.send_modify(|visible| visible.seq = visible.seq.max(seq));
    }

    fn push(&self, events: Vec<SessionEvent>, messages: Vec<UiMessage>) -> Pushed {
        let at = self.clock.now();
        let mut state = self.state.lock();
        state.folded.extend(messages);
        let mut boundary = false;
        for event in events {
            boundary |= event.is_boundary();
            state.last += 1;
            let seq = state.last;
            state.save_later(seq, at, &event);
            let bytes = event.approximate_bytes();
            state.tail_bytes += bytes + ENTRY_BYTES;
            state.unsaved_bytes += bytes;
            let bytes = bytes + ENTRY_BYTES;
            state.tail.push_back(TailEntry { seq, at, event, bytes, shared: OnceLock::new() });
        }
        Pushed { last: state.last, boundary: boundary || state.is_full() }
    }
}

/// Memory of an entry beside the content of its event, about.
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

    fn save_later(&mut self, seq: Seq, at: Timestamp, event: &SessionEvent) {
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

    /// Drops stored events from memory until at most `most` bytes are left.
    fn trim(&mut self, most: usize) {
        while self.tail_bytes > most
            && self.tail.front().is_some_and(|entry| entry.seq <= self.stored)
            && let Some(entry) = self.tail.pop_front()
        {
            self.tail_bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
#[path = "session_log_tests.rs"]
mod tests;
