//! Which sessions are live: one actor each. Commands are handed over under the lock under which an actor leaves,
//! so that none is ever given to an actor that is gone.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use protocol::{SessionId, WorkspaceId};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    actor::{self, Command},
    log::SessionLog,
};
use crate::{EngineError, engine::Parts};

/// How many commands wait for one session.
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

pub(crate) type SessionName = (WorkspaceId, SessionId);

#[derive(Default)]
pub(crate) struct Registry {
    live: Mutex<HashMap<SessionName, Entry>>,
}

struct Entry {
    /// Boxed: a channel reserves room for many, and most sessions never use it.
    mailbox: mpsc::Sender<Box<Command>>,
    /// The log of the run that is on.
    log: Weak<SessionLog>,
}

impl Registry {
    /// Hands a command to the session's actor, which is started if there is none.
    pub(crate) fn tell(
        &self,
        parts: &Arc<Parts>,
        name: SessionName,
        command: Command,
    ) -> Result<(), EngineError> {
        let mut live = self.live.lock();
        if parts.ending.is_cancelled() {
            return Err(EngineError::ShuttingDown);
        }
        let actor = live.entry(name).or_insert_with_key(|name| {
            let (sender, mailbox) = mpsc::channel(MAILBOX);
            parts.tasks.spawn(actor::run(Arc::clone(parts), name.clone(), mailbox));
            Entry { mailbox: sender, log: Weak::new() }
        });
        actor.mailbox.try_send(Box::new(command)).map_err(|_| EngineError::QueueFull(MAILBOX))
    }

    /// An idle actor leaves, unless somebody has just written to it.
    pub(crate) fn leave(&self, name: &SessionName, mailbox: &mpsc::Receiver<Box<Command>>) -> bool {
        let mut live = self.live.lock();
        if mailbox.is_empty() {
            live.remove(name);
            true
        } else {
            false
        }
    }

    /// Remembers the log of the run that has begun, for [`Self::look`].
    pub(crate) fn follow(&self, name: &SessionName, log: &Arc<SessionLog>) {
        if let Some(entry) = self.live.lock().get_mut(name) {
            entry.log = Arc::downgrade(log);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.live.lock().len()
    }

    /// How many sessions are live, and what each of one workspace holds.
    pub(crate) fn look(&self, workspace: &WorkspaceId) -> (usize, Vec<SessionLoad>) {
        let live = self.live.lock();
        let sessions = live
            .iter()
            .filter(|((owner, _), _)| owner == workspace)
            .map(|((_, session), entry)| {
                let held = entry.log.upgrade().map(|log| log.held()).unwrap_or_default();
                SessionLoad {
                    session: session.clone(),
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
