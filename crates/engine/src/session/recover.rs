//! Resumes what was active when the last process ended, and ends a run that keeps crashing the process (ADR 20).
//!
//! The store counts in how many crashes in a row a run was active. The count is on disk before anything of the run is
//! read, since reading it may be what ends the process. A run with few crashes is resumed at once. One that the next
//! crash would end is resumed while no other such run is, so that the crash shows which of them caused it. At
//! `max_crashes` (3) it is ended as failed, and its message says why. A queued message that begins is counted in the same way.
//! The count is dropped when the run has ended or paused, when it was active for [`PROVEN`] in a process that lives,
//! and when the process was asked to end.

use std::time::Duration;

use protocol::{MessageId, QueueExit, SessionEvent, planted::Unread};
use store::{LastRun, QueuedMessage, RecoveryAttempt, RecoveryStage, RunStatus, SessionKey, SessionRecord};
use tokio::{sync::OwnedSemaphorePermit, time::sleep};

use super::{
    actor::Actor,
    request::Submit,
    runner::{Ending, FailedStart, Resume},
    submit::Placed,
};
use crate::{EngineError, log::session_log::Visible, services::Services};

/// How long a run is active alone before the next one is resumed.
const ALONE: Duration = Duration::from_secs(5);
/// A run that was active for so long in one process has nothing to do with the crashes before.
const PROVEN: Duration = Duration::from_secs(60);

/// The reason that the message gives the person.
pub(crate) fn crashed_text(crashes: u32) -> String {
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
        let Some(LastRun { message: unit, status: RunStatus::Running }) = &record.last_run else {
            return if record.queued > 0 && !self.queue.backlog {
                self.recover_queue(record).await
            } else {
                Ok(())
            };
        };
        self.queue.backlog |= record.queued > 0;
        let attempt = self.services.store.recovery_attempt(record.key, unit).await?;
        let Some(run) = self.services.store.run_of_message(record.key, unit).await? else { return Ok(()) };
        if attempt.crashes >= self.services.settings.max_crashes {
            self.runner.end(&record, &run, Ending::Crashed(attempt)).await?;
            self.services.store.forget_recovery(record.key, &run.message).await?;
            tracing::warn!(run = %run.id, crashes = attempt.crashes, "{ENDED}");
            return Ok(());
        }
        let alone = self.alone(attempt).await?;
        self.resume(&record, run, Resume::Recover(attempt)).await?;
        if attempt.crashes > 0 {
            self.watch_over(record.key, unit.clone(), alone);
        }
        Ok(())
    }

    /// Waits until no other run is being resumed alone, if this one must be.
    async fn alone(&self, attempt: RecoveryAttempt) -> Result<Option<OwnedSemaphorePermit>, EngineError> {
        if attempt.crashes < self.services.settings.alone_from() {
            return Ok(None);
        }
        tokio::select! {
            biased;
            () = self.services.tasks.shutdown.cancelled() => Err(EngineError::ShuttingDown),
            permit = self.services.tasks.recovery.clone().acquire_owned() => {
                permit.map(Some).map_err(|_| EngineError::ShuttingDown)
            }
        }
    }

    /// Drops the crash count of the resumed run once it has ended, paused or been active long enough.
    fn watch_over(&self, key: SessionKey, unit: MessageId, alone: Option<OwnedSemaphorePermit>) {
        let Some(live) = &self.live else { return };
        let (mut visible, began) = (live.log.watch(), live.began);
        let (store, ending) = (self.services.store.clone(), self.services.tasks.shutdown.clone());
        self.services.tasks.tracker.spawn(async move {
            // An error means that the log is gone, and the run with it.
            let is_over = |visible: &Visible| visible.broken || visible.run_over > began;
            let over = async { visible.wait_for(is_over).await.map(drop).unwrap_or_default() };
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

    /// The queued message that begins. It is answered with the failure when it was about to begin in too many crashes.
    async fn recover_queue(&mut self, record: SessionRecord) -> Result<(), EngineError> {
        let Some(next) = self.queued().await?.into_iter().next() else { return Ok(()) };
        let (key, unit) = (record.key, next.id().clone());
        let attempt = self.services.store.recovery_attempt(key, &unit).await?;
        if attempt.crashes == 0 {
            self.queue.backlog = true;
            return Ok(());
        }
        if attempt.crashes >= self.services.settings.max_crashes {
            self.fail_queued(record, next, attempt).await?;
            tracing::warn!(message = %unit, crashes = attempt.crashes, "{ENDED}");
            self.queue.backlog = true;
        } else {
            let _alone = self.alone(attempt).await?;
            note_stage(&self.services, key, &unit, attempt, RecoveryStage::Active).await?;
            self.queue.backlog = true;
            self.begin_next().await;
        }
        Ok(self.services.store.forget_recovery(key, &unit).await?)
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
        note_stage(&self.services, record.key, &id, attempt, RecoveryStage::Folding).await?;
        let record = self.ready(record).await?;
        let QueuedMessage { message, edits, after, options } = queued;
        let submit = Submit { message, edits, after, earlier: Unread::default() };
        let Placed::New { accepted, answers } = self.place(&record, &submit, &options).await? else {
            return self.leave_queue(vec![id], QueueExit::Refused).await;
        };
        let events = vec![SessionEvent::QueueLeft { queued: id, why: QueueExit::Begun }, accepted];
        let reason = crashed_text(attempt.crashes);
        self.runner.fail_to_start(&record, FailedStart { events, answers, options, reason }).await
    }
}

/// Stores which stage of recovery a run has reached, if the next crash must be attributed to one.
pub(crate) async fn note_stage(
    services: &Services,
    key: SessionKey,
    unit: &MessageId,
    attempt: RecoveryAttempt,
    stage: RecoveryStage,
) -> Result<(), EngineError> {
    if attempt.crashes >= services.settings.alone_from() {
        services.store.note_recovery(key, unit, stage).await?;
    }
    Ok(())
}

const ENDED: &str = "an answer was ended because the server crashed too often while it was being written";
