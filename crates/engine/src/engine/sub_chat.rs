//! A sub-agent's own chat: the routes of a chat for one sub-agent of a run, and sub-agents in the history of a session.

use std::collections::HashMap;

use protocol::{
    MessageId, Part, Role, Seq, SessionId, ToolCallId, UiMessage, WorkspaceId,
    project::nested::{NestedMessage, expand},
};
use store::{FrameRecord, FrameStatus, MessageRecord, SessionKey, StoreError, SubAgentChat};

use crate::{Engine, EngineError, Viewer, session::actor::Command};

/// Whether this id can be the chat of a sub-agent. Most ids cannot, and need no query.
fn may_be_sub(chat: &SessionId) -> bool {
    chat.as_str().starts_with(SessionId::PREFIX)
}

impl Engine {
    /// The session and the frame behind a sub-agent's chat id.
    pub(crate) async fn sub_chat(
        &self,
        workspace: &WorkspaceId,
        chat: &SessionId,
    ) -> Result<Option<SubAgentChat>, EngineError> {
        if !may_be_sub(chat) {
            return Ok(None);
        }
        Ok(self.services.store.frame_of_chat(workspace, chat).await?)
    }

    pub(crate) async fn watch_sub_agent(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        frame: FrameRecord,
        after: Option<Seq>,
    ) -> Result<Option<Viewer>, EngineError> {
        self.command(workspace, session, |reply| Command::WatchSubAgent {
            frame: Box::new(frame),
            after,
            reply,
        })
        .await
    }

    pub(crate) async fn stop_sub_agent(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        frame: FrameRecord,
    ) -> Result<bool, EngineError> {
        self.command(workspace, session, |reply| Command::StopSubAgent { frame: Box::new(frame), reply })
            .await
    }

    /// Sends a text to the agent at work in this chat, the main agent or a sub-agent; it reads it before its next step.
    pub async fn steer(
        &self,
        workspace: WorkspaceId,
        chat: SessionId,
        text: String,
    ) -> Result<(), EngineError> {
        let (session, frame) = match self.sub_chat(&workspace, &chat).await? {
            Some(SubAgentChat { session, frame, .. }) => (session, Some(frame.message)),
            None => (chat, None),
        };
        self.command(workspace, session, |reply| Command::Steer { frame, text, reply }).await
    }

    /// What a sub-agent was asked and what it answered, as a chat of its own.
    pub(crate) async fn frame_history(
        &self,
        key: SessionKey,
        frame: &FrameRecord,
    ) -> Result<Vec<String>, EngineError> {
        let task = UiMessage {
            id: MessageId::new(format!("{}-task", frame.message)),
            role: Role::User,
            metadata: None,
            parts: vec![Part::Text { text: frame.task.clone(), state: None }],
        };
        let mut messages = vec![json(&task)?];
        if frame.status != FrameStatus::Running
            && let Some(body) = &frame.body
        {
            let frames = self.services.store.frames_of_runs(key, vec![frame.root.clone()]).await?;
            messages.push(with_sub_agents(body, &frames)?);
        }
        Ok(messages)
    }

    /// The messages of a branch, with those of sub-agents inside.
    pub(crate) async fn show(
        &self,
        key: SessionKey,
        branch: Vec<MessageRecord>,
    ) -> Result<Vec<String>, EngineError> {
        let roots = branch.iter().map(|message| message.reference.id.clone()).collect();
        let frames = self.services.store.frames_of_runs(key, roots).await?;
        let show = |message: MessageRecord| {
            if frames.iter().any(|frame| frame.root == message.reference.id) {
                with_sub_agents(&message.body, &frames)
            } else {
                Ok(message.body)
            }
        };
        branch.into_iter().map(show).collect()
    }
}

fn with_sub_agents(body: &str, frames: &[FrameRecord]) -> Result<String, EngineError> {
    let corrupt = |error: serde_json::Error| EngineError::Store(StoreError::Corrupt(error.to_string()));
    let mut message: UiMessage = serde_json::from_str(body).map_err(corrupt)?;
    let below: HashMap<(&MessageId, &ToolCallId), &FrameRecord> =
        frames.iter().map(|frame| ((&frame.parent, &frame.call), frame)).collect();
    let mut wrong = None;
    expand(&mut message, &mut |parent, call| {
        let frame = below.get(&(parent, call))?;
        let at_work = matches!(frame.status, FrameStatus::Running | FrameStatus::Parked);
        match serde_json::from_str(frame.body.as_deref()?) {
            Ok(message) => Some(NestedMessage { message, at_work }),
            Err(error) => {
                wrong = Some(error);
                None
            }
        }
    });
    match wrong {
        Some(error) => Err(corrupt(error)),
        None => json(&message),
    }
}

fn json(message: &UiMessage) -> Result<String, EngineError> {
    serde_json::to_string(message).map_err(|error| EngineError::Store(StoreError::Corrupt(error.to_string())))
}
