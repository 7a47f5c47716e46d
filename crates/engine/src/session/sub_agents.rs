//! One sub-agent of a run, reached from outside: follow it, stop it, say something to it.

use std::sync::Arc;

use protocol::{
    MessageId, Seq,
    project::chat::{Reading, View},
};
use store::{FrameRecord, FrameStatus, RunStatus};

use super::{actor::Actor, live_run::LiveRun, runner::Resume, viewer::Viewer};
use crate::{EngineError, mailbox::answer::Reply};

impl Actor {
    /// A reader of a sub-agent at work; `None` if it has ended.
    pub(super) async fn watch_sub_agent(
        &mut self,
        frame: FrameRecord,
        after: Option<Seq>,
    ) -> Result<Option<Viewer>, EngineError> {
        self.recover().await?;
        let Some(live) = &self.live else { return Ok(None) };
        if live.agents.by_chat(frame.chat.as_str()).is_none() {
            return Ok(None);
        }
        let reading =
            Reading { view: View::WholeMessage, last_resume: frame.last_resume, edge: live.log.last() };
        let (log, message) = (Arc::clone(&live.log), frame.message.clone());
        let viewer = Viewer::new(log, live.surface, frame.first_seq - 1, message, reading)
            .of_run(live.began)
            .lane(live.record.options.sub_agent_stream);
        let known = after.filter(|after| (frame.first_seq..=live.log.last()).contains(after));
        Ok(Some(match known {
            Some(after) => viewer.skipping(after).beginning(frame.first_seq),
            None => viewer,
        }))
    }

    pub(super) async fn stop_sub_agent(&mut self, frame: FrameRecord, reply: Reply<bool>) {
        if let Some(live) = &self.live {
            let Some((_, handle)) = live.agents.by_chat(frame.chat.as_str()) else {
                return drop(reply.send(Ok(false)));
            };
            handle.cancel.cancel();
            let mut result = handle.result;
            self.services.tasks.tracker.spawn(async move {
                // An error means that the frame is gone, which is what was asked for.
                drop(result.wait_for(Option::is_some).await);
                drop(reply.send(Ok(true)));
            });
            return;
        }
        let stopped = self.stop_parked(&frame).await;
        drop(reply.send(stopped));
    }

    /// Ends a sub-agent of a parked run; the run is resumed, so that its caller continues without it.
    async fn stop_parked(&mut self, frame: &FrameRecord) -> Result<bool, EngineError> {
        let Some(record) = self.record().await? else { return Ok(false) };
        let run = self.services.store.run_of_message(record.key, &frame.root).await?;
        let Some(run) = run.filter(|run| run.status == RunStatus::Parked) else { return Ok(false) };
        if frame.status != FrameStatus::Parked {
            return Ok(false);
        }
        let resumed = self.resume(&record, run, Resume::StopSubAgent(frame.message.clone())).await?;
        Ok(resumed.is_some())
    }

    pub(super) fn steer(&self, frame: Option<&MessageId>, text: String) -> Result<(), EngineError> {
        let message = |live: &LiveRun| frame.unwrap_or(&live.record.message).clone();
        let is_at_work = self.live.as_ref().is_some_and(|live| live.agents.steer(&message(live), text));
        if is_at_work {
            Ok(())
        } else {
            Err(EngineError::NothingToContinue("Nobody is at work in this chat. Send a new message."))
        }
    }
}
