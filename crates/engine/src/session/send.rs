//! Requests to send a message: carried out at once, joined to the active run, queued behind it, or put before it.

use protocol::{MessageId, WhenBusy};
use store::{LastRun, RunStatus, SessionRecord};

use super::{
    actor::{Actor, MAX_QUEUED},
    following::Following,
    request::{SendKind, SendRequest, Submit},
    start::Asked,
    viewer::Viewer,
};
use crate::{EngineError, context::command, mailbox::answer::Reply};

/// A request that waits for the active run to end.
pub(super) struct WaitingRequest {
    pub(super) request: SendRequest,
    pub(super) reply: Reply<Following>,
}

impl WaitingRequest {
    /// Whether the client of a retry or an answer has gone: carrying it out would change the branch unseen. A new message
    /// is carried out all the same, because it has already stopped the run that it interrupts.
    pub(super) fn is_abandoned(&self) -> bool {
        self.reply.is_closed() && !matches!(self.request.kind, SendKind::Submit(_))
    }
}

impl Actor {
    pub(super) async fn send_or_wait(&mut self, mut request: SendRequest, reply: Reply<Following>) {
        let Some(live) = &self.live else {
            drop(reply.send(self.send(request).await.map(Following::from)));
            return;
        };
        match self.join_live(live, &request).await {
            Ok(Some(viewer)) => {
                let delivered = self.deliver_answers(&mut request).await;
                return drop(reply.send(delivered.map(|()| viewer.into())));
            }
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
            _ if is_full => drop(reply.send(Err(EngineError::QueueFull(MAX_QUEUED)))),
            (WhenBusy::Queue, _) => self.waiting.push_back(WaitingRequest { request, reply }),
            (WhenBusy::Interrupt, kind) => {
                if let SendKind::Submit(Submit { after, edits: None, .. }) = kind
                    && after.as_ref() == Some(&live.record.answers.id)
                {
                    *after = None;
                }
                live.cancel.cancel();
                self.waiting.push_front(WaitingRequest { request, reply });
            }
        }
    }

    /// Whether no more requests may wait, after removing those of clients that have gone.
    fn is_full(&mut self) -> bool {
        if self.waiting.len() >= MAX_QUEUED {
            self.waiting.retain(|waiting| !waiting.is_abandoned());
        }
        self.waiting.len() >= MAX_QUEUED
    }

    /// Carries out a request while no run is active.
    pub(super) async fn send(&mut self, request: SendRequest) -> Result<Viewer, EngineError> {
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
            // Left behind in the same way: queued messages come first.
            self.queue.backlog = true;
            Box::pin(self.begin_next()).await;
            if let Some(live) = &self.live {
                return self.join_live(live, &request).await?.ok_or(EngineError::Busy);
            }
            record = self.record().await?;
        }
        let agent = self.main_agent(record.as_ref(), &request.options)?;
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
                let stored = self.services.store.message(record.key, &answers.id).await?;
                let command = stored.and_then(|stored| command::of(&stored.message().ok()?));
                let record = self.ready_for(record, command.as_ref(), request.options.origin).await?;
                let asked = Asked { answers, options: request.options, agent, command };
                Box::pin(self.start((&record).into(), Vec::new(), None, asked)).await
            }
            SendKind::Continue { message, answers, outputs } => {
                let record = record.ok_or(EngineError::SessionNotFound)?;
                Box::pin(self.continue_message(&record, &message, answers, outputs)).await
            }
        }
    }

    async fn has(&self, record: Option<&SessionRecord>, message: &MessageId) -> Result<bool, EngineError> {
        match record {
            Some(record) => Ok(self.services.store.message(record.key, message).await?.is_some()),
            None => Ok(false),
        }
    }
}
