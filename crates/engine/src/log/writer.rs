//! The right to append to a session's log.
//!
//! There is one writer per session. The session's owner hands it to the run and gets it back when the run has ended or
//! parked; the sub-agents of the run hold copies and append in turn.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use protocol::{Seq, SessionEvent, UiMessage};
use store::StoreError;

use super::{
    flusher::Flusher,
    session_log::{Durability, SessionLog},
};

#[derive(Clone)]
pub(crate) struct LogWriter {
    log: Arc<SessionLog>,
    flusher: Arc<Flusher>,
    over: RunOver,
}

/// Whether the pause or the end of a run is stored; its task has nothing left to do then.
#[derive(Clone, Default)]
pub(crate) struct RunOver(Arc<AtomicBool>);

impl RunOver {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl LogWriter {
    pub(crate) fn new(log: Arc<SessionLog>, flusher: Arc<Flusher>) -> Self {
        Self { log, flusher, over: RunOver::default() }
    }

    /// A writer for an agent that works at the same time.
    pub(crate) fn share(&self) -> Self {
        self.clone()
    }

    pub(crate) fn run_over(&self) -> RunOver {
        self.over.clone()
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
        let last_of_run = events
            .iter()
            .any(|event| matches!(event, SessionEvent::RunEnded { .. } | SessionEvent::RunParked { .. }));
        let ends = last_of_run.then_some(&self.over);
        self.log.append(&self.flusher, events, messages, Durability::Boundaries, ends).await
    }

    /// Appends the events with which a run begins or is resumed. If the store refuses them, the log is given up: there is no
    /// such run, and nothing of it may be stored later.
    pub(crate) async fn append_beginning(
        &mut self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<Seq, StoreError> {
        self.append(events, messages).await.inspect_err(|_| self.log.break_off())
    }

    /// Appends events that must be stored before what they announce begins, even if none of them is a boundary.
    pub(crate) async fn append_durably(&mut self, events: Vec<SessionEvent>) -> Result<Seq, StoreError> {
        self.log.append(&self.flusher, events, Vec::new(), Durability::All, None).await
    }
}
