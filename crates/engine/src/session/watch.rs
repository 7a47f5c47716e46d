//! Finds the reader for a client that follows a session: from the first chunk of the message, or after an event it has.

use protocol::{Seq, SessionEvent, project::chat::View};
use store::LastRun;

use super::{actor::Actor, viewer::Viewer};
use crate::{EngineError, log::session_log::SessionLog};

impl Actor {
    pub(super) async fn watch(&mut self, after: Option<Seq>) -> Result<Option<Viewer>, EngineError> {
        // A run that a failing store left behind is resumed as soon as a client follows it.
        self.recover().await?;
        if self.live.is_none() && self.queue.backlog {
            self.begin_next().await;
        }
        match (&self.live, after) {
            (Some(live), None) => Ok(Some(live.watch())),
            (Some(live), Some(after)) => {
                // An event that is not in the log cannot be continued from: the client receives the whole message again.
                let last = live.log.last();
                let known = (live.record.first_seq..=last).contains(&after)
                    && (live.log.remembers(after) || self.is_stored(&live.log, after).await?);
                Ok(Some(if known { live.watch_after(after) } else { live.watch() }))
            }
            (None, None) => Ok(None),
            (None, Some(after)) => self.watch_ended(after).await,
        }
    }

    async fn is_stored(&self, log: &SessionLog, seq: Seq) -> Result<bool, EngineError> {
        match log.key() {
            Some(key) => Ok(self.services.store.is_stored(key, seq).await?),
            None => Ok(false),
        }
    }

    /// The rest of an answer that ended or parked while the client was away.
    async fn watch_ended(&self, after: Seq) -> Result<Option<Viewer>, EngineError> {
        let Some(record) = self.record().await? else { return Ok(None) };
        let Some(LastRun { message: id, .. }) = &record.last_run else { return Ok(None) };
        let Some(run) = self.services.store.run_of_message(record.key, id).await? else { return Ok(None) };
        let in_run = (run.first_seq..record.high_water).contains(&after);
        if !in_run || !self.services.store.is_stored(record.key, after).await? {
            return Ok(None);
        }
        let next = self.services.store.read_log(record.key, after, 1).await?;
        let more = next.iter().any(|entry| {
            entry.event.message() == Some(&run.message)
                && !matches!(entry.event, SessionEvent::RunEnded { .. })
        });
        Ok(more.then(|| {
            self.archived(&record, &run, View::WholeMessage).skipping(after).beginning(run.first_seq)
        }))
    }
}
