//! Copies the write-ahead log into the database (a checkpoint) beside the commits instead of inside of them.
//!
//! A thread with a connection of its own copies most of the log while others write. Only the few pages that were written
//! meanwhile are copied under the lock of the writer; after that SQLite starts the log from its beginning again, so that
//! it stays small.

use std::{
    fs::File,
    mem::ManuallyDrop,
    path::Path,
    sync::{
        Arc, Weak,
        atomic::{AtomicI32, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::Connection;

use super::connect;
use crate::StoreError;

/// A log of this many pages is copied.
const CHECKPOINT_PAGES: i32 = 4000;
/// When fewer pages than this are left to copy, or more than `FAR_BEHIND`, the writer is locked for the rest. In the
/// second case the disk is slower than the writers, and the log would grow without end.
const FEW_LEFT: i32 = 256;
const FAR_BEHIND: i32 = 8 * CHECKPOINT_PAGES;
/// How often the rest is copied without the lock before the writer is locked.
const ROUNDS: usize = 3;
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;
/// Pause between two checkpoints. A reader can keep the log from starting again.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Checkpointer {
    /// Pages in the log after the newest commit.
    pages: Arc<AtomicI32>,
    due: Receiver<()>,
}

impl Checkpointer {
    /// Replaces SQLite's own checkpoints, which happen inside of a commit. Ends when the connection is closed.
    pub(super) fn watch(writer: &mut Connection) -> Result<Self, StoreError> {
        let (request, due) = sync_channel(1);
        let pages = Arc::new(AtomicI32::new(0));
        let count = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            count.store(pages, Ordering::Relaxed);
            if pages >= CHECKPOINT_PAGES {
                request_checkpoint(&request);
            }
            Ok(())
        }))?;
        Ok(Self { pages, due })
    }

    pub(super) fn start(self, path: &Path, writer: Weak<Mutex<Connection>>) -> Result<(), StoreError> {
        let path = path.to_owned();
        thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || {
                lower_priority();
                let mut connection = None;
                for () in &self.due {
                    // It may have been requested again while the log was being copied.
                    if self.pages.load(Ordering::Relaxed) < CHECKPOINT_PAGES {
                        continue;
                    }
                    if let Err(error) = self.checkpoint(&mut connection, &path, &writer) {
                        tracing::warn!(%error, "the write-ahead log could not be copied into the database; it will be tried again");
                    }
                    thread::sleep(PAUSE);
                }
            })
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(())
    }

    fn checkpoint(
        &self,
        connection: &mut Option<CheckpointConnection>,
        path: &Path,
        writer: &Weak<Mutex<Connection>>,
    ) -> Result<(), StoreError> {
        let connection = match connection {
            Some(connection) => &*connection,
            none => none.insert(CheckpointConnection::open(path)?),
        };
        for _ in 0..ROUNDS {
            let copied = connection.copy_pages()?;
            let left = self.pages.load(Ordering::Relaxed) - copied;
            if !(FEW_LEFT..FAR_BEHIND).contains(&left) {
                break;
            }
        }
        connection.sync();
        if let Some(writer) = writer.upgrade() {
            let _lock = writer.lock();
            connection.copy_pages()?;
        }
        Ok(())
    }
}

/// The connection of the checkpoint thread.
struct CheckpointConnection {
    connection: Connection,
    /// Never closed: when a process closes any handle of a file, it loses all its locks on it, SQLite's too.
    database: Option<ManuallyDrop<File>>,
}

impl CheckpointConnection {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = connect(path)?;
        Ok(Self { connection, database: File::open(path).ok().map(ManuallyDrop::new) })
    }

    /// Copies what can be copied without waiting for others; returns how many pages of the log are in the database now.
    fn copy_pages(&self) -> rusqlite::Result<i32> {
        self.connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |row| row.get(2))
    }

    /// Syncs the copied pages. SQLite does the same when all pages are copied, which is under the lock of the writer; it
    /// then has little left to do.
    fn sync(&self) {
        if let Some(error) = self.database.as_ref().and_then(|database| database.sync_data().err()) {
            tracing::debug!(%error, "the database could not be synced before it is locked");
        }
    }
}

/// Lets other threads run first: nothing waits for this one.
fn lower_priority() {
    // On other systems this would change the priority of the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "the checkpoint thread runs at normal priority");
    }
}

fn request_checkpoint(request: &SyncSender<()>) {
    // Full: a checkpoint is requested already. Closed: the store is closing, which copies the whole log.
    request.try_send(()).ok();
}
