//! Starting, resuming and withdrawing runs: what the owner of a session decides before it asks the [`Runner`].
//!
//! [`Runner`]: super::runner::Runner

use std::sync::atomic::Ordering;

use protocol::{AnsweredBy, ApprovalId, MessageRef, RunEnd, RunOptions, SessionEvent};
use store::{LastRun, RunRecord, RunStatus, SessionRecord};
use tokio::sync::oneshot;

use super::{
    actor::Actor,
    log_end::LogEnd,
    main_agent::ChosenAgent,
    runner::{Ending, NewRun, Resume, StartedRun},
    viewer::Viewer,
};
use crate::{
    EngineError,
    context::{command::Command, conversation::Conversation},
    mailbox::answer::{Decision, PendingAnswer},
    model_choice::choose_model,
};

/// What a message asks for, apart from the events that lead to its run.
pub(super) struct Asked {
    /// The message to answer.
    pub(super) answers: MessageRef,
    pub(super) options: RunOptions,
    pub(super) agent: ChosenAgent,
    pub(super) command: Option<Command>,
}

impl Actor {
    /// Checks what a message asks for and starts its run. `history` is what a client brought along, if the session is new.
    pub(super) async fn start(
        &mut self,
        end: LogEnd,
        mut events: Vec<SessionEvent>,
        history: Option<Conversation>,
        asked: Asked,
    ) -> Result<Viewer, EngineError> {
        let Asked { answers, mut options, agent, command } = asked;
        let ChosenAgent { definition: agent, choice } = agent;
        events.extend(choice);
        // A run that is resumed later has the agent that it began with.
        options.agent_id = Some(agent.name.clone());
        if options.chat_model_id.is_none()
            && let Some(model) = &end.chat_model
        {
            options.chat_model_id = Some(model.id.clone());
            options.chat_model_source = model.source.clone();
        }
        let model = choose_model(&self.services.catalog, &self.name, &options, &agent)?;
        let (events, history) = self.admit(events, history, &*model).await?;
        let new = NewRun { end, events, answers, options, agent, model, history, command };
        let started = self.runner.start(&self.name, new).await?;
        Ok(self.follow(started))
    }

    /// Resumes a run that is not in memory; `None` if there is nothing for it to do.
    pub(super) async fn resume(
        &mut self,
        record: &SessionRecord,
        run: RunRecord,
        how: Resume,
    ) -> Result<Option<Viewer>, EngineError> {
        let started = self.runner.resume(&self.name, record, run, how).await?;
        Ok(started.map(|started| self.follow(started)))
    }

    fn follow(&mut self, started: StartedRun) -> Viewer {
        self.sessions.follow(&self.name, &started.live.log);
        self.live = Some(started.live);
        started.viewer
    }

    /// Ends a run that waits for an answer, or one that a failing store left behind; `false` if there is none.
    pub(super) async fn withdraw(&self, record: &SessionRecord, end: RunEnd) -> Result<bool, EngineError> {
        let (message, ending) = match &record.last_run {
            Some(LastRun { message, status: RunStatus::Parked }) if end == RunEnd::Cancelled => {
                (message, Ending::StoppedWhileParked)
            }
            Some(LastRun { message, status: RunStatus::Parked }) => (message, Ending::Withdrawn),
            Some(LastRun { message, status: RunStatus::Running })
                if self.live.is_none() && end == RunEnd::Cancelled =>
            {
                (message, Ending::Stopped)
            }
            _ => return Ok(false),
        };
        let Some(run) = self.services.store.run_of_message(record.key, message).await? else {
            return Ok(false);
        };
        self.runner.end(record, &run, ending).await?;
        Ok(true)
    }

    /// Denies a call and ends its run.
    pub(super) async fn reject(&mut self, approval: ApprovalId) -> Result<(), EngineError> {
        let Some(live) = &self.live else { return self.reject_parked(approval).await };
        live.rejected.store(true, Ordering::Release);
        let cancel = live.cancel.clone();
        // Nobody waits for the reply: the client sees what becomes of its answer.
        let (reply, _) = oneshot::channel();
        let by = AnsweredBy::Events;
        let decision = Decision { ends_run: true, by, ..Decision::new(false, None) };
        self.answer_or_deliver(PendingAnswer { approval, decision, reply, activity: None }).await;
        cancel.cancel();
        Ok(())
    }

    pub(super) async fn reject_parked(&self, approval: ApprovalId) -> Result<(), EngineError> {
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let Some(LastRun { message, status: RunStatus::Parked }) = &record.last_run else {
            return Err(EngineError::ApprovalSettled);
        };
        let run = self.services.store.run_of_message(record.key, message).await?;
        let run = run.ok_or(EngineError::ApprovalSettled)?;
        self.runner.end(&record, &run, Ending::Rejected(approval)).await
    }
}
