//! Number, store, tell: the only place where events are written. Step 8 of a chat request.
//!
//! - A boundary event is on disk before any reader can see it; `visible` moves only after the store has answered.
//! - Deltas are visible at once; the flusher stores them within a tenth of a second.
//! - Numbers are never reused: no event is told above the stored high-water mark.
//! - Each event is serialised once; all readers share the bytes. What is stored and beyond the bound leaves memory.

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
    flush::Flusher,
    merge::{continues, join},
};
use crate::run::raise::Mirror;

/// What stays in memory for readers that keep up, in bytes of frames.
const TAIL_BYTES: usize = 256 * 1024;
/// How many numbers are reserved at once; more are when half of them are used.
const RESERVE: Seq = 1 << 16;
/// A reader that is further behind than this gets neighbouring deltas as one.
const MERGE_ABOVE: Seq = 32;
/// How much a reader is handed at once.
pub(crate) const BATCH_BYTES: usize = 64 * 1024;
const RETRIES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The log of a live session, shared by its writer, its readers and the flusher.
pub(crate) struct SessionLog {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    profile: Profile,
    state: Mutex<State>,
    /// Held while events are appended: several agents of a run write, and none may tell what another is still storing.
    appending: tokio::sync::Mutex<()>,
    /// Held while rows are on their way to the store, so that they arrive in order.
    storing: tokio::sync::Mutex<()>,
    visible: watch::Sender<Visible>,
    flags: Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visible {
    pub(crate) seq: Seq,
    /// Nothing more will come.
    pub(crate) closed: bool,
}

/// Whether the flusher knows of deltas that wait, whether storing was given up, and whether the run has parked or
/// ended.
#[derive(Default)]
struct Flags {
    dirty: AtomicBool,
    broken: AtomicBool,
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
    /// The SSE frame; empty when the chat surface says nothing for this event.
    frame: Bytes,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) tail_bytes: usize,
    pub(crate) rows_waiting: usize,
    pub(crate) viewers: usize,
}

/// What a reader finds after its cursor.
pub(crate) enum Found {
    Frames {
        bytes: Vec<u8>,
        cursor: Seq,
        ended: bool,
    },
    /// It has left memory: read it from the store.
    Stored,
    /// The next events are other agents'.
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

    /// What this log holds right now.
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

    /// Readers that have seen everything end.
    pub(crate) fn close(&self) {
        self.visible.send_modify(|visible| visible.closed = true);
    }

    /// The store gave up on this log: nothing is told or stored any more, readers are cut off.
    pub(crate) fn break_off(&self) {
        self.flags.broken.store(true, Ordering::Release);
        self.close();
    }

    /// The pause or the end of the run is stored; its task has nothing left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.flags.over.load(Ordering::Acquire)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.flags.broken.load(Ordering::Acquire)
    }

    /// Marks that deltas wait; `true` for the first to say so since the last flush.
    pub(crate) fn mark_dirty(&self) -> bool {
        !self.flags.dirty.swap(true, Ordering::AcqRel)
    }

    /// Frames between the cursor and the visible edge, for a reader of one message.
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
                _ => bytes.extend_from_slice(&entry.frame),
            }
            if ends_stream(&entry.event) {
                return Found::Frames { bytes, cursor: at, ended: true };
            }
            if bytes.len() >= BATCH_BYTES {
                break;
            }
        }
        Found::Frames { bytes, cursor: at, ended: false }
    }

    /// The events between the cursor and the visible edge, about as many as are handed over at once; `None` when
    /// they have left memory.
    pub(crate) fn entries(&self, cursor: Seq, visible: Seq) -> Option<Vec<LogEntry>> {
        let at = self.clock.now();
        let state = self.state.lock();
        let first = state.tail.front().map(|entry| entry.seq).filter(|first| *first <= cursor + 1)?;
        let skip = usize::try_from(cursor + 1 - first).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let entries = state.tail.iter().skip(skip).take_while(|entry| {
            let room = bytes < BATCH_BYTES;
            bytes += entry.frame.len() + ENTRY_BYTES;
            room && entry.seq <= visible
        });
        Some(entries.map(|entry| LogEntry { seq: entry.seq, at, event: entry.event.clone() }).collect())
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    /// Writes the frame of an event, if the chat surface says anything for it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, seq: Seq, event: &SessionEvent) {
        if let Some(chunk) = chunk_of(event)
            && chunk.is_in(self.profile)
            && let Err(error) = write_sse_event(out, seq, &chunk)
        {
            tracing::error!(%error, "an event could not be written as an SSE event");
        }
    }

    /// Stores what waits. The flusher calls this; so does every boundary.
    pub(crate) async fn flush(&self, last_of_run: bool) -> Result<(), StoreError> {
        let _order = self.storing.lock().await;
        if self.is_broken() {
            return Err(StoreError::Unavailable("storing this chat was given up".into()));
        }
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
                // Back where they were, in order, in case the next try goes through.
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

    /// Appends what concerns the session itself, beside the run that writes its own events. Readers of messages see
    /// nothing of it.
    pub(crate) async fn note(&self, events: Vec<SessionEvent>) -> Result<(), StoreError> {
        let pushed = self.push(events, Vec::new());
        self.flush(false).await?;
        self.tell(pushed.last);
        Ok(())
    }

    fn tell(&self, seq: Seq) {
        self.visible.send_modify(|visible| visible.seq = visible.seq.max(seq));
    }

    fn push(&self, events: Vec<SessionEvent>, messages: Vec<UiMessage>) -> Pushed {
        let at = self.clock.now();
        let mut frames = Vec::with_capacity(events.len() * 96);
        let mut state = self.state.lock();
        state.folded.extend(messages);
        let mut ends = Vec::with_capacity(events.len());
        let mut boundary = false;
        for event in &events {
            state.last += 1;
            self.write(&mut frames, state.last, event);
            ends.push(frames.len());
            boundary |= event.is_boundary();
        }
        let frames = Bytes::from(frames);
        let first = state.last + 1 - events.len() as Seq;
        let mut start = 0;
        for (index, (event, end)) in events.into_iter().zip(ends).enumerate() {
            let seq = first + index as Seq;
            let frame = frames.slice(start..end);
            start = end;
            state.save_later(seq, at, &event);
            state.tail_bytes += frame.len() + ENTRY_BYTES;
            state.unsaved_bytes += frame.len();
            state.tail.push_back(TailEntry { seq, event, frame });
        }
        Pushed { last: state.last, boundary: boundary || state.is_full() }
    }
}

/// What an entry costs beside its frame, about.
const ENTRY_BYTES: usize = 160;

struct Pushed {
    last: Seq,
    boundary: bool,
}

impl State {
    /// No number is left that may be told, or so much waits that it must be stored before more comes.
    fn is_full(&self) -> bool {
        self.last > self.high_water || self.unsaved_bytes > TAIL_BYTES
    }

    /// Where the stored mark must go. The end of a run gives back what it reserved and did not use.
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
            self.tail_bytes -= entry.frame.len() + ENTRY_BYTES;
        }
    }
}

/// The right to append; there is one per session, handed from the actor to the run and back. The sub-agents of a run
/// share it.
pub(crate) struct LogWriter {
    log: Arc<SessionLog>,
    flusher: Arc<Flusher>,
    /// Where a sub-agent's questions are shown as well.
    mirror: Option<Box<Mirror>>,
}

impl LogWriter {
    pub(crate) fn new(log: Arc<SessionLog>, flusher: Arc<Flusher>) -> Self {
        Self { log, flusher, mirror: None }
    }

    /// The same right, for an agent that works at the same time.
    pub(crate) fn another(&self) -> Self {
        Self::new(Arc::clone(&self.log), Arc::clone(&self.flusher))
    }

    /// The share of a sub-agent.
    pub(crate) fn shared(&self, mirror: Mirror) -> Self {
        Self {
            log: Arc::clone(&self.log),
            flusher: Arc::clone(&self.flusher),
            mirror: Some(Box::new(mirror)),
        }
    }

    pub(crate) fn log(&self) -> &Arc<SessionLog> {
        &self.log
    }

    /// Appends events. `messages` are the folded messages of frames that the events park or close.
    pub(crate) async fn append(
        &mut self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<Seq, StoreError> {
        self.write(events, messages, false).await
    }

    /// Appends events that must be on disk before what they announce begins, whatever they are.
    pub(crate) async fn append_stored(&mut self, events: Vec<SessionEvent>) -> Result<Seq, StoreError> {
        self.write(events, Vec::new(), true).await
    }

    async fn write(
        &mut self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
        stored: bool,
    ) -> Result<Seq, StoreError> {
        if events.is_empty() {
            return Ok(self.log.last());
        }
        let last_of_run = events
            .iter()
            .any(|event| matches!(event, SessionEvent::RunEnded { .. } | SessionEvent::RunParked { .. }));
        let raised = self.mirror.as_mut().map(|mirror| mirror.of(&events)).unwrap_or_default();
        let turn = self.log.appending.lock().await;
        let pushed = self.log.push(events, messages);
        if pushed.boundary || stored {
            self.log.flush(last_of_run).await?;
        } else {
            self.flusher.remember(&self.log);
        }
        if last_of_run {
            self.log.flags.over.store(true, Ordering::Release);
        }
        self.log.tell(pushed.last);
        drop(turn);
        if let Some(mirror) = self.mirror.as_ref().filter(|_| !raised.is_empty()) {
            mirror.send(raised).await;
        }
        Ok(pushed.last)
    }
}
