//! `switch_agent`: gives the session another main agent. The first check that fails is told on the connection that asked, and
//! changes nothing.

use axum::http::StatusCode;
use bytes::Bytes;
use engine::{AgentSwitch, EngineError};
use protocol::{Announcement, SessionId, wire::events::ServerEvent};
use serde_json::{Value, json};

use super::{body::Fields, connections::Outgoing, message::Sender, refusal::Refusal};

const EMPTY: &str = "agentId cannot be empty";
const FORMAT: &str = "agentId contains invalid characters. Allowed: [a-z0-9_-]";
const NO_SESSION: &str = "There is no such session. Create one with POST /session/create, or load one.";

/// A switch that failed a check: its code and the text for the person.
pub(super) type Failed = (&'static str, String);

pub(super) async fn switch_agent(sender: &Sender<'_>, fields: &mut Fields) -> Result<Value, Refusal> {
    let agent = fields.text("agentId")?.unwrap_or_default();
    let request = fields.request_id()?;
    let named = sender.named.clone();
    let connection = sender.connection()?;
    let session = match named {
        Some(session) => sender.reachable(&session, &connection).await?.then_some(session),
        None => sender.state.connections.default_session(&connection),
    };
    let checked =
        check(&agent).and_then(|()| session.clone().ok_or(("session_not_found", NO_SESSION.to_owned())));
    let result = match checked {
        Err(failed) => Err(failed),
        Ok(session) => switch(sender, session, agent, request.clone()).await?,
    };
    match result {
        Ok((session, AgentSwitch { previous, current, name })) => Ok(json!({
            "success": true, "sessionId": session, "previousAgentId": previous, "currentAgentId": current, "agentName": name,
        })),
        Err((code, text)) => refuse(sender, &connection, session, code, text, request).await,
    }
}

/// Whether the text can be the id of an agent.
pub(super) fn check(agent: &str) -> Result<(), Failed> {
    if agent.is_empty() {
        return Err(("invalid_agent_id", EMPTY.to_owned()));
    }
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    if !agent.bytes().all(allowed) {
        return Err(("invalid_agent_id_format", FORMAT.to_owned()));
    }
    Ok(())
}

async fn switch(
    sender: &Sender<'_>,
    session: SessionId,
    agent: String,
    request: Option<String>,
) -> Result<Result<(SessionId, AgentSwitch), Failed>, Refusal> {
    let workspace = sender.principal.workspace.clone();
    let switched = sender.state.engine.switch_agent(workspace, session.clone(), agent, request).await;
    match switched {
        Ok(switch) => Ok(Ok((session, switch))),
        Err(error @ EngineError::UnknownAgent(_)) => Ok(Err(("agent_not_found", error.to_string()))),
        Err(error @ EngineError::AgentBusy) => Ok(Err(("agent_busy", error.to_string()))),
        Err(EngineError::SessionNotFound) => Ok(Err(("session_not_found", NO_SESSION.to_owned()))),
        Err(error) => Err(error.into()),
    }
}

/// Tells the connection why, before the reply: over the log of the session if it is at this connection.
async fn refuse(
    sender: &Sender<'_>,
    connection: &str,
    session: Option<SessionId>,
    code: &'static str,
    text: String,
    request: Option<String>,
) -> Result<Value, Refusal> {
    let (state, workspace) = (sender.state, &sender.principal.workspace);
    let agents = state.engine.main_agents(workspace);
    let here = session
        .filter(|session| state.connections.of_session(workspace, session).as_deref() == Some(connection));
    match here {
        Some(session) => {
            let refused = Announcement::SwitchRefused {
                connection: connection.to_owned(),
                code: code.to_owned(),
                text: text.clone(),
                agents: agents.clone(),
                request,
            };
            state.engine.announce(workspace.clone(), session, refused).await?;
        }
        None => {
            let data = json!({ "errorCode": code, "message": text, "availableAgents": agents });
            let mut event = ServerEvent::of_connection("error", data, state.engine.now());
            event.request_id = request;
            let mut out = Vec::new();
            event.write(&mut out).map_err(|error| Refusal::invalid(error.to_string()))?;
            state.connections.send(connection, Outgoing::Frames(Bytes::from(out)))?;
        }
    }
    Ok(Refusal::new(StatusCode::OK, code, text).with_agents(agents).body())
}
