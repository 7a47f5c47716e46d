//! The right to append to a session's log.
//!
//! There is one writer per session. The session's owner hands it to the run and gets it back when the run has ended or
//! parked; the sub-agents of the run hold copies and append in turn.

use std::sync::Arc;

use protocol::{Seq, SessionEvent, UiMessage};
use store::StoreError;

use super::{
    flusher::Flusher,
    session_log::{Durability, SessionLog},
};

pub(crate) struct LogWriter {
    log: Arc<SessionLog>,
    flusher: Arc<Flusher>,
}

impl LogWriter {
    pub(crate) fn new(log: Arc<SessionLog>, flusher: Arc<Flusher>) -> Self {
        Self { log, flusher }
    }

    /// A writer for an agent that works at the same time.
    pub(crate) fn share(&self) -> Self {
        Self::new(Arc::clone(&self.log), Arc::clone(&self.flusher))
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
        self.log.append(&self.flusher, events, messages, Durability::Boundaries).await
    }

    /// Appends events that must be stored before what they announce begins, even if none of them is a boundary.
    pub(crate) async fn append_durably(&mut self, events: Vec<SessionEvent>) -> Result<Seq, StoreError> {
        self.log.append(&self.flusher, events, Vec::new(), Durability::All).await
    }
}
