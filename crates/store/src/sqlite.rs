//! The store in a SQLite database: one connection that writes and commits in groups, and a few that read.

mod apply;
mod artifacts;
mod backup;
mod chain;
mod checkpoint;
mod checksum;
mod damage;
mod definitions;
mod encode;
mod file_changes;
mod frames;
mod health;
mod interactions;
mod log;
mod message_rows;
mod messages;
mod migrate;
mod notes;
mod planted;
mod queue;
mod reader;
mod recovery;
mod rules;
mod runs;
mod salvage;
mod session_index;
mod session_patch;
mod sessions;
mod sign_ins;
mod tokens;
mod transaction;
mod usage;
mod verify;
mod wal;
mod writer;

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicI64},
};

use rusqlite::{Connection, config::DbConfig};

pub use backup::{
    BackupProgress, artifact_files, contents_in_database, copy_database, damaged_wal_copies, verify_database,
};
pub use verify::VerifyReport;
pub use wal::{WalFinding, check_wal};

use crate::{Durability, StoreError, durability::sync_folder, files::ArtifactFiles};
use damage::DamageReport;
use planted::PendingHistories;
use reader::Readers;
use writer::Writer;

pub struct SqliteStore {
    writer: Writer,
    readers: Readers,
    files: Arc<ArtifactFiles>,
    damage: Arc<DamageReport>,
    pending_histories: PendingHistories,
    /// Higher than every key that this process has assigned. A key is not assigned twice, so that a late write for a
    /// deleted session cannot reach another session.
    next_key: AtomicI64,
}

impl SqliteStore {
    /// Opens or creates the database so that acknowledged writes survive a power loss; see [`Self::open_with`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, Durability::default())
    }

    /// Opens or creates the database and migrates its schema, after a backup. Artifact files are in a folder beside it.
    pub fn open_with(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let mut connection = connect(path)?;
        // One flipped bit in the header would change how every text is decoded.
        let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
        if encoding != "UTF-8" {
            return Err(StoreError::Corrupt(format!(
                "its header says that texts are stored as {encoding} instead of UTF-8"
            )));
        }
        connection.execute_batch(synchronous(durability))?;
        migrate::migrate(&mut connection, path)?;
        // SQLite does not sync the folder of a new database, so its name could be lost.
        sync_folder(path.parent().unwrap_or(Path::new("")))?;
        let readers = Readers::new(path)?;
        let writer = Writer::start(connection, path, durability)?;
        let files = Arc::new(ArtifactFiles::new(path.with_file_name("artifacts")));
        Ok(Self {
            writer,
            readers,
            files,
            damage: Arc::default(),
            pending_histories: PendingHistories::default(),
            next_key: AtomicI64::new(1),
        })
    }

    /// Reads a few rows, with the writing connection if it is free: it has in its cache what it wrote, while the cache of a
    /// reader is invalid after every commit.
    async fn look_up<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        match self.writer.look_up(&work) {
            Some(found) => Ok(found),
            None => self.readers.look_up(work).await,
        }
    }

    /// Runs SQLite's own check of the file; returns `ok` or what is wrong.
    pub async fn integrity_check(&self) -> Result<String, StoreError> {
        self.readers
            .read(|connection| Ok(connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?))
            .await
    }
}

/// More than there are different statements, so that none is prepared twice.
const CACHED_STATEMENTS: usize = 128;

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA fullfsync = ON;
         PRAGMA checkpoint_fullfsync = ON;
         PRAGMA busy_timeout = 5000;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -2048;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    // Otherwise SQLite may plan a statement again when a value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(connection)
}

/// The setting that commits with this durability need. With NORMAL the write-ahead log is synced before it is copied into
/// the database, so that a power loss cannot damage the database; with FULL it is also synced at every commit.
fn synchronous(durability: Durability) -> &'static str {
    match durability {
        Durability::Power => "PRAGMA synchronous = FULL",
        Durability::Process => "PRAGMA synchronous = NORMAL",
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _)
                if failure.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                Self::Conflict
            }
            rusqlite::Error::SqliteFailure(failure, what)
                if matches!(
                    failure.code,
                    rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase
                ) =>
            {
                Self::Corrupt(what.unwrap_or_else(|| failure.to_string()))
            }
            // A value of another type than was written there.
            error @ (rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)) => {
                Self::Corrupt(format!("a row has a value of the wrong type: {error}"))
            }
            rusqlite::Error::QueryReturnedNoRows => {
                Self::Corrupt("a row that another refers to is missing".to_owned())
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

/// SQLite's integers are signed; our numbers are far below the limit.
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
