//! `POST /message`: one message of a client. Checks run in this order: body, type, fields, connection, session, and then the
//! rules of the message itself.

use axum::{
    Extension, Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use engine::{Principal, RollbackFiles, Stopped};
use protocol::SessionId;
use serde_json::{Value, json};

use super::{
    answers,
    body::{Fields, wrong},
    chat,
    refusal::Refusal,
    switch,
};
use crate::state::ServerState;

/// Who sent a message, and what it says about the connection and the session.
pub(super) struct Sender<'a> {
    pub(super) state: &'a ServerState,
    pub(super) principal: &'a Principal,
    named_connection: Option<String>,
    pub(super) named: Option<SessionId>,
}

pub(crate) async fn post(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let mut fields = Fields::read(&state, &headers, body, false).await?;
    let kind = fields.text("type")?.ok_or_else(|| wrong("type", "a string"))?;
    let known = [
        "chat",
        "image",
        "switch_agent",
        "abort",
        "tool_confirmation_response",
        "user_question_response",
        "rollback",
        "heartbeat",
    ];
    if !known.contains(&kind.as_str()) {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "unknown_message_type",
            format!("There is no message type \"{}\".", kind.chars().take(64).collect::<String>()),
        ));
    }
    let named_connection = fields.text("connectionId")?;
    // An id that no session can have is one that does not exist.
    let named = fields
        .text("sessionId")?
        .map(|id| SessionId::from_outside(&id).unwrap_or_else(|_| SessionId::new(String::new())));
    let sender = Sender { state: &state, principal: &principal, named_connection, named };
    let reply = match kind.as_str() {
        "heartbeat" => json!({ "success": true }),
        "chat" => chat::chat(&sender, &mut fields, true).await?,
        "image" => chat::chat(&sender, &mut fields, false).await?,
        "switch_agent" => switch::switch_agent(&sender, &mut fields).await?,
        "abort" => abort(&sender).await?,
        "tool_confirmation_response" => answers::confirm(&sender, &mut fields).await?,
        "user_question_response" => answers::answer_question(&sender, &mut fields).await?,
        _ => roll_back(&sender, &mut fields).await?,
    };
    Ok(Json(reply))
}

impl Sender<'_> {
    /// The connection that the message comes from.
    pub(super) fn connection(&self) -> Result<String, Refusal> {
        self.connection_of(self.named.as_ref())
    }

    pub(super) fn connection_of(&self, session: Option<&SessionId>) -> Result<String, Refusal> {
        self.state.connections.of_request(self.principal, self.named_connection.as_deref(), session)
    }

    /// Whether a session exists and is not at another connection.
    pub(super) async fn reachable(&self, session: &SessionId, connection: &str) -> Result<bool, Refusal> {
        let workspace = &self.principal.workspace;
        let at = self.state.connections.of_session(workspace, session);
        if at.is_some_and(|at| at != connection) || session.as_str().is_empty() {
            return Ok(false);
        }
        Ok(self.state.engine.has_session(workspace, session).await?)
    }

    /// The session that the message is about.
    async fn session(&self) -> Result<SessionId, Refusal> {
        let connection = self.connection()?;
        match &self.named {
            Some(session) if self.reachable(session, &connection).await? => Ok(session.clone()),
            Some(_) => Err(Refusal::session_not_found()),
            None => {
                let default = self.state.connections.default_session(&connection);
                default.ok_or_else(Refusal::session_not_found)
            }
        }
    }
}

async fn abort(sender: &Sender<'_>) -> Result<Value, Refusal> {
    let session = sender.session().await?;
    let workspace = sender.principal.workspace.clone();
    let stopped = sender.state.engine.stop(workspace, session.clone(), None).await?;
    Ok(json!({ "success": true, "aborted": stopped != Stopped::Idle, "sessionId": session }))
}

async fn roll_back(sender: &Sender<'_>, fields: &mut Fields) -> Result<Value, Refusal> {
    let request = fields.request_id()?;
    let rollback = match fields.take("rollback") {
        Some(Value::Object(rollback)) => rollback,
        _ => return Err(wrong("rollback", "an object with messageIndex and rollbackFiles")),
    };
    let index =
        rollback.get("messageIndex").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    let index = index.ok_or_else(|| wrong("rollback.messageIndex", "a number from 0"))?;
    let files = match rollback.get("rollbackFiles") {
        Some(Value::Bool(files)) => *files,
        None | Some(Value::Null) => false,
        Some(_) => return Err(wrong("rollback.rollbackFiles", "true or false")),
    };
    let files = match (files, rollback.get("selectedFiles")) {
        (false, _) => RollbackFiles::None,
        (true, None | Some(Value::Null)) => RollbackFiles::All,
        (true, Some(Value::Array(paths))) => {
            let path = |path: &Value| path.as_str().map(str::to_owned);
            let paths: Option<Vec<String>> = paths.iter().map(path).collect();
            RollbackFiles::Selected(paths.ok_or_else(|| wrong("rollback.selectedFiles", "a list of paths"))?)
        }
        (true, Some(_)) => return Err(wrong("rollback.selectedFiles", "a list of paths")),
    };
    let session = sender.session().await?;
    let workspace = sender.principal.workspace.clone();
    sender.state.engine.roll_back(workspace, session, index, files, request).await?;
    Ok(json!({ "success": true }))
}
