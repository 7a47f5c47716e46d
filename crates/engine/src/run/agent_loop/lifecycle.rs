//! A run from its first model call to its pause or its one end, whatever happens in between. Step 4.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use protocol::{ErrorCode, FinishReason, FrameEnd, MessageRef, RunEnd, SessionEvent, normalize::normalize};
use store::{SessionKey, StoreError};

use super::{
    command,
    drive::{Driven, RunCtx, RunStop, drive},
    frame::Frame,
    mail::{Answers, Mail},
    tree::{Busy, Seat},
    turn::Turn,
};
use crate::{context::cache::History, session::log::LogWriter};

/// What a run leaves behind: the right to append, and answers it did not come to.
pub(crate) struct Left {
    pub(crate) writer: LogWriter,
    pub(crate) answers: Answers,
}

/// The branch a run goes on from: the message it answers, and what comes up to there where that is known already.
pub(crate) struct Branch {
    pub(crate) answers: MessageRef,
    pub(crate) history: Option<History>,
}

/// Runs to the pause or the end, and gives the right to append back.
pub(crate) async fn run(
    mut run: RunCtx,
    branch: Branch,
    mut writer: LogWriter,
    mut frame: Frame,
    turn: Turn,
    mut mail: Mail,
    busy: Busy,
) -> Left {
    let mut seat = Seat::new(&run.tree, busy, false);
    let driven = AssertUnwindSafe(async {
        let histories = &run.parts.histories;
        let Branch { answers, history } = branch;
        run.history = match (history, writer.log().key()) {
            (Some(history), Some(key)) => histories.remember(key, &answers, history),
            (None, Some(key)) => read_history(&run, key, &answers).await?,
            (_, None) => Arc::default(),
        };
        if command::is_one(&frame) {
            return command::carry_out(&run, &mut frame, &mut writer).await;
        }
        drive(&run, &mut frame, &mut writer, turn, &mut mail, &mut seat).await
    })
    .catch_unwind()
    .await;
    let end = match driven {
        Ok(Ok(Driven::Done(reason))) => End::Finished(reason),
        Ok(Ok(Driven::Parked(below))) => {
            return match park(&run, &mut writer, &mut frame, below).await {
                Ok(()) => Left { writer, answers: mail.answers },
                Err(stop) => give_up(writer, mail.answers, &stop),
            };
        }
        Ok(Err(RunStop::Cancelled)) => End::Cancelled,
        Ok(Err(stop @ RunStop::Store(_))) => return give_up(writer, mail.answers, &stop),
        Ok(Err(stop)) => {
            tracing::warn!(run = %run.run, error = %stop, "a run failed");
            End::Failed(code(&stop), person_text(&stop))
        }
        Err(_) => {
            tracing::error!(run = %run.run, "a run panicked");
            End::Failed(ErrorCode::Internal, INTERNAL.to_owned())
        }
    };
    match finish(&run, &mut writer, frame, end).await {
        Ok(()) => Left { writer, answers: mail.answers },
        Err(stop) => give_up(writer, mail.answers, &stop),
    }
}

/// A store that stumbles once costs a moment, not the run.
async fn read_history(run: &RunCtx, key: SessionKey, answers: &MessageRef) -> Result<History, RunStop> {
    let read = || run.parts.histories.up_to(&run.parts.store, key, answers);
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

/// How a run that does not wait ends.
enum End {
    Finished(FinishReason),
    Cancelled,
    Failed(ErrorCode, String),
}

const INTERNAL: &str =
    "An internal error ended this answer. What was said so far is kept; send again to go on.";

fn code(stop: &RunStop) -> ErrorCode {
    match stop {
        RunStop::Model(_) => ErrorCode::ModelUnavailable,
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

/// The run leaves memory, and with it every frame below that waits: all in one go.
async fn park(
    run: &RunCtx,
    writer: &mut LogWriter,
    frame: &mut Frame,
    mut below: Vec<Frame>,
) -> Result<(), RunStop> {
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(below.len() + 1);
    for frame in below.iter_mut().chain([frame]) {
        frame.park(run.run.clone())?;
        events.extend(frame.take());
        messages.push(normalize(frame.message().clone()));
    }
    writer.append(events, messages).await?;
    Ok(())
}

/// The frame goes into its message: a long answer is not copied to be stored.
async fn finish(run: &RunCtx, writer: &mut LogWriter, mut frame: Frame, end: End) -> Result<(), RunStop> {
    let mut events = Vec::new();
    let mut messages = Vec::with_capacity(1);
    for mut orphan in run.tree.take_orphans() {
        orphan.close(FrameEnd::Cancelled)?;
        events.extend(orphan.take());
        messages.push(orphan.into_message());
    }
    let run_end = match end {
        End::Finished(reason) => frame.close(FrameEnd::Finished { reason }).map(|()| RunEnd::Finished),
        End::Cancelled => frame.close(FrameEnd::Cancelled).map(|()| RunEnd::Cancelled),
        End::Failed(code, message) => frame.fail(code, message).map(|()| RunEnd::Failed),
    }?;
    events.extend(frame.take());
    events.push(SessionEvent::RunEnded {
        run: run.run.clone(),
        message: frame.message().id.clone(),
        end: run_end,
    });
    messages.push(frame.into_message());
    let _place = run.parts.door.pass(run.parts.sessions.count()).await;
    writer.append(events, messages).await?;
    Ok(())
}

/// The store does not take the run's end: readers are cut off, and the run is taken up again from what is stored.
fn give_up(writer: LogWriter, answers: Answers, stop: &RunStop) -> Left {
    tracing::error!(error = %stop, "a run could not be stored and was broken off");
    writer.log().break_off();
    Left { writer, answers }
}
