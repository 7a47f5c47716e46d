//! One connection writes. What several bring at the same moment is committed together by the writer thread. Each caller
//! is answered after the commit, and one caller's failure undoes only its own part.
//!
//! With [`Durability::Power`] a commit is synced to the disk unless everything in it is relaxed (deltas, which nobody
//! waits for). A sync takes milliseconds and blocks its thread, so it is always the writer thread that does it; what
//! comes meanwhile shares the next one. With [`Durability::Process`] an uncontended short write commits on the thread of
//! its caller: handing it over would take as long as the commit.

use std::{
    marker::PhantomData,
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
use tokio::sync::{mpsc, oneshot};

use super::{
    QUEUE,
    checkpoint::Checkpoints,
    synchronous,
    transaction::{Part, Refused, at_once, together},
};
use crate::{Durability, StoreError};

/// How many jobs may share a commit.
const GROUP: usize = 512;
/// A group this large means that many sessions are at work.
const BUSY: usize = 3;
const GATHER: Duration = Duration::from_micros(200);
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Writer {
    shared: Arc<Shared>,
    queue: mpsc::Sender<Box<dyn Job>>,
    durability: Durability,
}

struct Shared {
    connection: Arc<Mutex<Connection>>,
    /// Whether the connection syncs its commits now. Changed under its lock only.
    syncs: AtomicBool,
    /// Many write: what comes now is better committed with what others bring.
    busy: AtomicBool,
    /// Those who are about to write.
    coming: AtomicUsize,
}

/// Somebody is about to write.
struct Coming<'a>(&'a AtomicUsize);

impl<'a> Coming<'a> {
    fn announce(coming: &'a AtomicUsize) -> Self {
        coming.fetch_add(1, Ordering::Relaxed);
        Self(coming)
    }

    fn is_alone(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Work whose caller may stop waiting before it began: it is done all the same.
struct Promise<'a, T, W>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
{
    queue: &'a mpsc::Sender<Box<dyn Job>>,
    work: Option<W>,
    result: PhantomData<fn() -> T>,
}

impl<T, W> Drop for Promise<'_, T, W>
where
    T: Send + 'static,
    W: Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
{
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            let (tell, _) = oneshot::channel();
            let job = Write { work, durability: Durability::Process, result: None, tell };
            if self.queue.try_send(Box::new(job)).is_err() {
                tracing::error!("a write that nobody waits for any more found no place in the queue");
            }
        }
    }
}

/// A part of a transaction, and somebody who waits for it.
trait Job: Part + Send {
    /// What it must survive.
    fn durability(&self) -> Durability;

    fn tell(self: Box<Self>, committed: bool);
}

struct Write<T, W> {
    work: W,
    durability: Durability,
    result: Option<Result<T, StoreError>>,
    tell: oneshot::Sender<Result<T, StoreError>>,
}

impl Writer {
    /// The connection already commits with this durability.
    pub(super) fn start(
        mut connection: Connection,
        path: &Path,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let checkpoints = Checkpoints::watch(&mut connection)?;
        let connection = Arc::new(Mutex::new(connection));
        checkpoints.start(path, Arc::downgrade(&connection))?;
        let shared = Arc::new(Shared {
            connection,
            syncs: AtomicBool::new(durability == Durability::Power),
            busy: AtomicBool::new(false),
            coming: AtomicUsize::new(0),
        });
        let (queue, jobs) = mpsc::channel(QUEUE);
        let own = Arc::clone(&shared);
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || run(&own, jobs))
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Self { shared, queue, durability })
    }

    /// Runs `work` in a transaction; returns when it is committed with the durability of the store. It may be run again
    /// when another's part of the same transaction fails.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.hand_over(self.durability, work).await
    }

    /// The same for what may be lost in a power loss: it can be made again, or nobody was promised that it lasts.
    pub(super) async fn write_relaxed<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.hand_over(Durability::Process, work).await
    }

    async fn hand_over<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let job = Box::new(Write { work, durability, result: None, tell });
        self.queue.send(job).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }

    /// As [`Self::write`], for little work that somebody waits for: done on this thread when nobody else writes and no
    /// sync is needed.
    pub(super) async fn write_briefly<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.durability == Durability::Power {
            return self.write(work).await;
        }
        let coming = Coming::announce(&self.shared.coming);
        let mut promise = Promise { queue: &self.queue, work: Some(work), result: PhantomData };
        // Yield so that other ready writers can join the commit.
        tokio::task::yield_now().await;
        let Some(work) = promise.work.take() else { return Err(gone()) };
        let done = if coming.is_alone() { self.now(&work) } else { None };
        drop(coming);
        match done {
            Some(result) => result,
            None => self.write(work).await,
        }
    }

    /// A look at a few rows, when nobody writes or is about to.
    pub(super) fn look_up<T>(&self, work: impl Fn(&Connection) -> Result<T, StoreError>) -> Option<T> {
        if self.is_busy() {
            return None;
        }
        // What fails here may not fail elsewhere: this connection waits for no other process.
        work(&*self.shared.connection.try_lock()?).ok()
    }

    fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Relaxed) || self.queue.capacity() < QUEUE
    }

    fn now<T>(&self, work: impl Fn(&Connection) -> Result<T, StoreError>) -> Option<Result<T, StoreError>> {
        if self.is_busy() {
            return None;
        }
        let connection = self.shared.connection.try_lock()?;
        // Another process may write: whoever calls here must not wait for it.
        connection.busy_timeout(Duration::ZERO).ok()?;
        match at_once(&connection, work) {
            Err(Refused::Busy) => None,
            Err(Refused::Failed(error)) => Some(Err(error)),
            Ok(done) => Some(Ok(done)),
        }
    }
}

fn run(shared: &Shared, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(first) = jobs.blocking_recv() {
        if shared.busy.load(Ordering::Relaxed) {
            // More is on its way: a moment of patience saves a commit.
            thread::sleep(GATHER);
        }
        let connection = shared.connection.lock();
        let mut group = vec![first];
        while group.len() < GROUP {
            match jobs.try_recv() {
                Ok(job) => group.push(job),
                Err(_) => break,
            }
        }
        shared.busy.store(group.len() >= BUSY, Ordering::Relaxed);
        let durability = match group.iter().any(|job| job.durability() == Durability::Power) {
            true => Durability::Power,
            false => Durability::Process,
        };
        let committed = connection
            .busy_timeout(PATIENCE)
            .and_then(|()| shared.commit_with(&connection, durability))
            .and_then(|()| together(&connection, &mut group));
        drop(connection);
        if let Err(error) = &committed {
            tracing::error!(%error, "the database refused a commit");
        }
        for job in group {
            job.tell(committed.is_ok());
        }
    }
}

impl Shared {
    /// Sets what the next commits of the connection survive.
    fn commit_with(&self, connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
        let syncs = durability == Durability::Power;
        if self.syncs.load(Ordering::Relaxed) != syncs {
            // Never a cached statement: this pragma takes effect when it is prepared.
            connection.execute_batch(synchronous(durability))?;
            self.syncs.store(syncs, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<T, W> Part for Write<T, W>
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

impl<T, W> Job for Write<T, W>
where
    T: Send,
    W: Fn(&Connection) -> Result<T, StoreError> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn tell(self: Box<Self>, committed: bool) {
        let result = match self.result {
            Some(Ok(_)) if !committed => Err(gone()),
            Some(result) => result,
            None => Err(gone()),
        };
        // A caller that stopped waiting is no failure of the write.
        drop(self.tell.send(result));
    }
}

impl Part for Box<dyn Job> {
    fn run(&mut self, connection: &Connection) -> bool {
        (**self).run(connection)
    }
}

fn gone() -> StoreError {
    StoreError::Unavailable("the write was not carried out".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connect;

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
        // One that must last makes its whole commit last.
        let held = writer.shared.connection.lock();
        let all: Vec<_> = (0..4)
            .map(|place| {
                let (tell, told) = oneshot::channel();
                let durability = if place == 2 { Durability::Power } else { Durability::Process };
                let job = Write { work: level, durability, result: None, tell };
                assert!(writer.queue.try_send(Box::new(job)).is_ok());
                told
            })
            .collect();
        drop(held);
        let mut levels = Vec::new();
        for told in all {
            levels.push(told.await.unwrap().unwrap());
        }
        assert_eq!(levels[2], 2, "{levels:?}");
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
