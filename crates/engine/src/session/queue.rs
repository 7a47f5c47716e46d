//! Messages that wait behind a run (`whenBusy: queue`).
//!
//! The queue is in the store: an event of the log before its client hears 200. The actor holds only the clients that
//! wait with their message; when a run has ended, or after a crash, the first message begins, whoever is listening.

use std::collections::HashMap;

use protocol::{MessageId, QueueExit, SessionEvent, planted::Unread};
use store::{QueuedMessage, SessionRecord};
use tokio::sync::oneshot;

use super::{
    actor::{Actor, WAITING},
    following::Following,
    request::Submit,
    submit::{Placed, content},
    subscribe::Viewer,
};
use crate::{EngineError, context::command};

type Begins = oneshot::Sender<Result<Viewer, EngineError>>;

/// What the actor knows of the queue.
#[derive(Default)]
pub(super) struct Queue {
    /// Whether messages may be waiting in the store.
    pub(super) backlog: bool,
    clients: HashMap<MessageId, Vec<Begins>>,
}

impl Queue {
    fn follow(&mut self, queued: &MessageId) -> Following {
        let (begins, begun) = oneshot::channel();
        self.clients.entry(queued.clone()).or_default().push(begins);
        Following::Queued(begun)
    }

    fn tell(&mut self, queued: &MessageId, mut what: impl FnMut() -> Result<Viewer, EngineError>) {
        for client in self.clients.remove(queued).into_iter().flatten() {
            // A client that went away needs no answer.
            drop(client.send(what()));
        }
    }

    /// Nothing will begin before somebody comes back; the messages stay where they are.
    pub(super) fn abandon(&mut self, why: fn() -> EngineError) {
        self.backlog = false;
        for client in self.clients.drain().flat_map(|(_, clients)| clients) {
            drop(client.send(Err(why())));
        }
    }
}

impl Actor {
    pub(super) async fn queued(&self) -> Result<Vec<QueuedMessage>, EngineError> {
        match self.record().await? {
            Some(record) if record.queued > 0 => Ok(self.parts.store.queued(record.key).await?),
            _ => Ok(Vec::new()),
        }
    }

    /// The same message again while it waits: one more client waits with it.
    pub(super) async fn join_queued(&mut self, submit: &Submit) -> Result<Option<Following>, EngineError> {
        let id = submit.edits.as_ref().unwrap_or(&submit.message.id);
        let queued = self.queued().await?;
        let Some(waiting) = queued.iter().find(|queued| queued.id() == id) else { return Ok(None) };
        if waiting.edits != submit.edits || content(&waiting.message) != content(&submit.message) {
            return Err(EngineError::IdConflict);
        }
        Ok(Some(self.queue.follow(id)))
    }

    /// Stores a message behind the run that is on.
    pub(super) async fn enqueue(
        &mut self,
        submit: Submit,
        options: protocol::RunOptions,
    ) -> Result<Following, EngineError> {
        let waiting = self.queued().await?;
        if waiting.len() >= WAITING {
            return Err(EngineError::QueueFull(WAITING));
        }
        let agent = self.main_agent(&options)?;
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let Some(live) = &self.live else { return Err(EngineError::Busy) };
        let after = submit.after.clone().filter(|after| {
            let here = *after == live.run.answers.id || *after == live.run.message;
            !here && !waiting.iter().any(|queued| queued.id() == after)
        });
        let submit = Submit { after, ..submit };
        if let Placed::Again(user) = self.place(&record, &submit, &options).await? {
            return Ok(self.replay(&record, &user).await?.into());
        }
        let submit = self.admit_waiting(submit, options.clone(), &agent, &record).await?;
        let Submit { message, edits, after, .. } = submit;
        let id = edits.as_ref().unwrap_or(&message.id).clone();
        // Also when the store did not answer: it may hold the message all the same.
        self.queue.backlog = true;
        let event = SessionEvent::MessageQueued { message, edits, after, options: Box::new(options) };
        live.log.note(vec![event]).await?;
        Ok(self.queue.follow(&id))
    }

    /// Nothing is running: the message that waits longest begins.
    pub(super) async fn begin_next(&mut self) {
        if self.parts.ending.is_cancelled() {
            return self.queue.abandon(|| EngineError::ShuttingDown);
        }
        match self.try_next().await {
            Ok(true) => {}
            Ok(false) => self.queue.abandon(|| EngineError::QueueWithdrawn),
            Err(error) => {
                tracing::error!(%error, "a waiting message could not begin; it stays until the chat is next touched");
                self.queue.abandon(|| {
                    let why = "a waiting message could not begin";
                    EngineError::Store(store::StoreError::Unavailable(why.into()))
                });
            }
        }
    }

    /// `false` when nothing waits. An error is the store's; the message stays.
    async fn try_next(&mut self) -> Result<bool, EngineError> {
        let Some(next) = self.queued().await?.into_iter().next() else { return Ok(false) };
        let Some(record) = self.record().await? else { return Ok(false) };
        let id = next.id().clone();
        match self.begin_queued(record, next).await {
            Ok(first) => {
                let mut first = Some(first);
                let live = self.live.as_ref();
                self.queue.tell(&id, || match (first.take(), live) {
                    (Some(viewer), _) => Ok(viewer),
                    (None, Some(live)) => Ok(live.watch()),
                    (None, None) => Err(EngineError::Busy),
                });
                Ok(true)
            }
            Err(error @ (EngineError::Store(_) | EngineError::ShuttingDown)) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "a waiting message can no longer be answered");
                self.leave_queue(vec![id.clone()], QueueExit::Refused).await?;
                self.queue.tell(&id, || Err(EngineError::InvalidMessage(error.to_string())));
                Ok(true)
            }
        }
    }

    async fn begin_queued(
        &mut self,
        record: SessionRecord,
        queued: QueuedMessage,
    ) -> Result<Viewer, EngineError> {
        let agent = self.main_agent(&queued.options)?;
        let id = queued.id().clone();
        let QueuedMessage { message, edits, after, options } = queued;
        let submit = Submit { message, edits, after, earlier: Unread::default() };
        match self.place(&record, &submit, &options).await? {
            Placed::Again(user) => {
                self.leave_queue(vec![id], QueueExit::Refused).await?;
                self.replay(&record, &user).await
            }
            Placed::New { accepted, answers } => {
                let command = command::of(&submit.message);
                let record = self.ready_for(record, command.as_ref()).await?;
                let begun = SessionEvent::QueueLeft { queued: id, why: QueueExit::Begun };
                self.start((&record).into(), vec![begun, accepted], answers, options, agent, command).await
            }
        }
    }

    /// Takes messages back, one or all; gives how many waited.
    pub(super) async fn withdraw_queued(&mut self, only: Option<&MessageId>) -> Result<usize, EngineError> {
        let ids: Vec<_> = self
            .queued()
            .await?
            .iter()
            .map(|queued| queued.id().clone())
            .filter(|id| only.is_none_or(|only| only == id))
            .collect();
        if ids.is_empty() {
            return Ok(0);
        }
        self.leave_queue(ids.clone(), QueueExit::Withdrawn).await?;
        for id in &ids {
            self.queue.tell(id, || Err(EngineError::QueueWithdrawn));
        }
        Ok(ids.len())
    }

    pub(super) async fn leave_queue(&self, ids: Vec<MessageId>, why: QueueExit) -> Result<(), EngineError> {
        self.note(ids.into_iter().map(|queued| SessionEvent::QueueLeft { queued, why }).collect()).await
    }

    /// Appends what concerns the session itself, beside a run or without one.
    pub(super) async fn note(&self, events: Vec<SessionEvent>) -> Result<(), EngineError> {
        if let Some(live) = &self.live {
            return Ok(live.log.note(events).await?);
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        self.write_beside(&record, events, Vec::new()).await
    }
}
