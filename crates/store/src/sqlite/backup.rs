//! Copies the database while it is in use, and verifies that the copy equals the source.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{ArtifactId, WorkspaceId};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use super::{
    verify::{VerifyReport, digest, verify},
    wal,
};
use crate::{SessionKey, StoreError, files::ArtifactFiles};

/// How many pages are copied before progress is reported.
const PAGES_PER_STEP: i32 = 2000;
/// How long to wait for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How far a backup or a verification has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupProgress {
    /// Copying pages of the database.
    Copying { done: u64, total: u64 },
    /// Copying files of artifacts.
    Files { done: u64, total: u64 },
    /// Verifying sessions.
    Verifying { done: u64, total: u64 },
}

/// Copies the database to a new file, as of one moment, and compares every session of the copy with the source. Damage is
/// copied as it is and reported.
pub fn copy_database(
    source: &Path,
    target: &Path,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<VerifyReport, StoreError> {
    let from = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    from.busy_timeout(BUSY_TIMEOUT)?;
    // A read transaction: copy and comparison see the same moment while others continue to write.
    from.execute_batch("BEGIN")?;
    from.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    let mut to = Connection::open(target)?;
    {
        let copy = Backup::new(&from, &mut to)?;
        loop {
            let step = copy.step(PAGES_PER_STEP)?;
            let pages = copy.progress();
            let total = u64::try_from(pages.pagecount).unwrap_or(0);
            let done = total - u64::try_from(pages.remaining).unwrap_or(0).min(total);
            progress(BackupProgress::Copying { done, total });
            match step {
                StepResult::Done => break,
                StepResult::Busy | StepResult::Locked => std::thread::sleep(Duration::from_millis(20)),
                _ => {}
            }
        }
    }
    // Without a write-ahead log the copy is a single file.
    let single_file: Result<String, _> = to.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0));
    let mut verified = verify(&to, |done, total| {
        progress(BackupProgress::Verifying { done: done as u64, total: total as u64 });
    })?;
    if let Err(error) = single_file {
        verified.problems.push(error.to_string());
    }
    let keys = |connection: &Connection| -> rusqlite::Result<Vec<i64>> {
        connection
            .prepare("SELECT key FROM sessions ORDER BY key")?
            .query_map([], |row| row.get(0))?
            .collect()
    };
    // If sessions cannot be listed, `verify` has reported that.
    if let (Ok(before), Ok(after)) = (keys(&from), keys(&to)) {
        if before != after {
            verified.problems.push("the copy does not have the same chats as the source".to_owned());
        }
        for key in before.into_iter().map(SessionKey) {
            if let (Some(one), Some(other)) = (digest(&from, key), digest(&to, key))
                && one != other
            {
                verified.problems.push(format!("chat number {} differs in the copy", key.0));
            }
        }
    }
    drop((from, to));
    File::open(target)?.sync_all()?;
    Ok(verified)
}

/// Verifies a database without changing it. Other processes may use it meanwhile.
pub fn verify_database(
    path: &Path,
    progress: &mut dyn FnMut(BackupProgress),
) -> Result<VerifyReport, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("BEGIN")?;
    verify(&connection, |done, total| {
        progress(BackupProgress::Verifying { done: done as u64, total: total as u64 });
    })
}

/// Lists the files that a database refers to, as paths below the folder of artifacts.
pub fn artifact_files(database: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mut statement = connection.prepare("SELECT workspace, id FROM artifacts")?;
    let mut rows = statement.query([])?;
    let files = ArtifactFiles::new(PathBuf::new());
    let mut found = Vec::new();
    // `verify` reports rows that cannot be read.
    while let Ok(Some(row)) = rows.next() {
        let (Ok(workspace), Ok(id)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else { continue };
        found.extend(files.path(&WorkspaceId::new(workspace), &ArtifactId::new(id)).ok());
    }
    Ok(found)
}

/// Lists the contents of files that the change sets in a database refer to, by workspace.
pub fn contents_in_database(database: &Path) -> Result<Vec<(WorkspaceId, String)>, StoreError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mut statement = connection.prepare(
        "SELECT s.workspace, f.before_content FROM changed_files f JOIN sessions s ON s.key = f.session
         WHERE f.before_content IS NOT NULL
         UNION SELECT s.workspace, f.after_content FROM changed_files f JOIN sessions s ON s.key = f.session
         WHERE f.after_content IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    // `verify` reports rows that cannot be read.
    while let Ok(Some(row)) = rows.next() {
        let (Ok(workspace), Ok(content)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else {
            continue;
        };
        found.push((WorkspaceId::new(workspace), content));
    }
    Ok(found)
}

/// Lists the copies of damaged write-ahead logs that were kept beside this database.
pub fn damaged_wal_copies(database: &Path) -> Vec<PathBuf> {
    wal::kept_copies(database)
}
