//! The write-ahead log goes back into the database beside the commits, not in them: a thread with a connection of its
//! own carries most of it over while others write. Only the little that came meanwhile is carried while nobody writes,
//! so that the log begins anew and stays small.

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

/// A log of so many pages is carried over.
const PAGES: i32 = 4000;
/// So few are carried over while nobody writes, or so many that it cannot go on like this: the disk is slower than
/// those who write.
const REST: i32 = 256;
const FAR_BEHIND: i32 = 8 * PAGES;
const ROUNDS: usize = 3;
#[cfg(target_os = "linux")]
const STEPS: i32 = 10;
/// Between two attempts. A reader can keep the log from beginning anew.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Checkpoints {
    /// Pages in the log after the newest commit.
    pages: Arc<AtomicI32>,
    due: Receiver<()>,
}

impl Checkpoints {
    /// Takes over from SQLite, which would do it inside of a commit. It is over when the connection closes.
    pub(super) fn watch(writer: &mut Connection) -> Result<Self, StoreError> {
        let (say, due) = sync_channel(1);
        let pages = Arc::new(AtomicI32::new(0));
        let count = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            count.store(pages, Ordering::Relaxed);
            if pages >= PAGES {
                tell(&say);
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
                step_back();
                let mut own = None;
                for () in &self.due {
                    // It may have been said again while the log was carried over already.
                    if self.pages.load(Ordering::Relaxed) < PAGES {
                        continue;
                    }
                    if let Err(error) = self.carry_over(&mut own, &path, &writer) {
                        tracing::warn!(%error, "the write-ahead log could not be carried over; it will be tried again");
                    }
                    thread::sleep(PAUSE);
                }
            })
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(())
    }

    fn carry_over(
        &self,
        own: &mut Option<Own>,
        path: &Path,
        writer: &Weak<Mutex<Connection>>,
    ) -> Result<(), StoreError> {
        let own = match own {
            Some(own) => &*own,
            none => none.insert(Own::open(path)?),
        };
        for _ in 0..ROUNDS {
            let done = own.checkpoint()?;
            let behind = self.pages.load(Ordering::Relaxed) - done;
            if !(REST..FAR_BEHIND).contains(&behind) {
                break;
            }
        }
        own.flush();
        if let Some(writer) = writer.upgrade() {
            let _nobody_writes = writer.lock();
            own.checkpoint()?;
        }
        Ok(())
    }
}

/// What this thread has for itself.
struct Own {
    connection: Connection,
    /// Never closed: with any handle of a file, a process gives up all its locks on it, SQLite's too.
    database: Option<ManuallyDrop<File>>,
}

impl Own {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = connect(path)?;
        Ok(Self { connection, database: File::open(path).ok().map(ManuallyDrop::new) })
    }

    /// Carries over what can be without waiting for anybody; gives how many pages of the log are in the database now.
    fn checkpoint(&self) -> rusqlite::Result<i32> {
        self.connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |row| row.get(2))
    }

    /// Brings what was carried over to the disk. SQLite does so once all of it is, which is while nobody writes; it finds
    /// little left to do then.
    fn flush(&self) {
        if let Some(error) = self.database.as_ref().and_then(|database| database.sync_data().err()) {
            tracing::debug!(%error, "the database could not be flushed before it is locked");
        }
    }
}

/// Lets everybody else go first: nobody waits for this thread.
fn step_back() {
    // Elsewhere the whole process would step back.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(STEPS) {
        tracing::debug!(%error, "the write-ahead log is carried over at the priority of everything else");
    }
}

fn tell(say: &SyncSender<()>) {
    // Full: it is known already. Closed: the store is closing, which carries everything over.
    say.try_send(()).ok();
}
