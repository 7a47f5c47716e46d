//! A reader: a cursor over the log of one message, from any event to the newest.
//!
//! It subscribes before it reads, so that no event is missed between replay and live. It has no queue: a slow reader costs
//! only its cursor. A reader never owns a run; dropping it cancels nothing.

use std::sync::Arc;

use protocol::{
    LogEntry, MessageId, Seq, SubAgentStream,
    project::chat::{Reading, ends_stream},
};
use store::StoreError;
use tokio::sync::watch;

use super::{
    chat_surface::{ChatSurface, Found},
    sub_agent_view::SubAgentView,
};
use crate::{
    EngineError,
    log::{
        merge::merged,
        session_log::{BATCH_BYTES, SessionLog, Visible},
    },
};

pub struct Viewer {
    log: Arc<SessionLog>,
    surface: ChatSurface,
    visible: watch::Receiver<Visible>,
    cursor: Seq,
    /// The event after which the run was started or resumed; `None` if it is not in memory.
    run_began: Option<Seq>,
    message: MessageId,
    reading: Reading,
    ended: bool,
    lane: Option<SubAgentStream>,
    /// The sub-agents below the message, as soon as there are any.
    below: Option<Box<SubAgentView>>,
    /// The message began before the cursor: what its sub-agents did until then is read first.
    catching_up: Option<Box<CatchingUp>>,
}

/// How far a reader has read what came before its cursor. It is kept across awaits: the future that reads may be dropped
/// at any time, and the next one continues from here.
struct CatchingUp {
    at: Seq,
    below: SubAgentView,
}

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The log ended before the message did: the connection must be cut, not closed.
    #[error("the answer broke off")]
    BrokenOff,
    #[error("the log could not be read")]
    Store(#[from] StoreError),
    /// The message was queued and its run never began; the error is a sentence for the person.
    #[error(transparent)]
    NotBegun(Box<EngineError>),
}

impl Viewer {
    /// Reads the events of `message` after `cursor`, of a run that is not in memory.
    pub(crate) fn new(
        log: Arc<SessionLog>,
        surface: ChatSurface,
        cursor: Seq,
        message: MessageId,
        reading: Reading,
    ) -> Self {
        let visible = log.watch();
        Self {
            log,
            surface,
            visible,
            cursor,
            run_began: None,
            message,
            reading,
            ended: false,
            lane: None,
            below: None,
            catching_up: None,
        }
    }

    /// The run is in memory; its events come after this one.
    pub(crate) fn of_run(mut self, began: Seq) -> Self {
        self.run_began = Some(began);
        self
    }

    /// How the client wants to see sub-agents at work.
    pub(crate) fn lane(mut self, lane: Option<SubAgentStream>) -> Self {
        self.lane = lane;
        self
    }

    /// The message began before the cursor, and there are sub-agents.
    pub(crate) fn beginning(mut self, first: Seq) -> Self {
        let below = SubAgentView::new(self.message.clone(), self.lane, self.surface.profile);
        self.catching_up = Some(Box::new(CatchingUp { at: first.saturating_sub(1), below }));
        self
    }

    /// The same reader, for a client that has everything up to `after`.
    pub(crate) fn skipping(mut self, after: Seq) -> Self {
        self.cursor = self.cursor.max(after);
        self
    }

    /// The id of the message this stream is about.
    pub fn message(&self) -> &MessageId {
        &self.message
    }

    /// The next SSE events, as many as are ready; `None` after the end of the message.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ViewError>> {
        loop {
            if self.ended {
                return None;
            }
            match self.step().await {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(Ok(bytes)),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Vec<u8>, ViewError> {
        if self.catching_up.is_some() {
            self.catch_up().await?;
        }
        let visible = *self.visible.borrow_and_update();
        if self.cursor >= visible.seq {
            return self.wait(visible).await;
        }
        let found = match &self.below {
            Some(below) if !below.is_empty() => Found::Others,
            _ => self.surface.find(&self.log, self.cursor, visible.seq, &self.message, &self.reading),
        };
        let found = match found {
            Found::Others => match self.log.entries(self.cursor, visible.seq) {
                Some(entries) => self.project(entries),
                None => self.read_stored().await?,
            },
            Found::Stored => self.read_stored().await?,
            found @ Found::Events { .. } => found,
        };
        let Found::Events { mut bytes, cursor, ended } = found else { return Ok(Vec::new()) };
        self.cursor = cursor;
        self.ended = ended;
        if let Some(below) = self.below.as_mut().filter(|_| !ended && cursor >= visible.seq) {
            below.send_due(&mut bytes);
        }
        Ok(bytes)
    }

    /// Waits for more events, or until held output is due.
    async fn wait(&mut self, visible: Visible) -> Result<Vec<u8>, ViewError> {
        if visible.broken || self.run_began.is_none_or(|began| visible.run_over > began) {
            return Err(ViewError::BrokenOff);
        }
        match self.below.as_ref().and_then(|below| below.deadline()) {
            None => self.visible.changed().await.map_err(|_| ViewError::BrokenOff)?,
            Some(deadline) => {
                tokio::select! {
                    changed = self.visible.changed() => changed.map_err(|_| ViewError::BrokenOff)?,
                    () = tokio::time::sleep_until(deadline) => {
                        let mut bytes = Vec::new();
                        if let Some(below) = &mut self.below {
                            below.send_due(&mut bytes);
                        }
                        return Ok(bytes);
                    }
                }
            }
        }
        // Yield, so that other events that are ready go into the same write.
        tokio::task::yield_now().await;
        Ok(Vec::new())
    }

    async fn read_stored(&mut self) -> Result<Found, StoreError> {
        let Some(key) = self.log.key() else {
            return Err(StoreError::Corrupt("a session that is not stored has no stored log".to_owned()));
        };
        let entries = self.log.store().read_log(key, self.cursor, BATCH_BYTES).await?;
        if entries.is_empty() {
            // A gap below the visible edge: numbers that a crash left unused.
            return Ok(Found::Events { bytes: Vec::new(), cursor: self.visible.borrow().seq, ended: false });
        }
        Ok(self.project(entries))
    }

    /// Writes events as the client receives them, with the sub-agents' output in its place.
    fn project(&mut self, entries: Vec<LogEntry>) -> Found {
        let mut bytes = Vec::new();
        let mut cursor = entries.last().map_or(self.cursor, |last| last.seq);
        let mut ended = false;
        for entry in merged(entries) {
            let Some(message) = entry.event.message() else { continue };
            if *message != self.message {
                let (lane, profile) = (self.lane, self.surface.profile);
                let below = self
                    .below
                    .get_or_insert_with(|| Box::new(SubAgentView::new(self.message.clone(), lane, profile)));
                below.take(&mut bytes, entry.seq, &entry.event, &self.reading);
                continue;
            }
            if !self.reading.tells(entry.seq, &entry.event) {
                continue;
            }
            let special = self.below.as_mut().filter(|below| !below.is_empty());
            if !special.is_some_and(|below| below.own(&mut bytes, entry.seq, &entry.event)) {
                self.surface.write(&mut bytes, entry.seq, &entry.event);
            }
            if ends_stream(&entry.event) {
                cursor = entry.seq;
                ended = true;
                break;
            }
        }
        Found::Events { bytes, cursor, ended }
    }

    /// Reads what the sub-agents did before the cursor.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let Some(key) = self.log.key() else {
            self.catching_up = None;
            return Ok(());
        };
        while let Some(CatchingUp { at, below }) = self.catching_up.as_deref_mut() {
            let entries = match *at < self.cursor {
                true => self.log.store().read_log(key, *at, BATCH_BYTES).await?,
                false => Vec::new(),
            };
            for entry in entries.iter().filter(|entry| entry.seq <= self.cursor) {
                if let Some(message) = entry.event.message() {
                    below.read_up(*message == self.message, &entry.event);
                }
            }
            match entries.last() {
                Some(last) => *at = last.seq,
                None => self.below = self.catching_up.take().map(|done| Box::new(done.below)),
            }
        }
        Ok(())
    }
}
