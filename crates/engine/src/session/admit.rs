//! Checks that the model that will answer a message can read its files, before anything is stored.

use std::{panic::resume_unwind, sync::Arc};

use models::{Model, attached::FileSupport};
use protocol::{Part, RunOptions, SessionEvent, UiMessage};
use store::SessionRecord;

use super::{actor::Actor, request::Submit};
use crate::{
    EngineError,
    agents::AgentDefinition,
    attachments,
    context::{cache::History, conversation::Conversation},
    model_choice::choose_model,
};

/// Files of so many bytes are decoded on a thread for slow work.
const LARGE: usize = 64 << 10;

/// What is known of the model that answers.
struct AnsweringModel {
    name: String,
    reads: FileSupport,
    /// Tokens that the files of one message may take.
    bound: Option<u64>,
}

impl AnsweringModel {
    fn check(&self, message: &UiMessage) -> Result<(), EngineError> {
        match attachments::refusal(message, self.reads, &self.name) {
            Some(why) => Err(EngineError::UnsupportedAttachment(why)),
            None => Ok(()),
        }
    }
}

impl Actor {
    /// Checks the messages that led to a run, and adds them to the history where it is known.
    pub(super) async fn admit(
        &self,
        events: Vec<SessionEvent>,
        history: Option<Conversation>,
        model: &dyn Model,
    ) -> Result<(Vec<SessionEvent>, Option<History>), EngineError> {
        let size = events.iter().map(|event| accepted(event).map_or(0, size_of_files)).sum();
        if size == 0 {
            // The usual case: nothing to look at.
            let history = history.map(|history| history_with(history, &events));
            return Ok((events, history));
        }
        let answering = self.answering(model);
        off_thread(size, move || {
            let mut events = events;
            for event in &mut events {
                if let SessionEvent::MessageAccepted { message, facts, .. } = event
                    && has_files(message)
                {
                    answering.check(message)?;
                    if let Some(facts) = facts {
                        facts.file_tokens = answering.bound;
                    }
                }
            }
            let history = history.map(|history| history_with(history, &events));
            Ok((events, history))
        })
        .await
    }

    /// Checks a message that is about to be queued, against the model that would answer it now.
    pub(super) async fn admit_queued(
        &self,
        submit: Submit,
        mut options: RunOptions,
        agent: &AgentDefinition,
        record: &SessionRecord,
    ) -> Result<Submit, EngineError> {
        if !has_files(&submit.message) {
            return Ok(submit);
        }
        if options.chat_model_id.is_none() {
            options.chat_model_id.clone_from(&record.chat_model_id);
            options.chat_model_source.clone_from(&record.chat_model_source);
        }
        let model = choose_model(&self.services.catalog, &self.name, &options, agent)?;
        let answering = self.answering(&*model);
        off_thread(size_of_files(&submit.message), move || {
            answering.check(&submit.message)?;
            Ok(submit)
        })
        .await
    }

    fn answering(&self, model: &dyn Model) -> AnsweringModel {
        let window = model.context_window().unwrap_or(self.services.settings.context.default_window);
        AnsweringModel {
            name: model.name().to_owned(),
            reads: model.file_support(),
            bound: attachments::bound(window),
        }
    }
}

/// Runs small work here and large work on a thread for blocking work.
async fn off_thread<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    if size < LARGE {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(gone) => match gone.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(EngineError::ShuttingDown),
        },
    }
}

/// A history that is known, and the message that goes behind it.
fn history_with(mut conversation: Conversation, events: &[SessionEvent]) -> History {
    for event in events {
        if let SessionEvent::MessageAccepted { message, facts, .. } = event {
            conversation.push(message, facts.as_deref());
        }
    }
    Arc::new(conversation)
}

fn accepted(event: &SessionEvent) -> Option<&UiMessage> {
    match event {
        SessionEvent::MessageAccepted { message, .. } => Some(message),
        _ => None,
    }
}

fn has_files(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::File { .. }))
}

fn size_of_files(message: &UiMessage) -> usize {
    let size = |part: &Part| match part {
        Part::File { url, .. } => url.len(),
        _ => 0,
    };
    message.parts.iter().map(size).sum()
}
