//! A compaction that a person asks for over the route: sends the message `/compact` for them and returns the result.

use protocol::{
    MessageId, MessageRef, Part, Role, RunOptions, SessionId, UiMessage, WorkspaceId, planted::Unread,
};
use serde_json::Value;
use store::StoreError;

use crate::{Engine, EngineError, SendKind, SendRequest, Submit, ViewError, context::compaction::Compaction};

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactOutcome {
    /// The message that says it.
    pub message: UiMessage,
    /// The `data-compaction` part, when there was something to do.
    pub compaction: Option<Value>,
    /// Whether the model reads a summary from now on.
    pub compacted: bool,
}

impl Engine {
    /// Summarises the older part of a chat now; returns when that is done. `instructions` is what the summary should
    /// consider; it may be empty.
    pub async fn compact(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        instructions: &str,
    ) -> Result<CompactOutcome, EngineError> {
        let key = self.record(&workspace, &session).await?.key;
        let id = self.services.ids.message();
        let text = format!("/compact {instructions}").trim_end().to_owned();
        let message = UiMessage {
            id: id.clone(),
            role: Role::User,
            metadata: None,
            parts: vec![Part::Text { text, state: None }],
        };
        let submit = Submit { message, edits: None, after: None, earlier: Unread::default() };
        let kind = SendKind::Submit(submit);
        let mut following =
            self.send(SendRequest { workspace, session, kind, options: RunOptions::default() }).await?;
        while let Some(frames) = following.next().await {
            frames.map_err(broken_off)?;
        }
        let run = self.services.store.run_answering(key, &MessageRef::first(id.clone())).await?;
        let answer: MessageId = run.ok_or(EngineError::SessionNotFound)?.message;
        let stored = self.services.store.message(key, &answer).await?;
        let message = stored.ok_or(EngineError::MessageNotFound(answer))?.message()?;
        let part = message.parts.iter().rev().find(|part| Compaction::of(part).is_some());
        let compacted = part.is_some_and(|part| Compaction::in_force(part).is_some());
        let compaction = part.and_then(|part| match part {
            Part::Data { data, .. } => Some(data.clone()),
            _ => None,
        });
        Ok(CompactOutcome { message, compaction, compacted })
    }
}

fn broken_off(error: ViewError) -> EngineError {
    match error {
        ViewError::NotBegun(error) => *error,
        ViewError::Store(error) => error.into(),
        ViewError::BrokenOff => StoreError::Unavailable("the answer broke off".into()).into(),
    }
}
