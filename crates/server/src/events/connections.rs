//! The open connections, and which session is at which of them: a session is at one connection at most.
//!
//! Only in memory: a connection ends with its socket, and a client that comes back names the event it has.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use bytes::Bytes;
use engine::{EventsReader, Principal};
use parking_lot::Mutex;
use protocol::{PrincipalId, SessionId, WorkspaceId, project::events::Growth};
use serde_json::Value;
use tokio::sync::mpsc;

use super::refusal::Refusal;

/// How much may wait for a client that does not read, in messages of the connection itself.
const OUTBOX: usize = 256;
/// How many sessions may be at one connection.
const MAX_SESSIONS: usize = 1_000;
/// How long a ticket is good for.
pub(super) const TICKET_TIME: Duration = Duration::from_secs(30);
const MAX_TICKETS: usize = 10_000;
/// How long the reply to a request is remembered, so that a repeated one starts no second run.
const REPLY_TIME: Duration = Duration::from_secs(600);
const MAX_REPLIES: usize = 10_000;
/// Binds of one session follow each other; those of others rarely wait for them.
const BIND_LOCKS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub all: usize,
    pub per_token: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { all: 4_096, per_token: 4_096 }
    }
}

/// What a connection sends next.
pub(super) enum Outgoing {
    Frames(Bytes),
    /// A session is at this connection from now on.
    Follow(SessionId, Box<EventsReader>),
}

pub(crate) struct Connections {
    limits: ConnectionLimits,
    inner: Mutex<Inner>,
    binding: Vec<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Inner {
    open: HashMap<String, Connection>,
    /// The connection that each session is at.
    sessions: HashMap<(WorkspaceId, SessionId), String>,
    tickets: HashMap<[u8; 32], Ticket>,
    replies: HashMap<(PrincipalId, String), (Instant, Value)>,
}

struct Connection {
    owner: PrincipalId,
    workspace: WorkspaceId,
    sessions: HashSet<SessionId>,
    /// The session of a message that names none.
    default: Option<SessionId>,
    growth: Growth,
    outbox: mpsc::Sender<Outgoing>,
}

struct Ticket {
    principal: Principal,
    until: Instant,
}

/// What binding a session to a connection changed.
pub(super) struct Bound {
    /// The connection that had it before.
    pub(super) taken_from: Option<String>,
    /// Whether it was at this connection already.
    pub(super) again: bool,
    pub(super) growth: Growth,
}

/// Removes a connection when its stream is dropped.
pub(super) struct OpenConnection {
    pub(super) id: String,
    all: Arc<Connections>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.all.close(&self.id);
    }
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        let binding = std::iter::repeat_with(tokio::sync::Mutex::default).take(BIND_LOCKS).collect();
        Arc::new(Self { limits, inner: Mutex::default(), binding })
    }

    /// How many connections are open.
    pub(crate) fn count(&self) -> usize {
        self.inner.lock().open.len()
    }

    pub(super) fn open(
        self: &Arc<Self>,
        id: String,
        principal: &Principal,
        growth: Growth,
    ) -> Result<(OpenConnection, mpsc::Receiver<Outgoing>), Refusal> {
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let mut inner = self.inner.lock();
        let own = inner.open.values().filter(|connection| connection.owner == principal.id).count();
        if inner.open.len() >= self.limits.all || own >= self.limits.per_token {
            return Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_connections",
                "Too many event connections are open. Close one, then connect again.",
            ));
        }
        let connection = Connection {
            owner: principal.id.clone(),
            workspace: principal.workspace.clone(),
            sessions: HashSet::new(),
            default: None,
            growth,
            outbox,
        };
        inner.open.insert(id.clone(), connection);
        Ok((OpenConnection { id, all: Arc::clone(self) }, outgoing))
    }

    fn close(&self, id: &str) {
        let mut inner = self.inner.lock();
        let Some(connection) = inner.open.remove(id) else { return };
        for session in connection.sessions {
            let key = (connection.workspace.clone(), session);
            if inner.sessions.get(&key).is_some_and(|at| at == id) {
                inner.sessions.remove(&key);
            }
        }
    }

    /// The connection that a request comes from.
    pub(super) fn of_request(
        &self,
        principal: &Principal,
        named: Option<&str>,
        session: Option<&SessionId>,
    ) -> Result<String, Refusal> {
        let inner = self.inner.lock();
        let is_own = |connection: &Connection| connection.owner == principal.id;
        if let Some(id) = named {
            return match inner.open.get(id).filter(|connection| is_own(connection)) {
                Some(_) => Ok(id.to_owned()),
                None => Err(Refusal::new(
                    StatusCode::NOT_FOUND,
                    "connection_not_found",
                    "This connection is not open. Connect again with GET /events.",
                )),
            };
        }
        let of_session = session
            .and_then(|session| inner.sessions.get(&(principal.workspace.clone(), session.clone())))
            .filter(|id| inner.open.get(*id).is_some_and(is_own));
        if let Some(id) = of_session {
            return Ok(id.clone());
        }
        let mut own = inner.open.iter().filter(|(_, connection)| is_own(connection)).map(|(id, _)| id);
        match (own.next(), own.next()) {
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "connection_required",
                "Several event connections are open. Send the connectionId of the one that this request is from.",
            )),
            (None, _) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "no_active_connection",
                "No event connection is open. Connect with GET /events first.",
            )),
        }
    }

    /// The session that a message without one is about.
    pub(super) fn default_session(&self, connection: &str) -> Option<SessionId> {
        self.inner.lock().open.get(connection)?.default.clone()
    }

    /// The connection that a session is at.
    pub(crate) fn of_session(&self, workspace: &WorkspaceId, session: &SessionId) -> Option<String> {
        self.inner.lock().sessions.get(&(workspace.clone(), session.clone())).cloned()
    }

    /// Held while a session is bound, so that those who want the same one come one after another.
    pub(super) async fn binding(&self, session: &SessionId) -> tokio::sync::MutexGuard<'_, ()> {
        let place =
            session.as_str().bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) ^ usize::from(byte));
        self.binding[place % BIND_LOCKS].lock().await
    }

    /// Puts a session at a connection, as its default one.
    pub(super) fn bind(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        connection: &str,
    ) -> Result<Bound, Refusal> {
        let mut inner = self.inner.lock();
        let key = (workspace.clone(), session.clone());
        let before = inner.sessions.get(&key).cloned();
        let again = before.as_deref() == Some(connection);
        let Some(open) = inner.open.get_mut(connection) else {
            return Err(Refusal::new(
                StatusCode::NOT_FOUND,
                "connection_not_found",
                "This connection was closed. Connect again with GET /events.",
            ));
        };
        if !again && open.sessions.len() >= MAX_SESSIONS {
            return Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_sessions",
                format!("At most {MAX_SESSIONS} sessions can be at one connection."),
            ));
        }
        open.sessions.insert(session.clone());
        open.default = Some(session.clone());
        let growth = open.growth;
        inner.sessions.insert(key, connection.to_owned());
        if let Some(other) = before.as_ref().filter(|_| !again).and_then(|before| inner.open.get_mut(before))
        {
            other.sessions.remove(session);
            other.default = other.default.take().filter(|default| default != session);
        }
        Ok(Bound { taken_from: before.filter(|_| !again), again, growth })
    }

    /// Takes a session from its connection: it was deleted, or could not be followed.
    pub(crate) fn unbind(&self, workspace: &WorkspaceId, session: &SessionId) {
        let mut inner = self.inner.lock();
        let Some(connection) = inner.sessions.remove(&(workspace.clone(), session.clone())) else { return };
        if let Some(open) = inner.open.get_mut(&connection) {
            open.sessions.remove(session);
            open.default = open.default.take().filter(|default| default != session);
        }
    }

    /// Undoes a bind that came to nothing: the connection that had the session still follows it.
    pub(super) fn give_back(&self, workspace: &WorkspaceId, session: &SessionId, before: Option<&str>) {
        self.unbind(workspace, session);
        let mut inner = self.inner.lock();
        let Some(before) = before else { return };
        let Some(open) = inner.open.get_mut(before) else { return };
        open.sessions.insert(session.clone());
        open.default.get_or_insert_with(|| session.clone());
        inner.sessions.insert((workspace.clone(), session.clone()), before.to_owned());
    }

    /// Sends on a connection, behind what was sent before.
    pub(super) fn send(&self, connection: &str, outgoing: Outgoing) -> Result<(), Refusal> {
        let outbox = self.inner.lock().open.get(connection).map(|open| open.outbox.clone());
        let sent = outbox.map(|outbox| outbox.try_send(outgoing));
        match sent {
            Some(Err(mpsc::error::TrySendError::Full(_))) => Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_requests",
                "The connection does not read its events. Read them, then send again.",
            )),
            // A connection that was just closed needs nothing more.
            _ => Ok(()),
        }
    }

    /// Adds a ticket; returns `false` when there are too many.
    pub(super) fn add_ticket(&self, digest: [u8; 32], principal: Principal) -> bool {
        let mut inner = self.inner.lock();
        let now = Instant::now();
        inner.tickets.retain(|_, ticket| ticket.until > now);
        if inner.tickets.len() >= MAX_TICKETS {
            return false;
        }
        inner.tickets.insert(digest, Ticket { principal, until: now + TICKET_TIME });
        true
    }

    /// The caller that a ticket was given to, once.
    pub(super) fn use_ticket(&self, digest: &[u8; 32]) -> Option<Principal> {
        let ticket = self.inner.lock().tickets.remove(digest)?;
        (ticket.until > Instant::now()).then_some(ticket.principal)
    }

    /// The reply to an earlier request of the same name.
    pub(super) fn reply(&self, principal: &Principal, request: &str) -> Option<Value> {
        let inner = self.inner.lock();
        let (at, reply) = inner.replies.get(&(principal.id.clone(), request.to_owned()))?;
        (at.elapsed() < REPLY_TIME).then(|| reply.clone())
    }

    pub(super) fn remember(&self, principal: &Principal, request: String, reply: Value) {
        let mut inner = self.inner.lock();
        if inner.replies.len() >= MAX_REPLIES {
            inner.replies.retain(|_, (at, _)| at.elapsed() < REPLY_TIME);
        }
        if inner.replies.len() < MAX_REPLIES {
            inner.replies.insert((principal.id.clone(), request), (Instant::now(), reply));
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
