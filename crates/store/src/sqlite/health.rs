//! Whether the store can write, as its newest commit showed; and its orderly end.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::SqliteStore;
use crate::{Condition, StoreError, StoreHealth};

/// While the store fails, a small write is tried this often at most, when somebody asks.
const PROBE_EVERY: Duration = Duration::from_secs(3);
const PROBE_TIME: Duration = Duration::from_secs(2);

/// How the newest commit went.
#[derive(Default)]
pub(super) struct Commits {
    failing: AtomicBool,
    last: Mutex<Option<Failure>>,
}

struct Failure {
    reason: String,
    tried: Instant,
}

impl Commits {
    pub(super) fn succeeded(&self) {
        if self.failing.load(Ordering::Relaxed) {
            *self.last.lock() = None;
            self.failing.store(false, Ordering::Relaxed);
        }
    }

    pub(super) fn failed(&self, reason: String) {
        *self.last.lock() = Some(Failure { reason, tried: Instant::now() });
        self.failing.store(true, Ordering::Relaxed);
    }

    fn reason(&self) -> Option<String> {
        if !self.failing.load(Ordering::Relaxed) {
            return None;
        }
        self.last.lock().as_ref().map(|failure| failure.reason.clone())
    }

    /// Whether it is time to try again; true for one caller only.
    fn should_probe(&self) -> bool {
        match &mut *self.last.lock() {
            Some(failure) if failure.tried.elapsed() >= PROBE_EVERY => {
                failure.tried = Instant::now();
                true
            }
            _ => false,
        }
    }
}

#[async_trait]
impl Condition for SqliteStore {
    async fn health(&self) -> StoreHealth {
        let commits = self.writer.commits();
        if commits.reason().is_some() && commits.should_probe() {
            // The writer notes how it went.
            let probe = self.writer.write(|connection| {
                let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
                Ok(connection.pragma_update(None, "user_version", version)?)
            });
            if tokio::time::timeout(PROBE_TIME, probe).await.is_err() {
                tracing::debug!("the store did not answer a small write in time");
            }
        }
        StoreHealth { failing: commits.reason(), damage: self.damage.list() }
    }
}

impl SqliteStore {
    /// Notes damage that was found before the store was opened.
    pub fn note_damage(&self, place: &str, what: impl std::fmt::Display) {
        self.damage.note(place, what);
    }

    /// Ends the store: no write is accepted any more, and the write-ahead log goes into the database, so that its file alone
    /// holds everything. Takes no longer than `patience`; what is not done then stays in the log, where it is safe.
    pub async fn close(&self, patience: Duration) -> Result<(), StoreError> {
        self.readers.close();
        self.writer.close(patience).await
    }
}
