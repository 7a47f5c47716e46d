//! The one connection that writes. Writes that arrive at the same time are committed together by the writer thread
//! (`writer/thread.rs`). Each caller is answered after the commit, and a failing write undoes only its own part.
//!
//! With [`Durability::Power`] a commit is synced to the disk unless all its writes are relaxed (deltas, for which no
//! caller waits). A sync takes milliseconds and blocks its thread, so only the writer thread does it; writes that arrive
//! meanwhile share the next sync. With [`Durability::Process`] an uncontended short write commits on the thread of its
//! caller: handing it to another thread would take as long as the commit.

mod job;
mod thread;

use std::{
    marker::PhantomData,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use super::{
    health::CommitHealth,
    transaction::{TransactionError, run_transaction},
};
use crate::{Durability, StoreError};
use job::{QueuedWrite, WriteJob};
pub(super) use thread::MAX_UNSYNCED_COMMITS;
use thread::WriterState;

/// How many writes may be queued. When the queue is full, callers wait.
const QUEUE_CAPACITY: usize = 4096;

pub(super) struct Writer {
    state: Arc<WriterState>,
    queue: mpsc::Sender<Box<dyn WriteJob>>,
    durability: Durability,
    interrupt: InterruptHandle,
}

impl Writer {
    /// Starts the writer thread. The connection already commits with this durability.
    pub(super) fn start(
        connection: Connection,
        path: &Path,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let interrupt = connection.get_interrupt_handle();
        let (queue, jobs) = mpsc::channel(QUEUE_CAPACITY);
        let state = thread::start(connection, path, durability, jobs)?;
        Ok(Self { state, queue, durability, interrupt })
    }

    /// Runs `work` in a transaction; returns when it is committed with the durability of the store. `work` is run again
    /// when another write of the same transaction fails.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(self.durability, work).await
    }

    /// Like [`Self::write`], for data that a power loss may take: it can be made again, or its durability was not
    /// promised.
    pub(super) async fn write_relaxed<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(Durability::Process, work).await
    }

    /// Like [`Self::write`], for little work: done on this thread when nothing else is being written and no sync is
    /// needed.
    pub(super) async fn write_briefly<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.durability == Durability::Power {
            return self.write(work).await;
        }
        let intent = WriteIntent::announce(&self.state.intents);
        let mut pending = EnqueueOnDrop { queue: &self.queue, work: Some(work), result: PhantomData };
        // Yield so that other ready writers can join the commit.
        tokio::task::yield_now().await;
        let Some(work) = pending.work.take() else { return Err(not_written()) };
        let written = if intent.is_only_one() { self.try_write_here(&work) } else { None };
        drop(intent);
        match written {
            Some(result) => result,
            None => self.write(work).await,
        }
    }

    async fn enqueue<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(QueuedWrite::new(work, durability, reply));
        self.queue.send(job).await.map_err(|_| not_written())?;
        answer.await.map_err(|_| not_written())?
    }

    /// Reads a few rows with the writing connection; `None` when it is in use or about to be.
    pub(super) fn look_up<T>(&self, work: impl Fn(&Connection) -> Result<T, StoreError>) -> Option<T> {
        if self.is_busy() {
            return None;
        }
        // An error here need not be one elsewhere: this connection does not wait for other processes.
        work(&*self.state.connection.try_lock()?).ok()
    }

    pub(super) fn commit_health(&self) -> &CommitHealth {
        &self.state.health
    }

    /// Refuses further writes and moves the write-ahead log into the database. Takes no longer than `timeout`.
    pub(super) async fn close(&self, timeout: Duration) -> Result<(), StoreError> {
        let state = Arc::clone(&self.state);
        let closing = tokio::task::spawn_blocking(move || {
            let connection = state.connection.try_lock_for(timeout).ok_or_else(not_written)?;
            state.closed.store(true, Ordering::Relaxed);
            connection.busy_timeout(timeout)?;
            let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            let in_use = "another process uses the database; its write-ahead log stays beside it";
            if busy { Err(StoreError::Unavailable(in_use.into())) } else { Ok(()) }
        });
        tokio::pin!(closing);
        let closed = match tokio::time::timeout(timeout, &mut closing).await {
            Ok(closed) => closed,
            Err(_) => {
                self.interrupt.interrupt();
                closing.await
            }
        };
        closed.map_err(|error| StoreError::Unavailable(Box::new(error)))?
    }

    fn is_busy(&self) -> bool {
        self.state.busy.load(Ordering::Relaxed) || self.queue.capacity() < QUEUE_CAPACITY
    }

    /// Writes on this thread; `None` when that would have to wait.
    fn try_write_here<T>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError>,
    ) -> Option<Result<T, StoreError>> {
        if self.is_busy() {
            return None;
        }
        let connection = self.state.connection.try_lock()?;
        if self.state.closed.load(Ordering::Relaxed) {
            return Some(Err(not_written()));
        }
        // Another process may be writing: this thread must not wait for it.
        connection.busy_timeout(Duration::ZERO).ok()?;
        match run_transaction(&connection, work) {
            Err(TransactionError::Busy) => None,
            Err(TransactionError::Failed(error)) => {
                if let StoreError::Unavailable(reason) = &error {
                    self.state.health.failed(reason.to_string());
                }
                Some(Err(error))
            }
            Ok(done) => {
                self.state.health.succeeded();
                Some(Ok(done))
            }
        }
    }
}

/// Counts a task that is about to write, until it is dropped.
struct WriteIntent<'a>(&'a AtomicUsize);

impl<'a> WriteIntent<'a> {
    fn announce(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }

    fn is_only_one(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Drop for WriteIntent<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Work that was accepted but not started. If its caller stops waiting, it is queued instead: an accepted write is
/// always carried out.
struct EnqueueOnDrop<'a, T, W>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
{
    queue: &'a mpsc::Sender<Box<dyn WriteJob>>,
    work: Option<W>,
    result: PhantomData<fn() -> T>,
}

impl<T, W> Drop for EnqueueOnDrop<'_, T, W>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
{
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            let (reply, _) = oneshot::channel();
            let job = QueuedWrite::new(work, Durability::Process, reply);
            if self.queue.try_send(Box::new(job)).is_err() {
                tracing::error!("a write was lost: its caller stopped waiting and the queue is full");
            }
        }
    }
}

fn not_written() -> StoreError {
    StoreError::Unavailable("the write was not carried out".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{connect, synchronous};

    fn writer(folder: &Path, durability: Durability) -> Writer {
        let path = folder.join("test.db");
        let connection = connect(&path).unwrap();
        connection.execute_batch(synchronous(durability)).unwrap();
        connection.execute_batch("CREATE TABLE a (x)").unwrap();
        Writer::start(connection, &path, durability).unwrap()
    }

    /// 1: no sync at a commit, 2: a sync at every commit.
    fn level(connection: &Connection) -> Result<i64, StoreError> {
        connection.execute("INSERT INTO a VALUES (1)", [])?;
        Ok(connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn commits_are_synced_unless_all_of_them_is_relaxed() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path(), Durability::Power);
        for _ in 0..2 {
            assert_eq!(writer.write(level).await.unwrap(), 2);
            assert_eq!(writer.write_briefly(level).await.unwrap(), 2);
            assert_eq!(writer.write_relaxed(level).await.unwrap(), 1);
            assert_eq!(writer.write_briefly(level).await.unwrap(), 2);
        }
        // One durable write makes its whole commit durable.
        let held = writer.state.connection.lock();
        let all: Vec<_> = (0..4)
            .map(|place| {
                let (reply, answer) = oneshot::channel();
                let durability = if place == 2 { Durability::Power } else { Durability::Process };
                let job = QueuedWrite::new(level, durability, reply);
                assert!(writer.queue.try_send(Box::new(job)).is_ok());
                answer
            })
            .collect();
        drop(held);
        let mut levels = Vec::new();
        for answer in all {
            levels.push(answer.await.unwrap().unwrap());
        }
        assert_eq!(levels[2], 2, "{levels:?}");
    }

    #[tokio::test]
    async fn after_many_relaxed_commits_one_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path(), Durability::Power);
        for number in 1..=2 * MAX_UNSYNCED_COMMITS {
            let expected = if number % MAX_UNSYNCED_COMMITS == 0 { 2 } else { 1 };
            assert_eq!(writer.write_relaxed(level).await.unwrap(), expected, "commit {number}");
        }
    }

    #[tokio::test]
    async fn a_store_for_the_process_alone_never_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path(), Durability::Process);
        assert_eq!(writer.write(level).await.unwrap(), 1);
        assert_eq!(writer.write_briefly(level).await.unwrap(), 1);
        assert_eq!(writer.write_relaxed(level).await.unwrap(), 1);
    }
}
