//! One thread owns the writing connection. What waits together is committed together; each caller hears back
//! after the commit, and one caller's failure undoes only its own part.

use std::{thread, time::Duration};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::QUEUE;
use crate::StoreError;

/// Runs inside the transaction and leaves what to tell the caller once the commit is through.
type Job = Box<dyn FnOnce(&Connection) -> Reply + Send>;
type Reply = Box<dyn FnOnce(bool) + Send>;

/// How many jobs may share a commit.
const GROUP: usize = 512;
/// A group this large means that many sessions are at work.
const BUSY: usize = 3;
const GATHER: Duration = Duration::from_micros(200);

pub(super) struct Writer {
    queue: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || run(connection, jobs))
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Self { queue })
    }

    /// Runs `work` in a transaction; returns when it is on disk.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = in_savepoint(connection, work);
            Box::new(move |committed| {
                let result = if committed { result } else { result.and(Err(gone())) };
                // A caller that stopped waiting is no failure of the write.
                drop(tell.send(result));
            })
        });
        self.queue.send(job).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }
}

fn run(mut connection: Connection, mut jobs: mpsc::Receiver<Job>) {
    let mut busy = false;
    while let Some(first) = jobs.blocking_recv() {
        if busy {
            // More is on its way: a moment of patience saves a commit.
            thread::sleep(GATHER);
        }
        let mut group = vec![first];
        while group.len() < GROUP {
            match jobs.try_recv() {
                Ok(job) => group.push(job),
                Err(_) => break,
            }
        }
        busy = group.len() >= BUSY;
        let (replies, committed) = commit(&mut connection, group);
        for reply in replies {
            reply(committed);
        }
    }
}

fn commit(connection: &mut Connection, group: Vec<Job>) -> (Vec<Reply>, bool) {
    match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => {
            let replies = group.into_iter().map(|job| job(&transaction)).collect();
            let committed = transaction.commit();
            if let Err(error) = &committed {
                tracing::error!(%error, "the database refused a commit");
            }
            (replies, committed.is_ok())
        }
        Err(error) => {
            tracing::error!(%error, "the database cannot be written");
            // Dropping a job drops its reply channel: the caller hears that the store is unavailable.
            (Vec::new(), false)
        }
    }
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let result = work(connection);
    if result.is_err() {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    result
}

fn gone() -> StoreError {
    StoreError::Unavailable("the write was not carried out".into())
}
