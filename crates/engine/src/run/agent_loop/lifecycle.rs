//! A run from its first step until it parks or ends. It ends exactly once, whatever happens in between.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures::FutureExt;
use models::ModelError;
use protocol::{
    AnsweredBy, ErrorCode, FinishReason, FrameEnd, MessageRef, RunEnd, SessionEvent, normalize::normalize,
};
use store::{SessionKey, StoreError};

use super::{
    command,
    driver::{AgentWork, Driven, RunStop, drive},
};
use crate::{
    context::cache::History,
    run::{agent_inbox::AgentInbox, agent_log::AgentLog, context::AgentContext, frame::Frame},
    session::live_run::EndedRun,
};

/// The branch that a run continues: the message it answers, and the conversation up to it where that is known already.
pub(crate) struct Branch {
    pub(crate) answers: MessageRef,
    pub(crate) history: Option<History>,
}

/// Runs until the run parks or ends; returns the right to append.
pub(crate) async fn run(mut work: AgentWork, branch: Branch) -> EndedRun {
    let driven = AssertUnwindSafe(begin(&mut work, branch)).catch_unwind().await;
    let AgentWork { context, frame, mut log, inbox, .. } = work;
    let end = match driven {
        Ok(Ok(Driven::Done(reason))) => End::Finished(reason),
        Ok(Ok(Driven::Parked(below))) => {
            let parked = park(&context, &mut log, frame, below).await;
            return ended(log, inbox, parked);
        }
        Ok(Err(RunStop::Cancelled)) if context.run.rejected.load(Ordering::Acquire) => End::Rejected,
        Ok(Err(RunStop::Cancelled)) => End::Cancelled,
        Ok(Err(stop @ RunStop::Store(_))) => return ended(log, inbox, Err(stop)),
        Ok(Err(stop)) => {
            tracing::warn!(run = %context.run.id, error = %stop, "a run failed");
            End::Failed(code(&stop), person_text(&stop))
        }
        Err(_) => {
            tracing::error!(run = %context.run.id, "a run panicked");
            End::Failed(ErrorCode::Internal, INTERNAL.to_owned())
        }
    };
    let finished = finish(&context, &mut log, frame, end).await;
    ended(log, inbox, finished)
}

async fn begin(work: &mut AgentWork, branch: Branch) -> Result<Driven, RunStop> {
    let histories = &work.context.services.caches.histories;
    let Branch { answers, history } = branch;
    work.context.history = match (history, work.log.session_log().key()) {
        (Some(history), Some(key)) => histories.remember(key, &answers, history),
        (None, Some(key)) => read_history(&work.context, key, &answers).await?,
        (_, None) => Arc::default(),
    };
    if command::is_command(&work.frame) {
        return command::execute(&work.context, &mut work.frame, &mut work.log).await;
    }
    drive(work).await
}

/// If the store did not take the pause or the end, readers are cut off, and the run is resumed from what is stored.
fn ended(log: AgentLog, inbox: AgentInbox, stored: Result<(), RunStop>) -> EndedRun {
    if let Err(stop) = stored {
        tracing::error!(error = %stop, "a run could not be stored and was broken off");
        log.session_log().break_off();
    }
    EndedRun { writer: log.into_writer(), answers: inbox.answers }
}

/// Reads the history; tries once more if the store is unavailable for a moment.
async fn read_history(run: &AgentContext, key: SessionKey, answers: &MessageRef) -> Result<History, RunStop> {
    let read = || run.services.caches.histories.up_to(&run.services.store, key, answers);
    match read().await {
        Err(StoreError::Unavailable(error)) => {
            tracing::warn!(%error, "the history could not be read; trying again");
            tokio::select! {
                () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
                () = tokio::time::sleep(PAUSE) => {}
            }
            Ok(read().await?)
        }
        history => Ok(history?),
    }
}

/// Before the second try.
const PAUSE: Duration = Duration::from_millis(100);

/// The result of calls that had none when the run was rejected.
const REJECTED: &str = "the person rejected a call and ended the run";

/// How a run that does not park ends.
enum End {
    Finished(FinishReason),
    /// A person rejected a call and with it the run.
    Rejected,
    Cancelled,
    Failed(ErrorCode, String),
}

const INTERNAL: &str =
    "An internal error ended this answer. What was said so far is kept; send again to go on.";

fn code(stop: &RunStop) -> ErrorCode {
    match stop {
        RunStop::Model(error) => match error.cause() {
            ModelError::TimedOut(_) => ErrorCode::UpstreamTimeout,
            ModelError::RateLimited { .. } => ErrorCode::UpstreamRateLimited,
            _ => ErrorCode::ModelUnavailable,
        },
        RunStop::Cancelled | RunStop::Store(_) | RunStop::Order(_) => ErrorCode::Internal,
    }
}

pub(crate) fn person_text(stop: &RunStop) -> String {
    match stop {
        RunStop::Model(error) => {
            let mut text = error.to_string();
            if let Some(first) = text.get(..1) {
                text.replace_range(..1, &first.to_uppercase());
            }
            if !text.ends_with(['.', '?', '!']) {
                text.push('.');
            }
            text
        }
        RunStop::Cancelled | RunStop::Store(_) | RunStop::Order(_) => INTERNAL.to_owned(),
    }
}

/// Parks the run and the frames of its waiting sub-agents in one append.
async fn park(
    run: &AgentContext,
    log: &mut AgentLog,
    frame: Frame,
    below: Vec<Frame>,
) -> Result<(), RunStop> {
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(below.len() + 1);
    for mut frame in below.into_iter().chain([frame]) {
        frame.park(run.run.id.clone())?;
        events.extend(frame.take());
        messages.push(normalize(frame.into_message()));
    }
    log.append_events(events, messages).await?;
    Ok(())
}

/// Ends the run. The frame becomes its message, so that a long answer is not copied to be stored.
async fn finish(run: &AgentContext, log: &mut AgentLog, mut frame: Frame, end: End) -> Result<(), RunStop> {
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(1);
    for mut orphan in run.tree.take_orphans() {
        orphan.close(FrameEnd::Cancelled)?;
        events.extend(orphan.take());
        messages.push(orphan.into_message());
    }
    let run_end = match end {
        End::Finished(reason) => frame.close(FrameEnd::Finished { reason }).map(|()| RunEnd::Finished),
        End::Rejected => {
            frame.settle_open_calls(REJECTED, AnsweredBy::Events)?;
            let reason = FinishReason::Other;
            frame.close(FrameEnd::Finished { reason }).map(|()| RunEnd::Withdrawn)
        }
        End::Cancelled => frame.close(FrameEnd::Cancelled).map(|()| RunEnd::Cancelled),
        End::Failed(code, message) => frame.fail(code, message).map(|()| RunEnd::Failed),
    }?;
    events.extend(frame.take());
    events.push(SessionEvent::RunEnded {
        run: run.run.id.clone(),
        message: frame.message().id.clone(),
        end: run_end,
    });
    messages.push(frame.into_message());
    let _permit = run.services.tasks.admission.admit().await;
    log.append_events(events, messages).await?;
    Ok(())
}
