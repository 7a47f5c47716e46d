//! Ends a run that is not in memory: one that waits for an answer, or that a crash or a failing store left behind.

use protocol::{
    AnsweredBy, ErrorCode, FinishReason, FoldError, FrameEnd, IdSource, MessageFacts, MessageId, RunEnd,
    SessionEvent, UiMessage,
};
use store::{RecoveryAttempt, RecoveryStage, RunRecord, SessionRecord, StoreError};

use super::{
    end_from_tables::end_from_tables,
    frame::Frame,
    restore::{RestoredRun, restore},
};
use crate::{
    EngineError,
    mailbox::answer::Decision,
    services::Services,
    session::{
        log_end::append_without_run,
        recover::{crashed_text, note_stage},
        runner::{AnsweredApproval, Ending, FailedStart},
    },
};

/// The result of calls that a crash interrupted.
pub(super) const CRASHED: &str = "the server ended unexpectedly before this call had a result";

/// The events that end a run, and the messages that they close.
pub(super) struct EndOfRun {
    pub(super) events: Vec<SessionEvent>,
    pub(super) messages: Vec<UiMessage>,
}

pub(super) async fn end(
    services: &Services,
    record: &SessionRecord,
    run: &RunRecord,
    ending: Ending,
) -> Result<(), EngineError> {
    let EndOfRun { events, messages } = match ending {
        Ending::Crashed(attempt) => end_crashed(services, record, run, attempt).await?,
        Ending::Withdrawn => {
            let end = FrameEnd::Finished { reason: FinishReason::Other };
            let why = "the person sent something else instead of answering";
            let by = AnsweredBy::Chat;
            let restored = restore(&services.store, record.key, run).await?;
            end_of_run(&*services.ids, restored, run, why, by, RunEnd::Withdrawn, |frame| frame.close(end))
                .map_err(corrupt)?
        }
        Ending::Rejected(approval) => {
            let end = FrameEnd::Finished { reason: FinishReason::Other };
            let why = "the person rejected a call and ended the run";
            let mut restored = restore(&services.store, record.key, run).await?;
            let by = AnsweredBy::Events;
            let decision = Decision { by, ..Decision::new(false, None) };
            restored.answer(&AnsweredApproval { approval, decision }).map_err(corrupt)?;
            end_of_run(&*services.ids, restored, run, why, by, RunEnd::Withdrawn, |frame| frame.close(end))
                .map_err(corrupt)?
        }
        Ending::StoppedWhileParked | Ending::Stopped => {
            let why = match ending {
                Ending::StoppedWhileParked => "stopped instead of answered",
                _ => "stopped before this call had a result",
            };
            let restored = restore(&services.store, record.key, run).await?;
            end_of_run(&*services.ids, restored, run, why, AnsweredBy::Server, RunEnd::Cancelled, |frame| {
                frame.close(FrameEnd::Cancelled)
            })
            .map_err(corrupt)?
        }
    };
    append_without_run(services, record, events, messages).await.map(drop)
}

/// Ends a run that was active in too many crashes. If the last crash came while its log was folded, the log is not folded
/// again: the end is written from the tables.
async fn end_crashed(
    services: &Services,
    record: &SessionRecord,
    run: &RunRecord,
    attempt: RecoveryAttempt,
) -> Result<EndOfRun, EngineError> {
    let text = crashed_text(attempt.crashes);
    if attempt.stage == RecoveryStage::Folding {
        return Ok(end_from_tables(&*services.store, record.key, run, &text).await?);
    }
    note_stage(services, record.key, &run.message, attempt, RecoveryStage::Folding).await?;
    let restored = restore(&services.store, record.key, run).await?;
    let fail = |frame: &mut Frame| frame.fail(ErrorCode::Internal, text);
    end_of_run(&*services.ids, restored, run, CRASHED, AnsweredBy::Server, RunEnd::Failed, fail)
        .map_err(corrupt)
}

fn end_of_run(
    ids: &dyn IdSource,
    restored: RestoredRun,
    run: &RunRecord,
    why: &str,
    by: AnsweredBy,
    end: RunEnd,
    close: impl FnOnce(&mut Frame) -> Result<(), FoldError>,
) -> Result<EndOfRun, FoldError> {
    let RestoredRun { mut frame, sub_agents, mut unshown, .. } = restored;
    unshown.show(&mut frame, ids)?;
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(1);
    // Each frame is resumed only to end, so that no reader takes its pause for the end.
    for mut sub_agent in sub_agents.into_iter().filter(|sub_agent| !sub_agent.frame.is_closed()) {
        sub_agent.frame.resume(run.id.clone())?;
        sub_agent.frame.settle_open_calls(why, by)?;
        sub_agent.frame.close(FrameEnd::Cancelled)?;
        events.extend(sub_agent.frame.take());
        messages.push(sub_agent.frame.into_message());
    }
    frame.resume(run.id.clone())?;
    frame.settle_open_calls(why, by)?;
    close(&mut frame)?;
    events.extend(frame.take());
    messages.push(frame.into_message());
    events.push(SessionEvent::RunEnded { run: run.id.clone(), message: run.message.clone(), end });
    Ok(EndOfRun { events, messages })
}

/// Appends a run that failed before it began.
pub(super) async fn fail_to_start(
    services: &Services,
    record: &SessionRecord,
    failed: FailedStart,
) -> Result<(), EngineError> {
    let FailedStart { mut events, answers, options, reason } = failed;
    let (run, message): (_, MessageId) = (services.ids.run(), services.ids.message());
    let mut frame = Frame::new(message.clone());
    frame.open(MessageFacts::default(), None).map_err(corrupt)?;
    frame.fail(ErrorCode::Internal, reason).map_err(corrupt)?;
    let options = Box::new(options);
    events.push(SessionEvent::RunStarted { run: run.clone(), answers, message: message.clone(), options });
    events.extend(frame.take());
    events.push(SessionEvent::RunEnded { run, message, end: RunEnd::Failed });
    append_without_run(services, record, events, vec![frame.into_message()]).await.map(drop)
}

/// Events that fold to no message mean that the log is corrupt.
pub(super) fn corrupt(error: FoldError) -> EngineError {
    EngineError::Store(StoreError::Corrupt(error.to_string()))
}
