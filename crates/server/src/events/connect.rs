//! `GET /events`: the stream of one client. It begins with `connected` and `agent_list`; then come the events of the sessions
//! at this connection, each read from its log.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use engine::{DEFAULT_AGENT, EventsReader, OpenStream, Principal, ViewError};
use futures::{
    FutureExt, StreamExt,
    stream::{self, BoxStream, SelectAll},
};
use protocol::{
    ErrorCode, Seq, SessionId,
    project::events::Growth,
    wire::events::{ServerEvent, parse_event_id},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{
    mpsc,
    oneshot::{self, error::TryRecvError},
};
use tokio_util::sync::CancellationToken;

use super::{
    bind::{Binding, bind},
    connections::{OpenConnection, Outgoing},
    refusal::Refusal,
};
use crate::{auth, error::ApiError, socket::EndsWithClient, state::ServerState};

const HEARTBEAT: &[u8] = b": hb\n\n";
/// How long clients wait before they connect again.
const RETRY: &[u8] = b"retry: 2000\n";

/// Parameters that choose an agent are ignored like all others.
#[derive(Deserialize)]
pub(crate) struct ConnectQuery {
    ticket: Option<String>,
    #[serde(rename = "lastEventId")]
    last_event_id: Option<String>,
    deltas: Option<String>,
}

pub(crate) async fn connect(
    State(state): State<ServerState>,
    Query(query): Query<ConnectQuery>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    // A response that is not ready at once is written by `socket/`, which notices that a client has gone.
    tokio::task::yield_now().await;
    let principal = caller(&state, &query, &headers).await.map_err(IntoResponse::into_response)?;
    open(&state, principal, &query, &headers).await.map_err(IntoResponse::into_response)
}

/// The caller, by a ticket or as on every other route.
async fn caller(
    state: &ServerState,
    query: &ConnectQuery,
    headers: &HeaderMap,
) -> Result<Principal, ApiError> {
    let found = match &query.ticket {
        Some(ticket) => state.connections.use_ticket(&auth::digest(ticket)),
        None => auth::principal(state, headers).await?,
    };
    found.ok_or_else(|| {
        let text = "The request has no valid token or ticket. Send the header Authorization: Bearer <token>, or get a \
                    ticket with POST /events/ticket; it is good for one connection, for 30 seconds.";
        ApiError::new(ErrorCode::Unauthorized, text)
    })
}

async fn open(
    state: &ServerState,
    principal: Principal,
    query: &ConnectQuery,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let growth = if query.deltas.as_deref() == Some("1") { Growth::Deltas } else { Growth::Whole };
    let id = format!("conn_{}", state.engine.unguessable());
    let (connection, outgoing) = state.connections.open(id.clone(), &principal, growth)?;
    let last =
        headers.get("last-event-id").and_then(|id| id.to_str().ok()).or(query.last_event_id.as_deref());
    let resumed = match last.filter(|last| !last.is_empty()) {
        Some(last) => Some(resume(state, &principal, &id, last).await?),
        None => None,
    };
    let agent = resumed.as_ref().and_then(|resumed| resumed.agent.clone());
    let mut first = RETRY.to_vec();
    let agents = state.engine.main_agents(&principal.workspace);
    let current = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
    put(state, &mut first, "connected", json!({ "connectionId": id }));
    put(state, &mut first, "agent_list", json!({ "agents": agents, "currentAgentId": current }));
    if let Some(resync) = resumed.and_then(|resumed| resumed.resync) {
        put(state, &mut first, "resync", resync);
    }
    let stream = EventStream {
        state: state.clone(),
        principal: principal.clone(),
        first: Some(Bytes::from(first)),
        outgoing,
        sessions: SelectAll::new(),
        following: HashMap::new(),
        access: state.engine.open_stream(&principal),
        heartbeat: state.settings.heartbeat,
        shutdown: state.resources.shutdown().clone(),
        connection,
    };
    let frames = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), stream))
    });
    let mut response = Response::new(Body::from_stream(frames));
    response.extensions_mut().insert(EndsWithClient);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// What a client that has an event already is told first.
struct Resumed {
    agent: Option<String>,
    resync: Option<Value>,
}

async fn resume(
    state: &ServerState,
    principal: &Principal,
    connection: &str,
    last: &str,
) -> Result<Resumed, Refusal> {
    let unknown = |session: &str| Resumed {
        agent: None,
        resync: Some(json!({ "sessionId": session, "reason": "unknown", "lastSeq": 0 })),
    };
    let Some((name, number)) = parse_event_id(last) else { return Ok(unknown(last)) };
    let Ok(session) = SessionId::from_outside(name) else { return Ok(unknown(name)) };
    match bind(state, principal, &session, connection, Some(number)).await {
        Ok(Binding::At(_)) => {
            let agent = state.engine.current_agent(&principal.workspace, &session).await?;
            Ok(Resumed { agent: Some(agent), resync: None })
        }
        Ok(Binding::Gap) => {
            let last: Seq = state.engine.last_event(&principal.workspace, &session).await?;
            let resync = json!({ "sessionId": session, "reason": "gap", "lastSeq": last });
            Ok(Resumed { agent: None, resync: Some(resync) })
        }
        // Whether there is no such session or it is not the caller's looks the same.
        Err(_) => Ok(unknown(name)),
    }
}

fn put(state: &ServerState, out: &mut Vec<u8>, kind: &'static str, data: Value) {
    let event = ServerEvent::of_connection(kind, data, state.engine.now());
    if let Err(error) = event.write(out) {
        tracing::error!(%error, "an event could not be written");
    }
}

type SessionFrames = BoxStream<'static, (SessionId, Result<Vec<u8>, ViewError>)>;

struct EventStream {
    state: ServerState,
    principal: Principal,
    first: Option<Bytes>,
    outgoing: mpsc::Receiver<Outgoing>,
    /// The sessions at this connection.
    sessions: SelectAll<SessionFrames>,
    /// Resolves when a session has left: one that comes back is followed only when its events from before were sent.
    following: HashMap<SessionId, oneshot::Receiver<()>>,
    /// Resolves when the caller's token or sign-in is revoked.
    access: OpenStream,
    heartbeat: Duration,
    shutdown: CancellationToken,
    connection: OpenConnection,
}

impl EventStream {
    /// The next bytes; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            tokio::select! {
                biased;
                () = self.access.revoked() => return None,
                () = self.shutdown.cancelled() => return None,
                outgoing = self.outgoing.recv() => match outgoing? {
                    Outgoing::Frames(frames) => return Some(frames),
                    Outgoing::Follow(session, reader) => self.follow(session, *reader),
                },
                Some((session, frames)) = self.sessions.next(), if !self.sessions.is_empty() => match frames {
                    Ok(frames) => return Some(Bytes::from(frames)),
                    Err(error) => return Some(self.lost(&session, &error)),
                },
                () = tokio::time::sleep(self.heartbeat) => return Some(Bytes::from_static(HEARTBEAT)),
            }
        }
    }

    fn follow(&mut self, session: SessionId, reader: EventsReader) {
        self.following.retain(|_, left| matches!(left.try_recv(), Err(TryRecvError::Empty)));
        let (leaves, left) = oneshot::channel();
        let before = self.following.insert(session.clone(), left);
        self.sessions.push(frames_of(session, reader, before, leaves));
    }

    /// The log of a session could not be read on: the client loads it again.
    fn lost(&self, session: &SessionId, error: &ViewError) -> Bytes {
        tracing::warn!(%error, connection = self.connection.id, "a session can no longer be followed");
        let mut out = Vec::new();
        let connections = &self.state.connections;
        let here = connections.of_session(&self.principal.workspace, session);
        if here.as_deref() == Some(self.connection.id.as_str()) {
            connections.unbind(&self.principal.workspace, session);
            let data = json!({ "sessionId": session, "reason": "gap", "lastSeq": 0 });
            put(&self.state, &mut out, "resync", data);
        }
        Bytes::from(out)
    }
}

/// The frames of a session, after those of `before`; `leaves` is dropped with the last one.
fn frames_of(
    session: SessionId,
    reader: EventsReader,
    before: Option<oneshot::Receiver<()>>,
    leaves: oneshot::Sender<()>,
) -> SessionFrames {
    let session = Arc::new(session);
    let frames = stream::unfold(Some((reader, leaves)), move |following| {
        let session = Arc::clone(&session);
        async move {
            let (mut reader, leaves) = following?;
            let frames = reader.next().await?;
            let rest = frames.is_ok().then_some((reader, leaves));
            Some((((*session).clone(), frames), rest))
        }
    });
    let wait = async move {
        // Nothing is sent: the other end is dropped.
        if let Some(before) = before {
            drop(before.await);
        }
        frames
    };
    wait.flatten_stream().boxed()
}
