//! One frame of a run, reached from outside: follow it, stop it, say something to it.

use std::sync::Arc;

use protocol::{
    FrameEnd, MessageId, Seq, ToolOutcome, ToolState,
    project::chat::{Reading, View},
};
use store::{FrameRecord, FrameStatus, RunStatus};

use super::{
    actor::{Actor, Reply},
    subscribe::Viewer,
};
use crate::{
    EngineError,
    run::resume::{Rebuilt, Why},
};

impl Actor {
    /// A reader of a sub-agent at work; nothing when it has ended.
    pub(super) async fn watch_frame(
        &mut self,
        frame: FrameRecord,
        after: Option<Seq>,
    ) -> Result<Option<Viewer>, EngineError> {
        self.recover().await?;
        let Some(live) = &self.live else { return Ok(None) };
        if live.tree.by_chat(frame.chat.as_str()).is_none() {
            return Ok(None);
        }
        let reading =
            Reading { view: View::WholeMessage, last_resume: frame.last_resume, edge: live.log.last() };
        let viewer = Viewer::new(Arc::clone(&live.log), frame.first_seq - 1, frame.message.clone(), reading)
            .lane(live.run.options.sub_agent_stream);
        let known = after.filter(|after| (frame.first_seq..=live.log.last()).contains(after));
        Ok(Some(match known {
            Some(after) => viewer.skipping(after).beginning(frame.first_seq),
            None => viewer,
        }))
    }

    pub(super) async fn stop_frame(&mut self, frame: FrameRecord, reply: Reply<bool>) {
        if let Some(live) = &self.live {
            let Some((_, handle)) = live.tree.by_chat(frame.chat.as_str()) else {
                return drop(reply.send(Ok(false)));
            };
            handle.cancel.cancel();
            let mut result = handle.result;
            self.parts.tasks.spawn(async move {
                // An error means that the frame is gone, which is what was asked for.
                drop(result.wait_for(Option::is_some).await);
                drop(reply.send(Ok(true)));
            });
            return;
        }
        let stopped = self.stop_parked_frame(&frame).await;
        drop(reply.send(stopped));
    }

    /// The run waits for a person; the frame ends, and its caller goes on without it.
    async fn stop_parked_frame(&mut self, frame: &FrameRecord) -> Result<bool, EngineError> {
        let Some(record) = self.record().await? else { return Ok(false) };
        let run = self.parts.store.run_of_message(record.key, &frame.root).await?;
        let Some(run) = run.filter(|run| run.status == RunStatus::Parked) else { return Ok(false) };
        if frame.status != FrameStatus::Parked {
            return Ok(false);
        }
        self.resume(&record, run, Why::Asked, |rebuilt| rebuilt.stop(&frame.message)).await?;
        Ok(true)
    }

    pub(super) fn steer(&self, frame: Option<&MessageId>, text: String) -> Result<(), EngineError> {
        let heard =
            self.live.as_ref().is_some_and(|live| live.tree.steer(frame.unwrap_or(&live.run.message), text));
        if heard {
            Ok(())
        } else {
            Err(EngineError::NothingToContinue("Nobody is at work in this chat. Send a new message."))
        }
    }
}

impl Rebuilt {
    /// Ends a frame and all below it; questions that were raised for them are withdrawn.
    fn stop(&mut self, message: &MessageId) -> Result<(), protocol::FoldError> {
        const WHY: &str = "the sub-agent was stopped";
        let below: Vec<MessageId> = self
            .below
            .iter()
            .filter(|revived| revived.parent.message == *message)
            .map(|revived| revived.frame.message().id.clone())
            .collect();
        for below in below {
            self.stop(&below)?;
        }
        let Some(revived) = self.below.iter_mut().find(|revived| revived.frame.message().id == *message)
        else {
            return Ok(());
        };
        let asked: Vec<_> = revived
            .frame
            .own_open_calls()
            .into_iter()
            .filter_map(|(_, _, state)| match state {
                ToolState::ApprovalRequested { approval, .. } => Some(approval),
                _ => None,
            })
            .collect();
        revived.frame.close(FrameEnd::Cancelled)?;
        self.closed.push(revived.frame.message().clone());
        for approval in asked {
            if let Some(call) = self.frame.raised_call(&approval) {
                self.frame.answer(approval, false, Some(WHY.to_owned()), true)?;
                self.frame.settle(&call, ToolOutcome::Denied { reason: Some(WHY.to_owned()) })?;
            }
        }
        Ok(())
    }
}
