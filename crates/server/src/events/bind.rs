//! Puts a session at a connection: from now on its events are sent there, and nowhere else.

use engine::{Follow, Principal};
use protocol::{Seq, SessionId};

use super::{
    connections::{Bound, Outgoing},
    refusal::Refusal,
};
use crate::state::ServerState;

/// The result of following a session from an event that the client has.
pub(super) enum Binding {
    /// The last entry of the log when the session was bound.
    At(Seq),
    /// The log does not have the event.
    Gap,
}

/// Binds a session; its events follow from `after`, or from now on.
pub(super) async fn bind(
    state: &ServerState,
    principal: &Principal,
    session: &SessionId,
    connection: &str,
    after: Option<Seq>,
) -> Result<Binding, Refusal> {
    let connections = &state.connections;
    let _turn = connections.binding(session).await;
    if !state.engine.has_session(&principal.workspace, session).await? {
        return Err(Refusal::session_not_found());
    }
    let Bound { taken_from, again, growth } = connections.bind(&principal.workspace, session, connection)?;
    let before = taken_from.clone();
    let follow = Follow { connection: connection.to_owned(), taken_from, after, growth };
    let reader = match state.engine.follow(principal.workspace.clone(), session.clone(), follow).await {
        Ok(Some(reader)) => reader,
        Ok(None) => {
            connections.give_back(&principal.workspace, session, before.as_deref());
            return Ok(Binding::Gap);
        }
        Err(error) => {
            connections.give_back(&principal.workspace, session, before.as_deref());
            return Err(error.into());
        }
    };
    let edge = reader.edge();
    // A session that is there already has its reader, which tells what was announced.
    if !again {
        let sent = connections.send(connection, Outgoing::Follow(session.clone(), Box::new(reader)));
        if let Err(refusal) = sent {
            connections.unbind(&principal.workspace, session);
            return Err(refusal);
        }
    }
    Ok(Binding::At(edge))
}
