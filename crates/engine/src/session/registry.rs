//! The live sessions, with one actor each. Commands are sent under the same lock under which an actor leaves, so that no
//! command is sent to an actor that has ended.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use protocol::{SessionId, WorkspaceId};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use super::{
    actor::{self, Command},
    change::SessionChange,
    runner::Runner,
};
use crate::{EngineError, log::session_log::SessionLog, services::Services, session_name::SessionName};

/// How many commands may be pending for one session.
const MAILBOX: usize = 64;

/// What one live session holds in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionLoad {
    pub session: SessionId,
    pub commands_waiting: usize,
    pub tail_bytes: usize,
    pub rows_waiting: usize,
    pub viewers: usize,
}

pub(crate) struct SessionRegistry {
    services: Arc<Services>,
    runner: Arc<dyn Runner>,
    live: Mutex<HashMap<SessionName, Entry>>,
}

/// One session, live or not.
#[derive(Clone)]
pub(crate) struct SessionHandle {
    sessions: Arc<SessionRegistry>,
    name: SessionName,
}

impl SessionHandle {
    pub(crate) fn new(sessions: Arc<SessionRegistry>, name: SessionName) -> Self {
        Self { sessions, name }
    }

    pub(crate) fn name(&self) -> &SessionName {
        &self.name
    }

    /// Sets a title that a model wrote; returns whether it was set.
    pub(crate) async fn set_title(&self, title: String, only_untitled: bool) -> Result<bool, EngineError> {
        let (reply, answer) = oneshot::channel();
        let change = SessionChange::Title { title, only_untitled };
        self.sessions.send(self.name.clone(), Command::Change { change, reply })?;
        answer.await.map_err(|_| EngineError::ShuttingDown)?
    }

    /// Appends events that concern the session itself, such as what a model call for its title cost.
    pub(crate) fn append(&self, events: Vec<protocol::SessionEvent>) -> Result<(), EngineError> {
        self.sessions.send(self.name.clone(), Command::Append { events })
    }
}

struct Entry {
    /// Boxed, because a channel reserves memory for many commands and most sessions never use it.
    mailbox: mpsc::Sender<Box<Command>>,
    /// The log of the active run.
    log: Weak<SessionLog>,
}

impl SessionRegistry {
    pub(crate) fn new(services: Arc<Services>, runner: Arc<dyn Runner>) -> Arc<Self> {
        Arc::new(Self { services, runner, live: Mutex::default() })
    }

    pub(super) fn services(&self) -> &Arc<Services> {
        &self.services
    }

    pub(super) fn runner(&self) -> &Arc<dyn Runner> {
        &self.runner
    }

    /// Sends a command to the session's actor, which is started if there is none.
    pub(crate) fn send(self: &Arc<Self>, name: SessionName, command: Command) -> Result<(), EngineError> {
        let tasks = &self.services.tasks;
        let mut live = self.live.lock();
        if tasks.shutdown.is_cancelled() {
            return Err(EngineError::ShuttingDown);
        }
        if !live.contains_key(&name) {
            let (sender, mailbox) = mpsc::channel(MAILBOX);
            tasks.tracker.spawn(actor::run(Arc::clone(self), name.clone(), mailbox));
            live.insert(name.clone(), Entry { mailbox: sender, log: Weak::new() });
            tasks.admission.set_live_sessions(live.len());
        }
        let sent = live.get(&name).map(|actor| actor.mailbox.try_send(Box::new(command)));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(EngineError::QueueFull(MAILBOX)),
        }
    }

    /// Removes an idle actor, unless a command has just been sent to it; returns whether it did.
    pub(super) fn leave(&self, name: &SessionName, mailbox: &mpsc::Receiver<Box<Command>>) -> bool {
        let mut live = self.live.lock();
        if mailbox.is_empty() {
            live.remove(name);
            self.services.tasks.admission.set_live_sessions(live.len());
            true
        } else {
            false
        }
    }

    /// Remembers the log of the run that has begun, for [`Self::load`].
    pub(super) fn follow(&self, name: &SessionName, log: &Arc<SessionLog>) {
        if let Some(entry) = self.live.lock().get_mut(name) {
            entry.log = Arc::downgrade(log);
        }
    }

    /// How many sessions are live, and what each of one workspace holds in memory.
    pub(crate) fn load(&self, workspace: &WorkspaceId) -> (usize, Vec<SessionLoad>) {
        let live = self.live.lock();
        let sessions = live
            .iter()
            .filter(|(name, _)| name.workspace == *workspace)
            .map(|(name, entry)| {
                let held = entry.log.upgrade().map(|log| log.held()).unwrap_or_default();
                SessionLoad {
                    session: name.session.clone(),
                    commands_waiting: entry.mailbox.max_capacity() - entry.mailbox.capacity(),
                    tail_bytes: held.tail_bytes,
                    rows_waiting: held.rows_waiting,
                    viewers: held.viewers,
                }
            })
            .collect();
        (live.len(), sessions)
    }
}
