//! A queued write: its work, what it must survive, and the caller who waits for the answer.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{super::transaction::TransactionPart, not_written};
use crate::{Durability, StoreError};

/// A part of a transaction with a caller who waits for it.
pub(super) trait WriteJob: TransactionPart + Send {
    /// What the write must survive.
    fn durability(&self) -> Durability;

    /// Why the write failed, if the store is at fault and not the request.
    fn store_failure(&self) -> Option<String>;

    /// Answers the caller; `commit_error` says why nothing was committed.
    fn reply(self: Box<Self>, commit_error: Option<&StoreError>);
}

pub(super) struct QueuedWrite<T, W> {
    work: W,
    durability: Durability,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> QueuedWrite<T, W> {
    pub(super) fn new(
        work: W,
        durability: Durability,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self { work, durability, result: None, reply }
    }
}

impl<T, W> TransactionPart for QueuedWrite<T, W>
where
    W: Fn(&Connection) -> Result<T, StoreError>,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let result = (self.work)(connection);
        let done = result.is_ok();
        self.result = Some(result);
        done
    }
}

impl<T, W> WriteJob for QueuedWrite<T, W>
where
    T: Send,
    W: Fn(&Connection) -> Result<T, StoreError> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn store_failure(&self) -> Option<String> {
        match &self.result {
            Some(Err(StoreError::Unavailable(reason))) => Some(reason.to_string()),
            _ => None,
        }
    }

    fn reply(self: Box<Self>, commit_error: Option<&StoreError>) {
        let result = match (self.result, commit_error) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(StoreError::Corrupt(what))) => Err(StoreError::Corrupt(what.clone())),
            (Some(done), None) => done,
            _ => Err(not_written()),
        };
        // A caller who stopped waiting is no failure of the write.
        drop(self.reply.send(result));
    }
}

impl TransactionPart for Box<dyn WriteJob> {
    fn run(&mut self, connection: &Connection) -> bool {
        (**self).run(connection)
    }
}
