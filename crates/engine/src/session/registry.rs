//! Which sessions are live: one actor each. Commands are handed over under the lock under which an actor leaves,
//! so that none is ever given to an actor that is gone.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use protocol::{SessionId, WorkspaceId};
use tokio::sync::mpsc;

use super::actor::{self, Command};
use crate::{EngineError, engine::Parts};

/// How many commands wait for one session.
const MAILBOX: usize = 64;

pub(crate) type SessionName = (WorkspaceId, SessionId);

#[derive(Default)]
pub(crate) struct Registry {
    live: Mutex<HashMap<SessionName, mpsc::Sender<Command>>>,
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
            sender
        });
        actor.try_send(command).map_err(|_| EngineError::QueueFull(MAILBOX))
    }

    /// An idle actor leaves, unless somebody has just written to it.
    pub(crate) fn leave(&self, name: &SessionName, mailbox: &mpsc::Receiver<Command>) -> bool {
        let mut live = self.live.lock();
        if mailbox.is_empty() {
            live.remove(name);
            true
        } else {
            false
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.live.lock().len()
    }
}
