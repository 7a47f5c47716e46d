//! Health of the store: whether its newest commit succeeded. Also closes the store.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::SqliteStore;
use crate::{Health, StoreError, StoreHealth};

/// While commits fail, a health check tries a small write, at most this often.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the newest commit succeeded.
#[derive(Default)]
pub(super) struct CommitHealth {
    failing: AtomicBool,
    last: Mutex<Option<Failure>>,
}

struct Failure {
    reason: String,
    tried: Instant,
}

impl CommitHealth {
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

    /// Whether it is time to try again. Returns `true` to one caller only.
    fn should_probe(&self) -> bool {
        match &mut *self.last.lock() {
            Some(failure) if failure.tried.elapsed() >= PROBE_INTERVAL => {
                failure.tried = Instant::now();
                true
            }
            _ => false,
        }
    }
}

#[async_trait]
impl Health for SqliteStore {
    async fn health(&self) -> StoreHealth {
        let commits = self.writer.commit_health();
        if commits.reason().is_some() && commits.should_probe() {
            // The writer remembers whether this commit succeeds.
            let probe = self.writer.write(|connection| {
                let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
                Ok(connection.pragma_update(None, "user_version", version)?)
            });
            if tokio::time::timeout(PROBE_TIMEOUT, probe).await.is_err() {
                tracing::debug!("the store did not commit a small write in time");
            }
        }
        StoreHealth { failing: commits.reason(), damage: self.damage.list() }
    }
}

impl SqliteStore {
    /// Adds damage that was found before the store was opened.
    pub fn note_damage(&self, place: &str, what: impl std::fmt::Display) {
        self.damage.note(place, what);
    }

    /// Closes the store: refuses further writes and copies the write-ahead log into the database, so that the database file
    /// alone holds everything. Takes no longer than `timeout`; what is not copied by then stays safely in the log.
    pub async fn close(&self, timeout: Duration) -> Result<(), StoreError> {
        self.readers.close();
        self.writer.close(timeout).await
    }
}
