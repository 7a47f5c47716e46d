//! SQLite in the data directory: one writing connection with group commit, a few readers, nothing to install.

mod apply;
mod artifacts;
mod chain;
mod checkpoint;
mod definitions;
mod frames;
mod interactions;
mod log;
mod messages;
mod migrate;
mod planted;
mod queue;
mod reader;
mod runs;
mod sessions;
mod shelf;
mod sign_ins;
mod tokens;
mod transaction;
mod usage;
mod writer;

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicI64},
};

use rusqlite::{Connection, config::DbConfig};

use crate::{StoreError, files::Files};
use reader::Readers;
use writer::Writer;

pub struct SqliteStore {
    writer: Writer,
    readers: Readers,
    files: Arc<Files>,
    /// Above every key this process has given: it gives none twice, so that what comes late for a deleted session
    /// reaches no other.
    next_key: AtomicI64,
}

impl SqliteStore {
    /// Opens or creates the database; brings its schema up to date, after a backup. Files lie in a folder beside it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path)?;
        migrate::migrate(&mut connection, path)?;
        let readers = Readers::new(path)?;
        let writer = Writer::start(connection, path)?;
        let files = Arc::new(Files::new(path.with_file_name("artifacts")));
        Ok(Self { writer, readers, files, next_key: AtomicI64::new(1) })
    }

    /// A look at a few rows. The connection that writes knows them best: what it wrote is in its memory, while a reader
    /// begins anew after every commit.
    async fn look_up<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        match self.writer.look_up(&work) {
            Some(found) => Ok(found),
            None => self.readers.look_up(work).await,
        }
    }

    /// What SQLite itself says about the file: `ok`, or what is wrong.
    pub async fn integrity_check(&self) -> Result<String, StoreError> {
        self.readers
            .read(|connection| Ok(connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?))
            .await
    }
}

/// How many writes wait; a full queue makes the caller wait.
const QUEUE: usize = 4096;
const READERS: usize = 4;
/// More than there are: none is planned twice.
const STATEMENTS: usize = 128;

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA busy_timeout = 5000;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -2048;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    // Otherwise statements are planned anew whenever a value is bound that an index might like.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _)
                if failure.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                Self::Conflict
            }
            error => Self::Unavailable(Box::new(error)),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

/// SQLite's integers are signed; our numbers never come near the edge.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt(error.to_string()))
}
