//! Resumes what was active when the last process ended, and ends a run that keeps crashing the process (ADR 20).
//!
//! The store counts in how many crashes in a row a run was active. The count is on disk before anything of the run is
//! read, since reading it may be what ends the process. A run with few crashes is resumed at once. One that the next
//! crash would end is resumed while no other such run is, so that the crash shows which of them caused it. At
//! `max_crashes` (3) it is ended as failed, and its message says why. A queued message that begins is counted in the same way.
//! The count is dropped when the run has ended or paused, when it was active for [`PROVEN`] in a process that lives,
//! and when the process was asked to end.

use std::time::Duration;

use protocol::{
    ErrorCode, FoldError, FrameEnd, IdSource, MessageFacts, MessageId, QueueExit, RunEnd, SessionEvent,
    UiMessage, planted::Unread,
};
use store::{QueuedMessage, RecoveryAttempt, RecoveryStage, RunRecord, RunStatus, SessionKey, SessionRecord};
use tokio::{sync::OwnedSemaphorePermit, time::sleep};

use super::{
    actor::{Actor, order},
    log::LogWriter,
    recover_rows,
    request::Submit,
    submit::Placed,
};
use crate::{
    EngineError,
    run::{
        frame::Frame,
        resume::{self, Rebuilt, Why},
        tree::Revived,
    },
};

/// A run that was active in so many crashes in a row is ended, unless a setting says otherwise.
pub(crate) const MAX_CRASHES: u32 = 3;
/// How long a run is active alone before the next one is resumed.
const ALONE: Duration = Duration::from_secs(5);
/// A run that was active for so long in one process has nothing to do with the crashes before.
const PROVEN: Duration = Duration::from_secs(60);

/// For the calls that have no result.
pub(super) const WHY: &str = "the server ended unexpectedly before this call had a result";

/// For the person.
pub(super) fn crashed_text(crashes: u32) -> String {
    format!(
        "The server ended unexpectedly {crashes} times while this answer was being written, so the answer was stopped. \
         Send your message again to retry."
    )
}

impl Actor {
    /// Resumes the session's active run, or else its queued messages.
    pub(super) async fn recover(&mut self) -> Result<(), EngineError> {
        if self.live.is_some() {
            return Ok(());
        }
        let Some(record) = self.record().await? else { return Ok(()) };
        let Some((unit, RunStatus::Running)) = &record.last_run else {
            return if record.queued > 0 && !self.queue.backlog {
                self.recover_queue(record).await
            } else {
                Ok(())
            };
        };
        self.queue.backlog |= record.queued > 0;
        let attempt = self.parts.store.recovery_attempt(record.key, unit).await?;
        let Some(run) = self.parts.store.run_of_message(record.key, unit).await? else { return Ok(()) };
        if attempt.crashes >= self.parts.settings.max_crashes {
            return self.end_crashed(&record, &run, attempt).await;
        }
        let alone = self.alone(attempt).await?;
        self.note_stage(record.key, unit, attempt, RecoveryStage::Folding).await?;
        let rebuilt = resume::rebuild(&self.parts.store, record.key, &run).await?;
        self.note_stage(record.key, unit, attempt, RecoveryStage::Active).await?;
        self.resume_from(&record, run, rebuilt, Why::Crashed, |_| Ok(())).await?;
        if attempt.crashes > 0 {
            self.watch_over(record.key, unit.clone(), alone);
        }
        Ok(())
    }

    /// Waits until no other run is being resumed alone, if this one must be.
    async fn alone(&self, attempt: RecoveryAttempt) -> Result<Option<OwnedSemaphorePermit>, EngineError> {
        if attempt.crashes < self.parts.settings.alone_from() {
            return Ok(None);
        }
        tokio::select! {
            biased;
            () = self.parts.ending.cancelled() => Err(EngineError::ShuttingDown),
            permit = self.parts.recovering.clone().acquire_owned() => {
                permit.map(Some).map_err(|_| EngineError::ShuttingDown)
            }
        }
    }

    /// Stores how far the recovery has come, where a crash must be told apart.
    async fn note_stage(
        &self,
        key: SessionKey,
        unit: &MessageId,
        attempt: RecoveryAttempt,
        stage: RecoveryStage,
    ) -> Result<(), EngineError> {
        if attempt.crashes >= self.parts.settings.alone_from() {
            self.parts.store.note_recovery(key, unit, stage).await?;
        }
        Ok(())
    }

    /// Drops the crash count of the resumed run once it has ended, paused or been active long enough.
    fn watch_over(&self, key: SessionKey, unit: MessageId, alone: Option<OwnedSemaphorePermit>) {
        let Some(live) = &self.live else { return };
        let mut visible = live.log.watch();
        let (store, ending) = (self.parts.store.clone(), self.parts.ending.clone());
        self.parts.tasks.spawn(async move {
            // An error means that the log is gone, and the run with it.
            let over =
                async { visible.wait_for(|visible| visible.closed).await.map(drop).unwrap_or_default() };
            tokio::pin!(over);
            let is_over = tokio::select! {
                () = ending.cancelled() => return,
                () = &mut over => true,
                () = sleep(ALONE) => false,
            };
            drop(alone);
            if !is_over {
                tokio::select! {
                    () = ending.cancelled() => return,
                    () = over => {}
                    () = sleep(PROVEN - ALONE) => {}
                }
            }
            if let Err(error) = store.forget_recovery(key, &unit).await {
                tracing::debug!(%error, "the crashes of a run could not be dropped; the next start does it");
            }
        });
    }

    /// Ends a run that was active in too many crashes. If folding its log was the last thing that was done to it, the
    /// log is not folded again: the end is written from the tables.
    async fn end_crashed(
        &self,
        record: &SessionRecord,
        run: &RunRecord,
        attempt: RecoveryAttempt,
    ) -> Result<(), EngineError> {
        let (store, text) = (&self.parts.store, crashed_text(attempt.crashes));
        let (events, messages) = if attempt.stage == RecoveryStage::Folding {
            recover_rows::ending(&**store, record.key, run, &text).await?
        } else {
            self.note_stage(record.key, &run.message, attempt, RecoveryStage::Folding).await?;
            let rebuilt = resume::rebuild(store, record.key, run).await?;
            let fail = |frame: &mut Frame| frame.fail(ErrorCode::Internal, text);
            ending(&*self.parts.ids, rebuilt, run, WHY, RunEnd::Failed, fail).map_err(order)?
        };
        self.write_beside(record, events, messages).await?;
        store.forget_recovery(record.key, &run.message).await?;
        tracing::warn!(run = %run.id, crashes = attempt.crashes, "{ENDED}");
        Ok(())
    }

    /// The queued message that begins. It is answered with the failure when it was about to begin in too many crashes.
    async fn recover_queue(&mut self, record: SessionRecord) -> Result<(), EngineError> {
        let Some(next) = self.queued().await?.into_iter().next() else { return Ok(()) };
        let (key, unit) = (record.key, next.id().clone());
        let attempt = self.parts.store.recovery_attempt(key, &unit).await?;
        if attempt.crashes == 0 {
            self.queue.backlog = true;
            return Ok(());
        }
        if attempt.crashes >= self.parts.settings.max_crashes {
            self.fail_queued(record, next, attempt).await?;
            tracing::warn!(message = %unit, crashes = attempt.crashes, "{ENDED}");
            self.queue.backlog = true;
        } else {
            let _alone = self.alone(attempt).await?;
            self.note_stage(key, &unit, attempt, RecoveryStage::Active).await?;
            self.queue.backlog = true;
            self.begin_next().await;
        }
        Ok(self.parts.store.forget_recovery(key, &unit).await?)
    }

    async fn fail_queued(
        &self,
        record: SessionRecord,
        queued: QueuedMessage,
        attempt: RecoveryAttempt,
    ) -> Result<(), EngineError> {
        let id = queued.id().clone();
        if attempt.stage == RecoveryStage::Folding {
            return self.leave_queue(vec![id], QueueExit::Refused).await;
        }
        self.note_stage(record.key, &id, attempt, RecoveryStage::Folding).await?;
        let record = self.ready(record).await?;
        let QueuedMessage { message, edits, after, options } = queued;
        let submit = Submit { message, edits, after, earlier: Unread::default() };
        let Placed::New { accepted, answers } = self.place(&record, &submit, &options).await? else {
            return self.leave_queue(vec![id], QueueExit::Refused).await;
        };
        let (run, message) = (self.parts.ids.run(), self.parts.ids.message());
        let mut frame = Frame::new(message.clone());
        frame.open(MessageFacts::default(), None).map_err(order)?;
        frame.fail(ErrorCode::Internal, crashed_text(attempt.crashes)).map_err(order)?;
        let mut events = vec![
            SessionEvent::QueueLeft { queued: id, why: QueueExit::Begun },
            accepted,
            SessionEvent::RunStarted {
                run: run.clone(),
                answers,
                message: message.clone(),
                options: Box::new(options),
            },
        ];
        events.extend(frame.take());
        events.push(SessionEvent::RunEnded { run, message, end: RunEnd::Failed });
        self.write_beside(&record, events, vec![frame.message().clone()]).await
    }

    /// Appends to the log of a session in which nothing is active.
    pub(super) async fn write_beside(
        &self,
        record: &SessionRecord,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<(), EngineError> {
        let log = self.open_log(&record.into());
        let mut writer = LogWriter::new(log, self.parts.flusher.clone());
        writer.append(events, messages).await?;
        Ok(())
    }
}

const ENDED: &str = "an answer was ended because the server crashed too often while it was being written";

/// What ends a run that is not in memory: the events, and the messages that they close.
pub(super) fn ending(
    ids: &dyn IdSource,
    rebuilt: Rebuilt,
    run: &RunRecord,
    why: &str,
    end: RunEnd,
    close: impl FnOnce(&mut Frame) -> Result<(), FoldError>,
) -> Result<(Vec<SessionEvent>, Vec<UiMessage>), FoldError> {
    let Rebuilt { mut frame, below, mut unshown, .. } = rebuilt;
    unshown.show(&mut frame, ids)?;
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(1);
    // Each goes on only to end, so that no reader takes a pause for the end.
    for Revived { frame: mut below, .. } in below.into_iter().filter(|below| !below.frame.is_closed()) {
        below.go_on(run.id.clone())?;
        below.settle_open_calls(why)?;
        below.close(FrameEnd::Cancelled)?;
        events.extend(below.take());
        messages.push(below.message().clone());
    }
    frame.go_on(run.id.clone())?;
    frame.settle_open_calls(why)?;
    close(&mut frame)?;
    events.extend(frame.take());
    messages.push(frame.message().clone());
    events.push(SessionEvent::RunEnded { run: run.id.clone(), message: run.message.clone(), end });
    Ok((events, messages))
}
