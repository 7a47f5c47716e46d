//! A run that was started by a command: the server does what was asked and answers with the result; no agent is called.

use protocol::{FinishReason, SegmentKind};

use super::driver::{Driven, RunStop};
use crate::{
    context::compaction::Status,
    run::{
        agent_log::AgentLog,
        context::AgentContext,
        frame::Frame,
        model_call::compact::{self, Compacted},
    },
};

const DONE: &str = "The older part of this chat is summarised. From here on the model reads the summary in its place; \
    the messages themselves stay as they are.";
const NOTHING: &str = "There is nothing to summarise: this chat has only one turn, or everything before the newest turn is summarised \
    already.";

/// Whether the frame was opened for a command.
pub(super) fn is_command(frame: &Frame) -> bool {
    frame.facts().command.is_some()
}

pub(super) async fn execute(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
) -> Result<Driven, RunStop> {
    let wish = frame.facts().command.as_ref().map(|command| command.wish.clone()).unwrap_or_default();
    // The compaction was done before a crash, and the run had not ended yet.
    let before = frame.newest_compaction().is_some_and(|(_, it)| it.status == Status::Done);
    let compacted = match before {
        true => Compacted::Done,
        false => compact::on_command(run, frame, log, &wish).await?,
    };
    let text = match compacted {
        Compacted::Done => DONE.to_owned(),
        Compacted::Nothing => NOTHING.to_owned(),
        Compacted::Failed => {
            let why = frame.newest_compaction().and_then(|(_, it)| it.error).unwrap_or_default();
            format!("The chat could not be summarised: {why}. Nothing has changed; try again later.")
        }
    };
    frame.say(SegmentKind::Text, text)?;
    frame.finish_step()?;
    Ok(Driven::Done(FinishReason::Stop))
}
