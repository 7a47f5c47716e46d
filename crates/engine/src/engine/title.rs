//! Titles that a person asks the model for: over the route, or with the message `/summary-title`.

use std::{borrow::Cow, sync::Arc};

use protocol::{
    Chunk, FinishReason, SessionId, WorkspaceId,
    wire::chat::{DataChunk, DataKind, write_unnumbered_sse_event},
};
use serde_json::json;

use crate::{
    Engine, EngineError, Following, SendKind, SendRequest,
    context::command::{self, Kind},
    run::model_call::title,
    session::registry::SessionHandle,
    session_name::SessionName,
};

impl Engine {
    fn handle(&self, workspace: WorkspaceId, session: SessionId) -> SessionHandle {
        SessionHandle::new(Arc::clone(&self.sessions), SessionName::new(workspace, session))
    }

    /// Has the model write a title for the chat, now; `wish` is what the person asks for in particular.
    pub async fn retitle(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        wish: &str,
    ) -> Result<String, EngineError> {
        let session = self.handle(workspace.clone(), session.clone());
        title::write(&self.services, &session, wish, false).await?.ok_or(EngineError::SessionNotFound)
    }

    /// `/summary-title` as a message: answered with the title, and kept nowhere. `None` when it is another message.
    pub(crate) async fn titling(&self, request: &SendRequest) -> Result<Option<Following>, EngineError> {
        let SendKind::Submit(submit) = &request.kind else { return Ok(None) };
        let command = command::of(&submit.message).filter(|command| command.kind == Kind::Title);
        let Some(command) = command else { return Ok(None) };
        self.record(&request.workspace, &request.session).await?;
        let services = Arc::clone(&self.services);
        let session = self.handle(request.workspace.clone(), request.session.clone());
        Ok(Some(Following::Once(Box::pin(async move {
            let title = title::write(&services, &session, &command.wish, false).await;
            let title = title.and_then(|title| title.ok_or(EngineError::SessionNotFound));
            sse_events(services.ids.message().as_str(), &session.name().session, title)
        }))))
    }
}

/// The SSE events of a message that is not stored: only the title, or why there is none.
fn sse_events(message: &str, session: &SessionId, title: Result<String, EngineError>) -> Vec<u8> {
    let mut chunks = vec![Chunk::Start { message_id: message.into(), message_metadata: None }];
    match title {
        Ok(title) => {
            let data = json!({ "sessionId": session, "title": title });
            let kind = DataKind("session-title".into());
            chunks.push(Chunk::Data(DataChunk { kind, id: None, data: Cow::Owned(data), transient: true }));
            chunks.push(Chunk::Finish { finish_reason: FinishReason::Stop, message_metadata: None });
        }
        Err(error) => chunks.push(Chunk::Error { error_text: Cow::Owned(error.to_string()) }),
    }
    let mut out = Vec::new();
    for chunk in &chunks {
        if let Err(error) = write_unnumbered_sse_event(&mut out, chunk) {
            tracing::error!(%error, "a chunk could not be written");
        }
    }
    out
}
