//! A reader: a cursor over the log of one message, from wherever it stands to the live edge.
//!
//! It subscribes before it reads, so nothing falls between replay and live. It owns no queue: a slow reader costs
//! its cursor. A reader never owns a run; dropping it cancels nothing.

use std::sync::Arc;

use protocol::{
    MessageId, Seq,
    project::chat::{Reading, ends_stream},
};
use store::StoreError;
use tokio::sync::watch;

use crate::EngineError;

use super::{
    log::{BATCH_BYTES, Found, SessionLog, Visible},
    merge::merged,
};

pub struct Viewer {
    log: Arc<SessionLog>,
    visible: watch::Receiver<Visible>,
    cursor: Seq,
    message: MessageId,
    reading: Reading,
    ended: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The log ended without an end: the connection must be cut, not closed.
    #[error("the answer broke off")]
    BrokenOff,
    #[error("the log could not be read")]
    Store(#[from] StoreError),
    /// The message waited and its run never began; the sentence is for the person.
    #[error(transparent)]
    NotBegun(Box<EngineError>),
}

impl Viewer {
    /// Reads the events of `message` after `cursor`.
    pub(crate) fn new(log: Arc<SessionLog>, cursor: Seq, message: MessageId, reading: Reading) -> Self {
        let visible = log.watch();
        Self { log, visible, cursor, message, reading, ended: false }
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

    /// The next frames, as many as are ready; `None` after the end of the message's stream.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ViewError>> {
        loop {
            if self.ended {
                return None;
            }
            let visible = *self.visible.borrow_and_update();
            if self.cursor >= visible.seq {
                if visible.closed || self.visible.changed().await.is_err() {
                    self.ended = true;
                    return Some(Err(ViewError::BrokenOff));
                }
                // What else is ready at this moment leaves in the same write.
                tokio::task::yield_now().await;
                continue;
            }
            let found = match self.log.find(self.cursor, visible.seq, &self.message, &self.reading) {
                Found::Stored => match self.read_stored().await {
                    Ok(found) => found,
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error.into()));
                    }
                },
                found @ Found::Frames { .. } => found,
            };
            if let Found::Frames { bytes, cursor, ended } = found {
                self.cursor = cursor;
                self.ended = ended;
                if !bytes.is_empty() {
                    return Some(Ok(bytes));
                }
            }
        }
    }

    async fn read_stored(&self) -> Result<Found, StoreError> {
        let Some(key) = self.log.key() else {
            return Err(StoreError::Corrupt("a session that is not stored has no stored log".to_owned()));
        };
        let entries = self.log.store().read_log(key, self.cursor, BATCH_BYTES).await?;
        let Some(last) = entries.last().map(|entry| entry.seq) else {
            // A hole below the visible edge: numbers that a crash left unused.
            return Ok(Found::Frames { bytes: Vec::new(), cursor: self.visible.borrow().seq, ended: false });
        };
        let mut bytes = Vec::new();
        let mut cursor = last;
        let mut ended = false;
        for entry in merged(entries) {
            if entry.event.message() != Some(&self.message) || !self.reading.tells(entry.seq, &entry.event) {
                continue;
            }
            self.log.write(&mut bytes, entry.seq, &entry.event);
            if ends_stream(&entry.event) {
                cursor = entry.seq;
                ended = true;
                break;
            }
        }
        Ok(Found::Frames { bytes, cursor, ended })
    }
}
