//! The writer thread: takes queued writes, commits them together, and answers their callers.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::mpsc;

use super::{
    super::{checkpoint::Checkpointer, health::CommitHealth, synchronous, transaction::run_group},
    job::WriteJob,
    not_written,
};
use crate::{Durability, StoreError};

/// How many writes may share a commit.
const MAX_GROUP: usize = 512;
/// A group of this size means that many sessions are writing.
const BUSY_GROUP: usize = 3;
/// While many sessions write, the thread waits this long for more writes before it commits.
const GATHER_TIME: Duration = Duration::from_micros(200);
/// How long a commit waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// After this many unsynced commits in a row the next one is synced, even if all its writes are relaxed. So a power loss
/// takes no more commits than these, and anything else that is missing is known to be damage.
pub(in crate::sqlite) const MAX_UNSYNCED_COMMITS: usize = 32;

/// What the writer thread shares with the callers.
pub(super) struct WriterState {
    pub(super) connection: Arc<Mutex<Connection>>,
    pub(super) health: CommitHealth,
    /// Whether writes are refused from now on. Changed only under the lock of the connection.
    pub(super) closed: AtomicBool,
    /// Commits since the last one that was synced.
    unsynced_commits: AtomicUsize,
    /// Whether the connection syncs its commits now. Changed only under its lock.
    syncs: AtomicBool,
    /// Whether many sessions write, so that a write should join a group instead of committing alone.
    pub(super) busy: AtomicBool,
    /// How many tasks are about to write on their own thread.
    pub(super) intents: AtomicUsize,
}

pub(super) fn start(
    mut connection: Connection,
    path: &Path,
    durability: Durability,
    jobs: mpsc::Receiver<Box<dyn WriteJob>>,
) -> Result<Arc<WriterState>, StoreError> {
    let checkpointer = Checkpointer::watch(&mut connection)?;
    let connection = Arc::new(Mutex::new(connection));
    checkpointer.start(path, Arc::downgrade(&connection))?;
    let state = Arc::new(WriterState {
        connection,
        health: CommitHealth::default(),
        closed: AtomicBool::new(false),
        unsynced_commits: AtomicUsize::new(0),
        syncs: AtomicBool::new(durability == Durability::Power),
        busy: AtomicBool::new(false),
        intents: AtomicUsize::new(0),
    });
    let of_thread = Arc::clone(&state);
    thread::Builder::new()
        .name("store-writer".to_owned())
        .spawn(move || of_thread.run(durability, jobs))
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    Ok(state)
}

impl WriterState {
    fn run(&self, durability: Durability, mut jobs: mpsc::Receiver<Box<dyn WriteJob>>) {
        while let Some(first) = jobs.blocking_recv() {
            if self.busy.load(Ordering::Relaxed) {
                thread::sleep(GATHER_TIME);
            }
            let connection = self.connection.lock();
            let mut group = vec![first];
            while group.len() < MAX_GROUP {
                match jobs.try_recv() {
                    Ok(job) => group.push(job),
                    Err(_) => break,
                }
            }
            self.busy.store(group.len() >= BUSY_GROUP, Ordering::Relaxed);
            let committed = self.commit(&connection, &mut group, durability);
            drop(connection);
            self.note_health(&committed, &group);
            for job in group {
                job.reply(committed.as_ref().err());
            }
        }
    }

    fn commit(
        &self,
        connection: &Connection,
        group: &mut [Box<dyn WriteJob>],
        of_store: Durability,
    ) -> Result<(), StoreError> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(not_written());
        }
        let durability = self.durability_of(group, of_store);
        connection.busy_timeout(BUSY_TIMEOUT)?;
        self.set_durability(connection, durability)?;
        Ok(run_group(connection, group)?)
    }

    /// What the next commit must survive, in a store of this durability.
    fn durability_of(&self, group: &[Box<dyn WriteJob>], of_store: Durability) -> Durability {
        let unsynced = self.unsynced_commits.load(Ordering::Relaxed) + 1;
        let is_requested = group.iter().any(|job| job.durability() == Durability::Power);
        let is_due = of_store == Durability::Power && unsynced >= MAX_UNSYNCED_COMMITS;
        let syncs = is_requested || is_due;
        self.unsynced_commits.store(if syncs { 0 } else { unsynced }, Ordering::Relaxed);
        if syncs { Durability::Power } else { Durability::Process }
    }

    /// Sets what the next commits of the connection survive.
    fn set_durability(&self, connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
        let syncs = durability == Durability::Power;
        if self.syncs.load(Ordering::Relaxed) != syncs {
            // Not a cached statement: this pragma takes effect when it is prepared.
            connection.execute_batch(synchronous(durability))?;
            self.syncs.store(syncs, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Remembers whether the store can write.
    fn note_health(&self, committed: &Result<(), StoreError>, group: &[Box<dyn WriteJob>]) {
        match committed {
            Err(_) if self.closed.load(Ordering::Relaxed) => {}
            Err(error) => {
                tracing::error!(error = error as &dyn std::error::Error, "the database refused a commit");
                let reason = std::error::Error::source(error).map(ToString::to_string);
                self.health.failed(reason.unwrap_or_else(|| error.to_string()));
            }
            Ok(()) => match group.iter().find_map(|job| job.store_failure()) {
                Some(reason) => self.health.failed(reason),
                None => self.health.succeeded(),
            },
        }
    }
}
