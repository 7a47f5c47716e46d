//! The one owner of a live session. It runs one run at a time; further messages are rejected, queued, or interrupt it.
//!
//! The actor holds nothing that is not in the store, and it ends as soon as the session is idle.

use std::{collections::VecDeque, sync::Arc};

use protocol::{
    Announcement, ApprovalId, MessageId, MessageRef, RunEnd, Seq, SessionEvent, UnboundReason,
    file_change::{RevertRequest, RevertResult},
};
use store::{FrameRecord, LastRun, RunRecord, RunStatus, SessionRecord, StoreError};
use tokio::sync::mpsc;

use super::{
    change::SessionChange,
    change_rules::RuleChange,
    follow::{FollowRequest, Follower},
    following::Following,
    live_run::LiveRun,
    main_agent::AgentSwitch,
    queue::Queue,
    registry::{SessionHandle, SessionRegistry},
    request::SendRequest,
    rollback::RollbackRequest,
    runner::Runner,
    send::WaitingRequest,
    viewer::Viewer,
};
use crate::{
    EngineError,
    files::kept_contents,
    mailbox::answer::{Decision, PendingAnswer, Reply},
    services::Services,
    session_name::SessionName,
};

/// How many messages may be queued behind a run, and how many requests may wait for it.
pub(super) const MAX_QUEUED: usize = 16;

pub(crate) enum Command {
    Send {
        request: Box<SendRequest>,
        reply: Reply<Following>,
    },
    /// Follow the active run, from the first chunk of its message or after an event that the client has.
    Watch {
        after: Option<Seq>,
        reply: Reply<Option<Viewer>>,
    },
    /// Stop everything, or only the run or the queued message that `at` names.
    Stop {
        at: Option<MessageId>,
        reply: Reply<Stopped>,
    },
    Answer {
        approval: ApprovalId,
        decision: Decision,
        reply: Reply<()>,
    },
    /// Deny a call and end its run.
    Reject {
        approval: ApprovalId,
        reply: Reply<()>,
    },
    /// Follow one sub-agent.
    WatchSubAgent {
        frame: Box<FrameRecord>,
        after: Option<Seq>,
        reply: Reply<Option<Viewer>>,
    },
    /// Stop one sub-agent and its own sub-agents.
    StopSubAgent {
        frame: Box<FrameRecord>,
        reply: Reply<bool>,
    },
    /// Text for the main agent, or for a sub-agent, at work.
    Steer {
        frame: Option<MessageId>,
        text: String,
        reply: Reply<()>,
    },
    Branch {
        at: MessageId,
        revision: Option<u32>,
        reply: Reply<MessageRef>,
    },
    Delete {
        /// The connections that follow the session.
        followers: Vec<String>,
        reply: Reply<()>,
    },
    /// Make the session, which is not stored yet.
    Create {
        title: Option<String>,
        agent: Option<String>,
        reply: Reply<()>,
    },
    /// Change what is no part of the conversation.
    Change {
        change: SessionChange,
        reply: Reply<bool>,
    },
    /// Give the session another main agent.
    SwitchAgent {
        agent: String,
        /// The client's own name for its request.
        request: Option<String>,
        reply: Reply<AgentSwitch>,
    },
    /// Follow the whole session; `None` if the client names an event that is not in the log.
    Follow {
        request: FollowRequest,
        reply: Reply<Option<Follower>>,
    },
    /// Tell the clients at the session something.
    Announce {
        announcement: Announcement,
        reply: Reply<()>,
    },
    /// Put the conversation, and perhaps files, back to what they were before a message.
    RollBack {
        request: RollbackRequest,
        reply: Reply<()>,
    },
    /// Add or revoke a rule of the session.
    ChangeRules {
        change: RuleChange,
        reply: Reply<()>,
    },
    /// Revert changes to files.
    Revert {
        request: RevertRequest,
        reply: Reply<RevertResult>,
    },
    /// Append events that concern the session itself.
    Append {
        events: Vec<SessionEvent>,
    },
    /// Resume what a crash interrupted.
    Recover,
}

/// What a stop found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing was active or queued.
    Idle,
    /// Only queued messages were withdrawn.
    Withdrawn,
    Cancelled,
}

pub(crate) struct Actor {
    pub(super) services: Arc<Services>,
    pub(super) sessions: Arc<SessionRegistry>,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) name: SessionName,
    /// The active run.
    pub(super) live: Option<LiveRun>,
    /// Answers that arrived while the run was parking or ending.
    pub(super) late_answers: Vec<PendingAnswer>,
    /// Requests that wait for the active run to end: messages that interrupt it, retries and answers. They are not
    /// stored and are dropped with their connection.
    pub(super) waiting: VecDeque<WaitingRequest>,
    pub(super) queue: Queue,
    /// Replied to when the active run has ended.
    stops: Vec<Reply<Stopped>>,
}

pub(crate) async fn run(
    sessions: Arc<SessionRegistry>,
    name: SessionName,
    mut mailbox: mpsc::Receiver<Box<Command>>,
) {
    let mut actor = Actor {
        services: Arc::clone(sessions.services()),
        runner: Arc::clone(sessions.runner()),
        sessions,
        name,
        live: None,
        waiting: VecDeque::new(),
        queue: Queue::default(),
        late_answers: Vec::new(),
        stops: Vec::new(),
    };
    loop {
        if actor.live.is_none() {
            if let Some(waiting) = actor.waiting.pop_front() {
                if waiting.is_abandoned() {
                    continue;
                }
                let result = Box::pin(actor.send(waiting.request)).await;
                drop(waiting.reply.send(result.map(Following::from)));
                continue;
            }
            if actor.queue.backlog {
                Box::pin(actor.begin_next()).await;
                continue;
            }
            if actor.sessions.leave(&actor.name, &mailbox) {
                return;
            }
        }
        tokio::select! {
            biased;
            unread = ended(&mut actor.live) => Box::pin(actor.run_ended(unread)).await,
            command = mailbox.recv() => match command {
                Some(command) => {
                    let services = Arc::clone(&actor.services);
                    let _permit = match *command {
                        Command::Send { .. } => services.tasks.admission.admit().await,
                        _ => None,
                    };
                    // Boxed, so that the future of an actor that only waits stays small.
                    Box::pin(async {
                        // Readers see the end of a run a moment before its task is done; to them it is over.
                        if actor.live.as_ref().is_some_and(|live| live.over.get()) {
                            let unread = ended(&mut actor.live).await;
                            actor.run_ended(unread).await;
                        }
                        actor.handle(*command).await;
                    }).await;
                }
                None => return,
            },
        }
    }
}

/// Waits for the active run to end; returns the answers that it did not read.
async fn ended(live: &mut Option<LiveRun>) -> Vec<PendingAnswer> {
    match live {
        Some(live) => match (&mut live.task).await {
            Ok(mut ended) => {
                ended.writer.log().end_run();
                ended.answers.close();
                std::iter::from_fn(|| ended.answers.try_recv().ok()).map(|answer| *answer).collect()
            }
            Err(error) => {
                tracing::error!(%error, "a run's task ended without returning its log");
                live.log.break_off();
                Vec::new()
            }
        },
        None => std::future::pending().await,
    }
}

impl Actor {
    async fn run_ended(&mut self, unread: Vec<PendingAnswer>) {
        if self.live.take().is_some_and(|live| live.may_need_title && live.over.get()) {
            self.runner.write_title(SessionHandle::new(Arc::clone(&self.sessions), self.name.clone()));
        }
        self.note_change();
        if !self.stops.is_empty() {
            let stopped = self.was_stopped().await;
            for reply in self.stops.drain(..) {
                let failed = || StoreError::Unavailable("it is not known whether the run was stopped".into());
                let stopped = stopped.as_ref().map_err(|_| failed().into());
                drop(reply.send(stopped.map(|stopped| match stopped {
                    true => Stopped::Cancelled,
                    false => Stopped::Idle,
                })));
            }
        }
        let late = std::mem::take(&mut self.late_answers);
        for PendingAnswer { approval, decision, reply, .. } in unread.into_iter().chain(late) {
            let result = match decision.ends_run {
                true => self.reject_parked(approval).await,
                false => self.answer(&approval, decision).await,
            };
            drop(reply.send(result));
        }
    }

    /// Whether the run that ended was stopped. One that parked or broke off in the meantime is stopped now.
    async fn was_stopped(&self) -> Result<bool, EngineError> {
        let Some(record) = self.record().await? else { return Ok(false) };
        match record.last_run {
            Some(LastRun { status: RunStatus::Parked | RunStatus::Running, .. }) => {
                self.withdraw(&record, RunEnd::Cancelled).await
            }
            Some(LastRun { status: RunStatus::Ended(end), .. }) => Ok(end == RunEnd::Cancelled),
            None => Ok(false),
        }
    }

    async fn handle(&mut self, command: Command) {
        let changes = matches!(
            command,
            Command::Stop { .. }
                | Command::Branch { .. }
                | Command::Delete { .. }
                | Command::Create { .. }
                | Command::Change { .. }
                | Command::SwitchAgent { .. }
                | Command::RollBack { .. }
        );
        self.execute(command).await;
        if changes {
            self.note_change();
        }
    }

    fn note_change(&self) {
        self.services.note_change(&self.name.workspace, &self.name.session);
    }

    async fn execute(&mut self, command: Command) {
        // A caller that went away needs no answer.
        match command {
            Command::Send { request, reply } => self.send_or_wait(*request, reply).await,
            Command::Watch { after, reply } => drop(reply.send(self.watch(after).await)),
            Command::Stop { at, reply } => self.stop(at, reply).await,
            Command::Answer { approval, decision, reply } => {
                self.answer_or_deliver(PendingAnswer { approval, decision, reply, activity: None }).await;
            }
            Command::Reject { approval, reply } => drop(reply.send(self.reject(approval).await)),
            Command::WatchSubAgent { frame, after, reply } => {
                drop(reply.send(self.watch_sub_agent(*frame, after).await));
            }
            Command::StopSubAgent { frame, reply } => self.stop_sub_agent(*frame, reply).await,
            Command::Steer { frame, text, reply } => drop(reply.send(self.steer(frame.as_ref(), text))),
            Command::Branch { at, revision, reply } => {
                drop(reply.send(self.choose_branch(&at, revision).await));
            }
            Command::Delete { followers, reply } => drop(reply.send(self.delete(followers).await)),
            Command::Create { title, agent, reply } => drop(reply.send(self.create(title, agent).await)),
            Command::Change { change, reply } => drop(reply.send(self.change(change).await)),
            Command::SwitchAgent { agent, request, reply } => {
                drop(reply.send(self.switch_agent(&agent, request).await));
            }
            Command::Follow { request, reply } => drop(reply.send(self.follow_session(request).await)),
            Command::Announce { announcement, reply } => {
                drop(reply.send(self.announce(vec![announcement]).await.map(drop)));
            }
            Command::RollBack { request, reply } => drop(reply.send(self.roll_back(request).await)),
            Command::ChangeRules { change, reply } => drop(reply.send(self.change_rules(change).await)),
            Command::Revert { request, reply } => drop(reply.send(self.revert(request).await)),
            Command::Append { events } => {
                if let Err(error) = self.append(events).await {
                    tracing::warn!(%error, "events of a session could not be appended");
                }
            }
            Command::Recover => match self.recover().await {
                // The next process resumes it.
                Ok(()) | Err(EngineError::ShuttingDown) => {}
                Err(error) => tracing::error!(%error, "a run could not be resumed"),
            },
        }
    }

    pub(super) async fn record(&self) -> Result<Option<SessionRecord>, EngineError> {
        Ok(self.services.store.session(&self.name.workspace, &self.name.session).await?)
    }

    /// Withdraws a pending question, so that a new run can start; returns the session as it is then.
    pub(super) async fn ready(&self, record: SessionRecord) -> Result<SessionRecord, EngineError> {
        if self.withdraw(&record, RunEnd::Withdrawn).await? {
            self.record().await?.ok_or(EngineError::SessionNotFound)
        } else {
            Ok(record)
        }
    }

    async fn stop(&mut self, at: Option<MessageId>, reply: Reply<Stopped>) {
        let withdrawn = match self.withdraw_queued(at.as_ref()).await {
            Ok(withdrawn) => withdrawn,
            Err(error) => {
                // The run is stopped all the same.
                if let (Some(live), None) = (&self.live, &at) {
                    live.cancel.cancel();
                }
                return drop(reply.send(Err(error)));
            }
        };
        if at.is_none() {
            for waiting in self.waiting.drain(..) {
                drop(waiting.reply.send(Err(EngineError::QueueWithdrawn)));
            }
        }
        let none = if withdrawn > 0 { Stopped::Withdrawn } else { Stopped::Idle };
        let means =
            |run: &RunRecord| at.as_ref().is_none_or(|at| *at == run.answers.id || *at == run.message);
        if let Some(live) = &self.live {
            if !means(&live.record) {
                return drop(reply.send(Ok(none)));
            }
            live.cancel.cancel();
            self.stops.push(reply);
            return;
        }
        let stopped = async {
            let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
            if let (Some(_), Some(LastRun { message: id, .. })) = (&at, &record.last_run) {
                let run = self.services.store.run_of_message(record.key, id).await?;
                if !run.as_ref().is_some_and(means) {
                    return Ok(none);
                }
            }
            Ok(if self.withdraw(&record, RunEnd::Cancelled).await? { Stopped::Cancelled } else { none })
        };
        drop(reply.send(stopped.await));
    }

    async fn delete(&mut self, followers: Vec<String>) -> Result<(), EngineError> {
        for waiting in self.waiting.drain(..) {
            drop(waiting.reply.send(Err(EngineError::SessionNotFound)));
        }
        self.queue.abandon(|| EngineError::SessionNotFound);
        if let Some(live) = &self.live {
            live.cancel.cancel();
            let unread = ended(&mut self.live).await;
            self.run_ended(unread).await;
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        for connection in followers {
            self.announce(vec![Announcement::Unbound { connection, reason: UnboundReason::Deleted }]).await?;
        }
        let contents = self.services.store.contents_of_session(record.key).await?;
        self.services.store.delete_session(record.key).await?;
        self.services.logs.remove(&self.name);
        let Services { tools, store, .. } = &*self.services;
        tools.jobs.end_of_chat(&self.name.workspace, &self.name.session);
        kept_contents::remove_unused(&tools.files, &**store, &self.name.workspace, contents).await;
        self.services.caches.histories.forget(record.key);
        let (secrets, name) = (Arc::clone(&self.services.secrets), self.name.clone());
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || secrets.forget(&name)).await {
            tracing::warn!(%error, "the secrets of a deleted chat could not be removed");
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "actor_tests.rs"]
mod tests;
