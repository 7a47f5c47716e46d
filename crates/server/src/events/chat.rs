//! `chat` and `image`: starts a run in the session. The reply comes when the run is accepted, not when it has ended.

use axum::http::StatusCode;
use engine::{SendKind, SendRequest, Submit};
use protocol::{MessageId, Origin, Part, Role, RunOptions, SessionId, UiMessage, WhenBusy, planted::Unread};
use serde_json::{Value, json};

use super::{
    bind::bind,
    body::{Fields, wrong},
    images,
    message::Sender,
    refusal::Refusal,
    sessions::delete_session,
};

/// Bytes of text in one message.
const MAX_TEXT_BYTES: usize = 1 << 20;

pub(super) async fn chat(
    sender: &Sender<'_>,
    fields: &mut Fields,
    text_needed: bool,
) -> Result<Value, Refusal> {
    let content = fields.text("content")?;
    if content.is_none() && text_needed {
        return Err(wrong("content", "a string"));
    }
    let content = content.unwrap_or_default();
    let images = images::parts(fields.take("images"))?;
    let yolo = fields.flag("yoloMode")?.unwrap_or_default();
    let request = fields.request_id()?;
    if content.trim().is_empty() && images.is_empty() {
        return Err(Refusal::invalid("A message needs text in the field content, or at least one image."));
    }
    if content.len() > MAX_TEXT_BYTES {
        return Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "message_too_large",
            format!("The message has {} bytes of text; at most {MAX_TEXT_BYTES} are allowed.", content.len()),
        ));
    }
    if yolo && !sender.state.settings.allow_yolo {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "yolo_forbidden",
            "This server does not allow yoloMode. Send the message without it.",
        ));
    }
    let connection = sender.connection()?;
    if let Some(reply) =
        request.as_deref().and_then(|request| sender.state.connections.reply(sender.principal, request))
    {
        return Ok(reply);
    }
    let Target { session, is_new } = target(sender, &connection).await?;
    let mut parts = vec![Part::Text { text: content, state: None }];
    parts.extend(images);
    let id: MessageId = sender.state.engine.new_message();
    let message = UiMessage { id, role: Role::User, metadata: None, parts };
    let options = RunOptions {
        origin: Origin::Events,
        request_id: request.clone(),
        yolo,
        when_busy: Some(WhenBusy::Reject),
        ..RunOptions::default()
    };
    let kind = SendKind::Submit(Submit { message, edits: None, after: None, earlier: Unread::default() });
    let workspace = sender.principal.workspace.clone();
    let started =
        sender.state.engine.start(SendRequest { workspace, session: session.clone(), kind, options });
    let run = match started.await {
        Ok(run) => run,
        Err(error) => {
            if is_new {
                // Nothing was said in it.
                delete_session(sender.state, sender.principal, session).await?;
            }
            return Err(error.into());
        }
    };
    let reply = json!({ "success": true, "sessionId": session, "runId": run });
    if let Some(request) = request {
        sender.state.connections.remember(sender.principal, request, reply.clone());
    }
    Ok(reply)
}

/// The session that a message is for.
struct Target {
    session: SessionId,
    is_new: bool,
}

/// The session that the message names, the connection's default one, or a new one. It is at the connection from now on.
async fn target(sender: &Sender<'_>, connection: &str) -> Result<Target, Refusal> {
    let connections = &sender.state.connections;
    let mut is_new = false;
    let (session, is_here) = match &sender.named {
        Some(session) => {
            if !sender.reachable(session, connection).await? {
                return Err(Refusal::session_not_found());
            }
            let at = connections.of_session(&sender.principal.workspace, session);
            (session.clone(), at.as_deref() == Some(connection))
        }
        None => match connections.default_session(connection) {
            Some(session) => (session, true),
            None => {
                is_new = true;
                let workspace = sender.principal.workspace.clone();
                (sender.state.engine.create_session(workspace, None, None).await?, false)
            }
        },
    };
    if !is_here {
        bind(sender.state, sender.principal, &session, connection, None).await?;
    }
    Ok(Target { session, is_new })
}
