//! A run that a command began: no agent speaks, the server does what was asked and says what came of it.

use protocol::{FinishReason, SegmentKind};

use super::{
    compact::{self, Compacted},
    drive::{Driven, RunCtx, RunStop},
    frame::Frame,
};
use crate::{context::compaction::Status, session::log::LogWriter};

const DONE: &str = "The older part of this chat is summarised. From here on the model reads the summary in its place; \
    the messages themselves stay as they are.";
const NOTHING: &str = "There is nothing to summarise yet: the model still reads every word of this chat.";

/// Whether the frame was opened for a command.
pub(crate) fn is_one(frame: &Frame) -> bool {
    frame.facts().command.is_some()
}

pub(crate) async fn carry_out(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
) -> Result<Driven, RunStop> {
    let wish = frame.facts().command.as_ref().map(|command| command.wish.clone()).unwrap_or_default();
    // Done before a crash, which came before the run could end.
    let before = frame.newest_compaction().is_some_and(|(_, it)| it.status == Status::Done);
    let compacted = match before {
        true => Compacted::Done,
        false => compact::on_command(run, frame, writer, &wish).await?,
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
