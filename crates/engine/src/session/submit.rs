//! A user's message: new, sent again, or edited; and which message an answer is made for.

use std::panic::resume_unwind;

use protocol::{
    MessageId, MessageRef, Origin, Part, Planted, Role, RunOptions, SessionEvent, UiMessage,
    planted::{TWICE, Unread},
    project::chat::{Reading, View},
};
use store::{LastRun, MessageRecord, RunRecord, RunStatus, SessionRecord};

use super::{
    actor::Actor,
    chat_surface::ChatSurface,
    live_run::LiveRun,
    log_end::LogEnd,
    main_agent::ChosenAgent,
    request::{SendKind, SendRequest, Submit},
    start::Asked,
    viewer::Viewer,
};
use crate::{
    EngineError,
    context::{
        command::{self, Command},
        conversation::Conversation,
        facts,
    },
};

/// Where a message of a stored session belongs.
pub(super) enum Placed {
    /// Sent before, with the same content.
    Again(MessageRef),
    New {
        accepted: SessionEvent,
        answers: MessageRef,
    },
}

impl Actor {
    pub(super) async fn submit(
        &mut self,
        record: Option<SessionRecord>,
        submit: Submit,
        options: RunOptions,
        agent: ChosenAgent,
    ) -> Result<Viewer, EngineError> {
        let Some(record) = record else {
            return self.submit_first(submit, options, agent).await;
        };
        match self.place(&record, &submit, &options).await? {
            Placed::Again(user) => self.replay(&record, &user).await,
            Placed::New { accepted, answers } => {
                let command = command::of(&submit.message);
                let record = self.ready_for(record, command.as_ref(), options.origin).await?;
                let asked = Asked { answers, options, agent, command };
                Box::pin(self.start((&record).into(), vec![accepted], None, asked)).await
            }
        }
    }

    /// Withdraws a pending question for a message. A command is refused instead: the question must be answered first.
    /// The events surface has it answered or aborted first, too.
    pub(super) async fn ready_for(
        &self,
        record: SessionRecord,
        command: Option<&Command>,
        origin: Origin,
    ) -> Result<SessionRecord, EngineError> {
        match (&record.last_run, command) {
            (Some(LastRun { status: RunStatus::Parked, .. }), _) if origin == Origin::Events => {
                Err(EngineError::Busy)
            }
            (Some(LastRun { status: RunStatus::Parked, .. }), Some(_)) => Err(EngineError::Waiting),
            _ => self.ready(record).await,
        }
    }

    /// Decides where a message of a stored session belongs. Changes nothing.
    pub(super) async fn place(
        &self,
        record: &SessionRecord,
        submit: &Submit,
        options: &RunOptions,
    ) -> Result<Placed, EngineError> {
        let Submit { message, edits, after, .. } = submit;
        let id = edits.as_ref().unwrap_or(&message.id);
        let stored = self.services.store.message(record.key, id).await?;
        let (revision, parent) = match (stored, edits) {
            (None, Some(edits)) => return Err(EngineError::MessageNotFound(edits.clone())),
            (None, None) => (0, self.parent(record, after.clone(), options).await?),
            (Some(stored), None) => {
                let same = stored.message()?;
                if same.role != Role::User || content(&same) != content(message) {
                    return Err(EngineError::IdConflict);
                }
                return Ok(Placed::Again(stored.reference));
            }
            (Some(stored), Some(_)) => {
                if stored.message()?.role != Role::User {
                    return Err(EngineError::InvalidMessage(
                        "Only a message of the user can be edited.".to_owned(),
                    ));
                }
                (stored.reference.revision + 1, stored.parent)
            }
        };
        let message = UiMessage { id: id.clone(), ..message.clone() };
        let answers = MessageRef { id: id.clone(), revision };
        let facts = Some(Box::new(facts::of_turn(options, self.services.clock.now())));
        Ok(Placed::New {
            accepted: SessionEvent::MessageAccepted { message, revision, parent, facts },
            answers,
        })
    }

    /// Starts a session that is not stored yet. The messages that the client brought along are accepted, once.
    async fn submit_first(
        &mut self,
        submit: Submit,
        options: RunOptions,
        agent: ChosenAgent,
    ) -> Result<Viewer, EngineError> {
        let Submit { message, earlier, .. } = submit;
        let (planted, conversation) = if earlier.is_long() {
            let id = message.id.clone();
            let read = tokio::task::spawn_blocking(move || brought(earlier, &id)).await;
            read.map_err(|gone| match gone.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => EngineError::ShuttingDown,
            })?
        } else {
            brought(earlier, &message.id)
        }
        .map_err(EngineError::InvalidMessage)?;
        let parent = planted.last().and_then(Planted::last).cloned().map(MessageRef::first);
        let answers = MessageRef::first(message.id.clone());
        let command = command::of(&message);
        let mut events: Vec<_> =
            planted.into_iter().map(|messages| SessionEvent::HistoryPlanted { messages }).collect();
        let facts = Some(Box::new(facts::of_turn(&options, self.services.clock.now())));
        events.push(SessionEvent::MessageAccepted { message, revision: 0, parent, facts });
        let asked = Asked { answers, options, agent, command };
        Box::pin(self.start(LogEnd::of_new(&self.name), events, Some(conversation), asked)).await
    }

    /// The parent of a new message: the one the request names, else the message that the client showed before it, else
    /// the end of the active branch.
    async fn parent(
        &self,
        record: &SessionRecord,
        after: Option<MessageId>,
        options: &RunOptions,
    ) -> Result<Option<MessageRef>, EngineError> {
        let reference = |stored: MessageRecord| stored.reference;
        if let Some(id) = &options.parent_message_id {
            let stored = self.services.store.message(record.key, id).await?;
            return stored.map(reference).map(Some).ok_or_else(|| EngineError::MessageNotFound(id.clone()));
        }
        if let Some(id) = after
            && record.active_leaf.as_ref().is_none_or(|leaf| leaf.id != id)
            && let Some(stored) = self.services.store.message(record.key, &id).await?
        {
            return Ok(Some(stored.reference));
        }
        Ok(record.active_leaf.clone())
    }

    /// The user message to answer anew: the one named, the one before the answer named, or the newest.
    pub(super) async fn user_message(
        &self,
        record: &SessionRecord,
        at: Option<MessageId>,
    ) -> Result<MessageRef, EngineError> {
        let mut next = match at {
            Some(id) => {
                let stored = self.services.store.message(record.key, &id).await?;
                Some(stored.ok_or(EngineError::MessageNotFound(id))?.reference)
            }
            None => record.active_leaf.clone(),
        };
        while let Some(reference) = next {
            let step = self.services.store.branch(record.key, &reference, 1).await?;
            let Some(stored) = step.into_iter().next() else { break };
            if stored.message()?.role == Role::User {
                return Ok(stored.reference);
            }
            next = stored.parent;
        }
        Err(EngineError::InvalidMessage("There is no message of the user to answer.".to_owned()))
    }

    /// Follows the active run if the request repeats the message or the answers that started it.
    pub(super) async fn join_live(
        &self,
        live: &LiveRun,
        request: &SendRequest,
    ) -> Result<Option<Viewer>, EngineError> {
        match &request.kind {
            SendKind::Submit(Submit { message, edits, .. }) => {
                if *edits.as_ref().unwrap_or(&message.id) != live.record.answers.id {
                    return Ok(None);
                }
                let Some(key) = live.log.key() else { return Ok(None) };
                let Some(stored) = self.services.store.message(key, &live.record.answers.id).await? else {
                    return Ok(None);
                };
                if content(&stored.message()?) == content(message) {
                    Ok(Some(live.watch()))
                } else if edits.is_none() {
                    Err(EngineError::IdConflict)
                } else {
                    Ok(None)
                }
            }
            SendKind::Continue { message, .. }
                if *message == live.record.message && live.record.last_resume > 0 =>
            {
                Ok(Some(live.watch_continuation()))
            }
            SendKind::Regenerate { .. } | SendKind::Continue { .. } => Ok(None),
        }
    }

    /// The answer to a message that was sent before, as it is stored.
    pub(super) async fn replay(
        &self,
        record: &SessionRecord,
        user: &MessageRef,
    ) -> Result<Viewer, EngineError> {
        match self.services.store.run_answering(record.key, user).await? {
            Some(run) => Ok(self.archived(record, &run, View::WholeMessage)),
            None => Err(EngineError::IdConflict),
        }
    }

    /// A reader of a run that is not in memory.
    pub(super) fn archived(&self, record: &SessionRecord, run: &RunRecord, view: View) -> Viewer {
        let log = LogEnd::from(record).open(&self.services);
        let reading = Reading { view, last_resume: run.last_resume, edge: log.last() };
        let first = match view {
            View::WholeMessage => run.first_seq,
            View::Continuation => run.last_resume,
        };
        let viewer = Viewer::new(
            log,
            ChatSurface::of(&self.services),
            first.saturating_sub(1),
            run.message.clone(),
            reading,
        )
        .lane(run.options.sub_agent_stream);
        match view {
            View::WholeMessage => viewer,
            View::Continuation => viewer.beginning(run.first_seq),
        }
    }
}

/// Reads the messages that a client brought along before its new message. The error is a sentence for the client.
fn brought(earlier: Unread, new: &MessageId) -> Result<(Vec<Planted>, Conversation), String> {
    let (planted, read) = earlier.read(|(conversation, twice): &mut (Conversation, bool), earlier| {
        conversation.push_planted(earlier);
        *twice |= earlier.id == new.as_str();
    })?;
    if read.iter().any(|(_, twice)| *twice) {
        return Err(TWICE.to_owned());
    }
    Ok((planted, Conversation::of_planted(read.into_iter().map(|(conversation, _)| conversation))))
}

/// What two requests must have in common to be the same message.
pub(super) fn content(message: &UiMessage) -> Vec<Part> {
    let mut parts = message.parts.clone();
    for part in &mut parts {
        if let Part::Text { state, .. } = part {
            *state = None;
        }
    }
    parts
}
