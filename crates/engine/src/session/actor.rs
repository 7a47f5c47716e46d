//! The one owner of a live session: one run at a time, else busy. Step 3 of a chat request.
//!
//! The actor holds nothing that is not in the store; it leaves as soon as nothing is going on.

use std::{collections::VecDeque, sync::Arc};

use protocol::{ApprovalId, MessageId, MessageRef, RunEnd, Seq, SessionEvent, WhenBusy};
use store::{FrameRecord, LastRun, RunRecord, RunStatus, SessionRecord, StoreError};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    following::Following,
    log::SessionLog,
    queue::Queue,
    registry::SessionName,
    request::{Decision, SendKind, SendRequest, Submit},
    subscribe::Viewer,
};
use crate::{
    EngineError,
    context::command,
    engine::Parts,
    run::{call_tools::LiveAnswer, lifecycle::Left, tree::Tree},
    title,
};

/// How many messages may wait behind a run.
pub(super) const WAITING: usize = 16;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

pub(crate) enum Command {
    Send {
        request: Box<SendRequest>,
        reply: Reply<Following>,
    },
    /// Follow the run that is on, from the first chunk of its message or after an event the client has.
    Watch {
        after: Option<Seq>,
        reply: Reply<Option<Viewer>>,
    },
    /// All that goes on, or the run or the waiting message that `at` names.
    Stop {
        at: Option<MessageId>,
        reply: Reply<Stopped>,
    },
    Answer {
        approval: ApprovalId,
        decision: Decision,
        reply: Reply<()>,
    },
    /// Follow one sub-agent.
    WatchFrame {
        frame: Box<FrameRecord>,
        after: Option<Seq>,
        reply: Reply<Option<Viewer>>,
    },
    /// Stop one sub-agent and what is below it.
    StopFrame {
        frame: Box<FrameRecord>,
        reply: Reply<bool>,
    },
    /// Something said to the main agent, or to a sub-agent, at work.
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
        reply: Reply<()>,
    },
    /// Writes down what concerns the session itself.
    Note {
        events: Vec<SessionEvent>,
    },
    /// Take up what a crash left.
    Recover,
}

/// What a stop found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing was going on.
    Idle,
    /// Only messages that waited.
    Withdrawn,
    Cancelled,
}

pub(crate) struct Actor {
    pub(super) parts: Arc<Parts>,
    pub(super) name: SessionName,
    pub(super) live: Option<Live>,
    /// Answers that came while the run was about to leave memory.
    pub(super) late: Vec<LiveAnswer>,
    /// What interrupts the present run, and retries and answers that come after it: no messages, so they wait with
    /// their connection and go with it.
    waiting: VecDeque<(SendRequest, Reply<Following>)>,
    pub(super) queue: Queue,
    /// Told when the present run has ended.
    stops: Vec<Reply<Stopped>>,
}

/// The run that is on.
pub(super) struct Live {
    pub(super) run: RunRecord,
    pub(super) log: Arc<SessionLog>,
    pub(super) cancel: CancellationToken,
    pub(super) answers: mpsc::Sender<Box<LiveAnswer>>,
    pub(super) tree: Arc<Tree>,
    /// Whether it may give the session its first answer.
    pub(super) is_first: bool,
    pub(super) task: JoinHandle<Left>,
}

pub(crate) async fn run(parts: Arc<Parts>, name: SessionName, mut mailbox: mpsc::Receiver<Box<Command>>) {
    let mut actor = Actor {
        parts,
        name,
        live: None,
        waiting: VecDeque::new(),
        queue: Queue::default(),
        late: Vec::new(),
        stops: Vec::new(),
    };
    loop {
        if actor.live.is_none() {
            if let Some((request, reply)) = actor.waiting.pop_front() {
                if is_abandoned(&request, &reply) {
                    continue;
                }
                let result = Box::pin(actor.send(request)).await;
                drop(reply.send(result.map(Following::from)));
                continue;
            }
            if actor.queue.backlog {
                Box::pin(actor.begin_next()).await;
                continue;
            }
            if actor.parts.sessions.leave(&actor.name, &mailbox) {
                return;
            }
        }
        tokio::select! {
            biased;
            left = ended(&mut actor.live) => Box::pin(actor.run_ended(left)).await,
            command = mailbox.recv() => match command {
                Some(command) => {
                    let parts = Arc::clone(&actor.parts);
                    let _place = match *command {
                        Command::Send { .. } => parts.door.pass(parts.sessions.count()).await,
                        _ => None,
                    };
                    // On the heap, for the moment it takes: an actor that only waits stays small.
                    Box::pin(async {
                        // Readers see the end of a run a moment before its task is done; to them it is over.
                        if actor.live.as_ref().is_some_and(|live| live.log.is_over()) {
                            let left = ended(&mut actor.live).await;
                            actor.run_ended(left).await;
                        }
                        actor.handle(*command).await;
                    }).await;
                }
                None => return,
            },
        }
    }
}

/// Gives the answers that the run did not come to.
async fn ended(live: &mut Option<Live>) -> Vec<LiveAnswer> {
    match live {
        Some(live) => match (&mut live.task).await {
            Ok(mut left) => {
                left.writer.log().close();
                left.answers.close();
                std::iter::from_fn(|| left.answers.try_recv().ok()).map(|answer| *answer).collect()
            }
            Err(error) => {
                tracing::error!(%error, "a run's task ended without giving its log back");
                live.log.break_off();
                Vec::new()
            }
        },
        None => std::future::pending().await,
    }
}

impl Actor {
    async fn run_ended(&mut self, left: Vec<LiveAnswer>) {
        if self.live.take().is_some_and(|live| live.is_first && live.log.is_over()) {
            title::after_first_answer(&self.parts, &self.name);
        }
        self.parts.note_change(&self.name.0, &self.name.1);
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
        let late = std::mem::take(&mut self.late);
        for LiveAnswer { approval, decision, reply, .. } in left.into_iter().chain(late) {
            let result = self.answer(&approval, decision).await;
            drop(reply.send(result));
        }
    }

    /// Whether the run that ended was stopped; one that paused or broke off in the meantime is stopped now.
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
        let changes =
            matches!(command, Command::Stop { .. } | Command::Branch { .. } | Command::Delete { .. });
        self.carry_out(command).await;
        if changes {
            self.parts.note_change(&self.name.0, &self.name.1);
        }
    }

    async fn carry_out(&mut self, command: Command) {
        // A caller that went away needs no answer.
        match command {
            Command::Send { request, reply } => self.send_or_wait(*request, reply).await,
            Command::Watch { after, reply } => drop(reply.send(self.watch(after).await)),
            Command::Stop { at, reply } => self.stop(at, reply).await,
            Command::Answer { approval, decision, reply } => {
                self.answer_or_hand_over(LiveAnswer { approval, decision, reply, busy: None }).await;
            }
            Command::WatchFrame { frame, after, reply } => {
                drop(reply.send(self.watch_frame(*frame, after).await));
            }
            Command::StopFrame { frame, reply } => self.stop_frame(*frame, reply).await,
            Command::Steer { frame, text, reply } => drop(reply.send(self.steer(frame.as_ref(), text))),
            Command::Branch { at, revision, reply } => {
                drop(reply.send(self.choose_branch(&at, revision).await));
            }
            Command::Delete { reply } => drop(reply.send(self.delete().await)),
            Command::Note { events } => {
                if let Err(error) = self.note(events).await {
                    tracing::warn!(%error, "something beside a run could not be written down");
                }
            }
            Command::Recover => match self.recover().await {
                // The next process takes it up.
                Ok(()) | Err(EngineError::ShuttingDown) => {}
                Err(error) => tracing::error!(%error, "a run could not be taken up again"),
            },
        }
    }

    async fn send_or_wait(&mut self, mut request: SendRequest, reply: Reply<Following>) {
        let Some(live) = &self.live else {
            drop(reply.send(self.send(request).await.map(Following::from)));
            return;
        };
        match self.join_live(live, &request).await {
            Ok(Some(viewer)) => return drop(reply.send(Ok(viewer.into()))),
            Ok(None) => {}
            Err(error) => return drop(reply.send(Err(error))),
        }
        if let SendKind::Submit(submit) = &request.kind {
            match self.join_queued(submit).await {
                Ok(Some(following)) => return drop(reply.send(Ok(following))),
                Ok(None) => {}
                Err(error) => return drop(reply.send(Err(error))),
            }
        }
        let is_full = self.is_full();
        let Some(live) = &self.live else { return };
        match (request.options.when_busy.unwrap_or_default(), &mut request.kind) {
            (WhenBusy::Reject, _) => drop(reply.send(Err(EngineError::Busy))),
            (WhenBusy::Queue, SendKind::Submit(_)) => {
                let SendRequest { kind: SendKind::Submit(submit), options, .. } = request else { return };
                drop(reply.send(self.enqueue(submit, options).await));
            }
            _ if is_full => drop(reply.send(Err(EngineError::QueueFull(WAITING)))),
            (WhenBusy::Queue, _) => self.waiting.push_back((request, reply)),
            (WhenBusy::Interrupt, kind) => {
                if let SendKind::Submit(Submit { after, edits: None, .. }) = kind
                    && after.as_ref() == Some(&live.run.answers.id)
                {
                    *after = None;
                }
                live.cancel.cancel();
                self.waiting.push_front((request, reply));
            }
        }
    }

    /// Whether no more requests may wait. Those of clients that have gone make room.
    fn is_full(&mut self) -> bool {
        if self.waiting.len() >= WAITING {
            self.waiting.retain(|(request, reply)| !is_abandoned(request, reply));
        }
        self.waiting.len() >= WAITING
    }

    /// Nothing is running: do what the request says.
    async fn send(&mut self, request: SendRequest) -> Result<Viewer, EngineError> {
        let agent = self.main_agent(&request.options)?;
        let mut record = self.record().await?;
        if matches!(
            record,
            Some(SessionRecord { last_run: Some(LastRun { status: RunStatus::Running, .. }), .. })
        ) {
            // Left behind by a store that failed.
            Box::pin(self.recover()).await?;
            if let Some(live) = &self.live {
                return self.join_live(live, &request).await?.ok_or(EngineError::Busy);
            }
            record = self.record().await?;
        }
        if !self.queue.backlog && record.as_ref().is_some_and(|record| record.queued > 0) {
            // The same: what waits comes first.
            self.queue.backlog = true;
            Box::pin(self.begin_next()).await;
            if let Some(live) = &self.live {
                return self.join_live(live, &request).await?.ok_or(EngineError::Busy);
            }
            record = self.record().await?;
        }
        match request.kind {
            SendKind::Submit(submit) => self.submit(record, submit, request.options, agent).await,
            SendKind::Regenerate { at, last } => {
                let last_id = last.as_ref().map(|last| last.message.id.clone());
                // The usual button after an error asks for another answer to a message that never arrived.
                if at.is_none()
                    && let Some(last) = last
                    && !self.has(record.as_ref(), &last.message.id).await?
                {
                    return self.submit(record, last, request.options, agent).await;
                }
                let record = record.ok_or(EngineError::SessionNotFound)?;
                let answers = self.user_message(&record, at.or(last_id)).await?;
                let stored = self.parts.store.message(record.key, &answers.id).await?;
                let command = stored.and_then(|stored| command::of(&stored.message().ok()?));
                let record = self.ready_for(record, command.as_ref()).await?;
                Box::pin(self.start((&record).into(), Vec::new(), answers, request.options, agent, command))
                    .await
            }
            SendKind::Continue { message, answers, outputs } => {
                let record = record.ok_or(EngineError::SessionNotFound)?;
                Box::pin(self.go_on(&record, &message, answers, outputs)).await
            }
        }
    }

    async fn has(&self, record: Option<&SessionRecord>, message: &MessageId) -> Result<bool, EngineError> {
        match record {
            Some(record) => Ok(self.parts.store.message(record.key, message).await?.is_some()),
            None => Ok(false),
        }
    }

    pub(super) async fn record(&self) -> Result<Option<SessionRecord>, EngineError> {
        Ok(self.parts.store.session(&self.name.0, &self.name.1).await?)
    }

    /// The session with no question waiting, ready for a new run.
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
            for (_, waiting) in self.waiting.drain(..) {
                drop(waiting.send(Err(EngineError::QueueWithdrawn)));
            }
        }
        let none = if withdrawn > 0 { Stopped::Withdrawn } else { Stopped::Idle };
        let means =
            |run: &RunRecord| at.as_ref().is_none_or(|at| *at == run.answers.id || *at == run.message);
        if let Some(live) = &self.live {
            if !means(&live.run) {
                return drop(reply.send(Ok(none)));
            }
            live.cancel.cancel();
            self.stops.push(reply);
            return;
        }
        let stopped = async {
            let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
            if let (Some(_), Some(LastRun { message: id, .. })) = (&at, &record.last_run) {
                let run = self.parts.store.run_of_message(record.key, id).await?;
                if !run.as_ref().is_some_and(means) {
                    return Ok(none);
                }
            }
            Ok(if self.withdraw(&record, RunEnd::Cancelled).await? { Stopped::Cancelled } else { none })
        };
        drop(reply.send(stopped.await));
    }

    async fn choose_branch(
        &mut self,
        at: &MessageId,
        revision: Option<u32>,
    ) -> Result<MessageRef, EngineError> {
        self.recover().await?;
        if self.live.is_some() {
            return Err(EngineError::Busy);
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let message = self.parts.store.message(record.key, at).await?;
        let newest = message.ok_or_else(|| EngineError::MessageNotFound(at.clone()))?.reference;
        let revision = revision.unwrap_or(newest.revision);
        if revision > newest.revision {
            return Err(EngineError::MessageNotFound(at.clone()));
        }
        self.withdraw(&record, RunEnd::Withdrawn).await?;
        let chosen = MessageRef { id: newest.id, revision };
        Ok(self.parts.store.choose_branch(record.key, &chosen).await?)
    }

    async fn delete(&mut self) -> Result<(), EngineError> {
        for (_, waiting) in self.waiting.drain(..) {
            drop(waiting.send(Err(EngineError::SessionNotFound)));
        }
        self.queue.abandon(|| EngineError::SessionNotFound);
        if let Some(live) = &self.live {
            live.cancel.cancel();
            let left = ended(&mut self.live).await;
            self.run_ended(left).await;
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        self.parts.store.delete_session(record.key).await?;
        self.parts.histories.forget(record.key);
        Ok(())
    }
}

/// Whether the client of a waiting retry or answer has gone: it would change the branch behind the person's back. A new
/// message is done all the same: it has stopped the run that it interrupts.
fn is_abandoned(request: &SendRequest, reply: &Reply<Following>) -> bool {
    reply.is_closed() && !matches!(request.kind, SendKind::Submit(_))
}

pub(super) fn order(error: protocol::FoldError) -> EngineError {
    EngineError::Store(store::StoreError::Corrupt(error.to_string()))
}
