//! Following a run: from the first chunk of its message, after an event the client has, or from where it last went on.

use std::sync::Arc;

use protocol::SessionEvent;
use protocol::{
    Seq,
    project::chat::{Reading, View},
};

use super::{
    actor::{Actor, Live},
    log::SessionLog,
    subscribe::Viewer,
};
use store::LastRun;

use crate::EngineError;

impl Actor {
    pub(super) async fn watch(&mut self, after: Option<Seq>) -> Result<Option<Viewer>, EngineError> {
        // What a store that failed left behind goes on as soon as somebody looks.
        self.recover().await?;
        if self.live.is_none() && self.queue.backlog {
            self.begin_next().await;
        }
        match (&self.live, after) {
            (Some(live), None) => Ok(Some(live.watch())),
            (Some(live), Some(after)) => {
                // What is not in the log any more, or never was, cannot be continued: the whole message again.
                let last = live.log.last();
                let known = (live.run.first_seq..=last).contains(&after)
                    && (live.log.remembers(after) || self.is_stored(&live.log, after).await?);
                Ok(Some(if known { live.watch_after(after) } else { live.watch() }))
            }
            (None, None) => Ok(None),
            (None, Some(after)) => self.watch_ended(after).await,
        }
    }

    async fn is_stored(&self, log: &SessionLog, seq: Seq) -> Result<bool, EngineError> {
        match log.key() {
            Some(key) => Ok(self.parts.store.is_stored(key, seq).await?),
            None => Ok(false),
        }
    }

    /// The rest of an answer that ended, or paused, while the client was away.
    async fn watch_ended(&self, after: Seq) -> Result<Option<Viewer>, EngineError> {
        let Some(record) = self.record().await? else { return Ok(None) };
        let Some(LastRun { message: id, .. }) = &record.last_run else { return Ok(None) };
        let Some(run) = self.parts.store.run_of_message(record.key, id).await? else { return Ok(None) };
        let in_run = (run.first_seq..record.high_water).contains(&after);
        if !in_run || !self.parts.store.is_stored(record.key, after).await? {
            return Ok(None);
        }
        let next = self.parts.store.read_log(record.key, after, 1).await?;
        let more = next.iter().any(|entry| {
            entry.event.message() == Some(&run.message)
                && !matches!(entry.event, SessionEvent::RunEnded { .. })
        });
        Ok(more.then(|| {
            self.archived(&record, &run, View::WholeMessage).skipping(after).beginning(run.first_seq)
        }))
    }
}

impl Live {
    /// A reader from the first chunk of the message.
    pub(super) fn watch(&self) -> Viewer {
        let reading =
            Reading { view: View::WholeMessage, last_resume: self.run.last_resume, edge: self.log.last() };
        Viewer::new(Arc::clone(&self.log), self.run.first_seq - 1, self.run.message.clone(), reading)
            .lane(self.run.options.sub_agent_stream)
    }

    /// A reader that has everything up to this event.
    fn watch_after(&self, after: Seq) -> Viewer {
        let viewer = self.watch().skipping(after);
        if self.tree.is_grown() { viewer.beginning(self.run.first_seq) } else { viewer }
    }

    /// A reader from the moment the run last went on.
    pub(super) fn watch_continuation(&self) -> Viewer {
        let reading =
            Reading { view: View::Continuation, last_resume: self.run.last_resume, edge: self.log.last() };
        let viewer =
            Viewer::new(Arc::clone(&self.log), self.run.last_resume - 1, self.run.message.clone(), reading)
                .lane(self.run.options.sub_agent_stream);
        if self.tree.is_grown() { viewer.beginning(self.run.first_seq) } else { viewer }
    }
}
