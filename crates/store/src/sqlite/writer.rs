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
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use super::{
    QUEUE,
    checkpoint::Checkpoints,
    health::Commits,
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
/// After so many relaxed commits one is synced all the same: no more than these can be lost in a power loss, so that
/// whatever else is missing is known to be damage.
pub(super) const UNSYNCED: usize = 32;

pub(super) struct Writer {
    shared: Arc<Shared>,
    queue: mpsc::Sender<Box<dyn Job>>,
    durability: Durability,
    interrupt: InterruptHandle,
}

struct Shared {
    connection: Arc<Mutex<Connection>>,
    /// How the newest commit went.
    commits: Commits,
    /// No write is accepted any more. Changed under the lock of the connection only.
    closed: AtomicBool,
    /// Relaxed commits since the last one that was synced.
    unsynced: AtomicUsize,
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

    /// Why it failed, when the store is at fault and not what was asked for.
    fn trouble(&self) -> Option<String>;

    /// Answers the caller; `refused` says why nothing was committed.
    fn tell(self: Box<Self>, refused: Option<&StoreError>);
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
        let interrupt = connection.get_interrupt_handle();
        let connection = Arc::new(Mutex::new(connection));
        checkpoints.start(path, Arc::downgrade(&connection))?;
        let shared = Arc::new(Shared {
            connection,
            commits: Commits::default(),
            closed: AtomicBool::new(false),
            unsynced: AtomicUsize::new(0),
            syncs: AtomicBool::new(durability == Durability::Power),
            busy: AtomicBool::new(false),
            coming: AtomicUsize::new(0),
        });
        let (queue, jobs) = mpsc::channel(QUEUE);
        let own = Arc::clone(&shared);
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || run(&own, durability, jobs))
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Self { shared, queue, durability, interrupt })
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

    pub(super) fn commits(&self) -> &Commits {
        &self.shared.commits
    }

    /// Accepts no more writes and empties the write-ahead log into the database, within this time.
    pub(super) async fn close(&self, patience: Duration) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let emptying = tokio::task::spawn_blocking(move || {
            let connection = shared.connection.try_lock_for(patience).ok_or_else(gone)?;
            shared.closed.store(true, Ordering::Relaxed);
            connection.busy_timeout(patience)?;
            let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            let in_use = "the database is in use; its write-ahead log stays beside it";
            if busy { Err(StoreError::Unavailable(in_use.into())) } else { Ok(()) }
        });
        tokio::pin!(emptying);
        let emptied = match tokio::time::timeout(patience, &mut emptying).await {
            Ok(emptied) => emptied,
            Err(_) => {
                self.interrupt.interrupt();
                emptying.await
            }
        };
        emptied.map_err(|error| StoreError::Unavailable(Box::new(error)))?
    }

    fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Relaxed) || self.queue.capacity() < QUEUE
    }

    fn now<T>(&self, work: impl Fn(&Connection) -> Result<T, StoreError>) -> Option<Result<T, StoreError>> {
        if self.is_busy() {
            return None;
        }
        let connection = self.shared.connection.try_lock()?;
        if self.shared.closed.load(Ordering::Relaxed) {
            return Some(Err(gone()));
        }
        // Another process may write: whoever calls here must not wait for it.
        connection.busy_timeout(Duration::ZERO).ok()?;
        match at_once(&connection, work) {
            Err(Refused::Busy) => None,
            Err(Refused::Failed(error)) => {
                if let StoreError::Unavailable(reason) = &error {
                    self.shared.commits.failed(reason.to_string());
                }
                Some(Err(error))
            }
            Ok(done) => {
                self.shared.commits.succeeded();
                Some(Ok(done))
            }
        }
    }
}

fn run(shared: &Shared, durability: Durability, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
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
        let committed = if shared.closed.load(Ordering::Relaxed) {
            Err(gone())
        } else {
            let durability = shared.durability_of(&group, durability);
            connection
                .busy_timeout(PATIENCE)
                .and_then(|()| shared.commit_with(&connection, durability))
                .and_then(|()| together(&connection, &mut group))
                .map_err(StoreError::from)
        };
        drop(connection);
        shared.note(&committed, &group);
        for job in group {
            job.tell(committed.as_ref().err());
        }
    }
}

impl Shared {
    /// What the commit of these must survive, in a store of this durability.
    fn durability_of(&self, group: &[Box<dyn Job>], of_store: Durability) -> Durability {
        let asked = group.iter().any(|job| job.durability() == Durability::Power);
        let many = of_store == Durability::Power && self.unsynced.load(Ordering::Relaxed) + 1 >= UNSYNCED;
        let unsynced = if asked || many { 0 } else { self.unsynced.load(Ordering::Relaxed) + 1 };
        self.unsynced.store(unsynced, Ordering::Relaxed);
        if asked || many { Durability::Power } else { Durability::Process }
    }

    /// Keeps in mind whether the store can write.
    fn note(&self, committed: &Result<(), StoreError>, group: &[Box<dyn Job>]) {
        match committed {
            Err(_) if self.closed.load(Ordering::Relaxed) => {}
            Err(error) => {
                tracing::error!(error = error as &dyn std::error::Error, "the database refused a commit");
                let reason = std::error::Error::source(error).map(ToString::to_string);
                self.commits.failed(reason.unwrap_or_else(|| error.to_string()));
            }
            Ok(()) => match group.iter().find_map(|job| job.trouble()) {
                Some(reason) => self.commits.failed(reason),
                None => self.commits.succeeded(),
            },
        }
    }

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

    fn trouble(&self) -> Option<String> {
        match &self.result {
            Some(Err(StoreError::Unavailable(reason))) => Some(reason.to_string()),
            _ => None,
        }
    }

    fn tell(self: Box<Self>, refused: Option<&StoreError>) {
        let result = match (self.result, refused) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(StoreError::Corrupt(what))) => Err(StoreError::Corrupt(what.clone())),
            (Some(done), None) => done,
            _ => Err(gone()),
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
