//! Messages that are queued behind a run (`whenBusy: queue`).
//!
//! The queue is in the store: a message is an event of the log before its client receives 200. The actor holds only the
//! clients that follow a queued message. When a run has ended, or after a crash, the first message begins, with or
//! without a client.

use std::collections::HashMap;

use protocol::{MessageId, QueueExit, Seq, SessionEvent, planted::Unread};
use store::{QueuedMessage, SessionRecord};
use tokio::sync::oneshot;

use super::{
    actor::{Actor, MAX_QUEUED},
    following::Following,
    log_end::append_without_run,
    request::Submit,
    start::Asked,
    submit::{Placed, content},
    viewer::Viewer,
};
use crate::{EngineError, context::command};

type Begins = oneshot::Sender<Result<Viewer, EngineError>>;

/// What the actor knows of the queue.
#[derive(Default)]
pub(super) struct Queue {
    /// Whether messages may be queued in the store.
    pub(super) backlog: bool,
    clients: HashMap<MessageId, Vec<Begins>>,
}

impl Queue {
    fn follow(&mut self, queued: &MessageId) -> Following {
        let (begins, begun) = oneshot::channel();
        self.clients.entry(queued.clone()).or_default().push(begins);
        Following::Queued(begun)
    }

    /// Sends a result to the clients that follow a queued message.
    fn notify(&mut self, queued: &MessageId, mut result: impl FnMut() -> Result<Viewer, EngineError>) {
        for client in self.clients.remove(queued).into_iter().flatten() {
            // A client that went away needs no answer.
            drop(client.send(result()));
        }
    }

    /// Disconnects the clients; the messages stay queued until the session is used again.
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
            Some(record) if record.queued > 0 => Ok(self.services.store.queued(record.key).await?),
            _ => Ok(Vec::new()),
        }
    }

    /// The same message again while it is queued: one more client follows it.
    pub(super) async fn join_queued(&mut self, submit: &Submit) -> Result<Option<Following>, EngineError> {
        let id = submit.edits.as_ref().unwrap_or(&submit.message.id);
        let queued = self.queued().await?;
        let Some(waiting) = queued.iter().find(|queued| queued.id() == id) else { return Ok(None) };
        if waiting.edits != submit.edits || content(&waiting.message) != content(&submit.message) {
            return Err(EngineError::IdConflict);
        }
        Ok(Some(self.queue.follow(id)))
    }

    /// Stores a message behind the active run.
    pub(super) async fn enqueue(
        &mut self,
        submit: Submit,
        options: protocol::RunOptions,
    ) -> Result<Following, EngineError> {
        let waiting = self.queued().await?;
        if waiting.len() >= MAX_QUEUED {
            return Err(EngineError::QueueFull(MAX_QUEUED));
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let agent = self.main_agent(Some(&record), &options)?.definition;
        let Some(live) = &self.live else { return Err(EngineError::Busy) };
        let after = submit.after.clone().filter(|after| {
            let here = *after == live.record.answers.id || *after == live.record.message;
            !here && !waiting.iter().any(|queued| queued.id() == after)
        });
        let submit = Submit { after, ..submit };
        if let Placed::Again(user) = self.place(&record, &submit, &options).await? {
            return Ok(self.replay(&record, &user).await?.into());
        }
        let submit = self.admit_queued(submit, options.clone(), &agent, &record).await?;
        let Submit { message, edits, after, .. } = submit;
        let id = edits.as_ref().unwrap_or(&message.id).clone();
        // Set even if the store does not answer: it may hold the message all the same.
        self.queue.backlog = true;
        let event = SessionEvent::MessageQueued { message, edits, after, options: Box::new(options) };
        live.log.append_session_events(vec![event]).await?;
        Ok(self.queue.follow(&id))
    }

    /// Starts the run of the message that was queued first. No run is active.
    pub(super) async fn begin_next(&mut self) {
        if self.services.tasks.shutdown.is_cancelled() {
            return self.queue.abandon(|| EngineError::ShuttingDown);
        }
        match self.try_next().await {
            Ok(true) => {}
            Ok(false) => self.queue.abandon(|| EngineError::QueueWithdrawn),
            Err(error) => {
                tracing::error!(%error, "a queued message could not begin; it stays queued until the chat is used again");
                self.queue.abandon(|| {
                    let why = "a queued message could not begin";
                    EngineError::Store(store::StoreError::Unavailable(why.into()))
                });
            }
        }
    }

    /// `false` if nothing is queued. An error is the store's; the message stays queued.
    async fn try_next(&mut self) -> Result<bool, EngineError> {
        let Some(next) = self.queued().await?.into_iter().next() else { return Ok(false) };
        let Some(record) = self.record().await? else { return Ok(false) };
        let id = next.id().clone();
        match self.begin_queued(record, next).await {
            Ok(first) => {
                let mut first = Some(first);
                let live = self.live.as_ref();
                self.queue.notify(&id, || match (first.take(), live) {
                    (Some(viewer), _) => Ok(viewer),
                    (None, Some(live)) => Ok(live.watch()),
                    (None, None) => Err(EngineError::Busy),
                });
                Ok(true)
            }
            Err(error @ (EngineError::Store(_) | EngineError::ShuttingDown)) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "a queued message can no longer be answered");
                self.leave_queue(vec![id.clone()], QueueExit::Refused).await?;
                self.queue.notify(&id, || Err(EngineError::InvalidMessage(error.to_string())));
                Ok(true)
            }
        }
    }

    async fn begin_queued(
        &mut self,
        record: SessionRecord,
        queued: QueuedMessage,
    ) -> Result<Viewer, EngineError> {
        let agent = self.main_agent(Some(&record), &queued.options)?;
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
                let record = self.ready_for(record, command.as_ref(), options.origin).await?;
                let begun = SessionEvent::QueueLeft { queued: id, why: QueueExit::Begun };
                let asked = Asked { answers, options, agent, command };
                self.start((&record).into(), vec![begun, accepted], None, asked).await
            }
        }
    }

    /// Withdraws one queued message or all; returns how many were queued.
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
            self.queue.notify(id, || Err(EngineError::QueueWithdrawn));
        }
        Ok(ids.len())
    }

    pub(super) async fn leave_queue(&self, ids: Vec<MessageId>, why: QueueExit) -> Result<(), EngineError> {
        let left = ids.into_iter().map(|queued| SessionEvent::QueueLeft { queued, why });
        self.append(left.collect()).await.map(drop)
    }

    /// Appends events that concern the session itself, with or without an active run.
    pub(super) async fn append(&self, events: Vec<SessionEvent>) -> Result<Seq, EngineError> {
        if let Some(live) = &self.live {
            return Ok(live.log.append_session_events(events).await?);
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        append_without_run(&self.services, &record, events, Vec::new()).await
    }
}
