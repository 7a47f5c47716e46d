//! A copy of the database while it is in use: the pages of one moment, and the proof that the copy is what was there.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use protocol::{ArtifactId, WorkspaceId};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use super::{
    verify::{Verified, digest, verify},
    wal,
};
use crate::{SessionKey, StoreError, files::Files};

const PAGES: i32 = 2000;

/// What is going on, for whoever waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Pages of the database, of how many.
    Copying(u64, u64),
    /// Files of artifacts, of how many.
    Files(u64, u64),
    /// Sessions, of how many.
    Verifying(u64, u64),
}

/// Copies the database as it is at one moment to a new file and compares every session of the copy with the source.
/// Damage is copied as it is and named.
pub fn copy_database(
    source: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Verified, StoreError> {
    let from = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    from.busy_timeout(std::time::Duration::from_secs(10))?;
    // One moment for the copy and for the comparison: others go on writing behind it.
    from.execute_batch("BEGIN")?;
    from.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    let mut to = Connection::open(target)?;
    {
        let copy = Backup::new(&from, &mut to)?;
        loop {
            let step = copy.step(PAGES)?;
            let pages = copy.progress();
            let all = u64::try_from(pages.pagecount).unwrap_or(0);
            progress(Progress::Copying(all - u64::try_from(pages.remaining).unwrap_or(0).min(all), all));
            match step {
                StepResult::Done => break,
                StepResult::Busy | StepResult::Locked => {
                    std::thread::sleep(std::time::Duration::from_millis(20))
                }
                _ => {}
            }
        }
    }
    // One file, without a log beside it.
    let alone: Result<String, _> = to.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0));
    let mut verified = verify(&to, |done, all| progress(Progress::Verifying(done as u64, all as u64)))?;
    if let Err(error) = alone {
        verified.problems.push(error.to_string());
    }
    let keys = |connection: &Connection| -> rusqlite::Result<Vec<i64>> {
        connection
            .prepare("SELECT key FROM sessions ORDER BY key")?
            .query_map([], |row| row.get(0))?
            .collect()
    };
    // What cannot be listed was named above.
    if let (Ok(before), Ok(after)) = (keys(&from), keys(&to)) {
        if before != after {
            verified.problems.push("the copy has other chats than the source".to_owned());
        }
        for key in before.into_iter().map(SessionKey) {
            if let (Some(one), Some(other)) = (digest(&from, key), digest(&to, key))
                && one != other
            {
                verified.problems.push(format!("chat number {} is another in the copy", key.0));
            }
        }
    }
    drop((from, to));
    File::open(target)?.sync_all()?;
    Ok(verified)
}

/// Looks at a database that nobody has open, or that others use, without changing it.
pub fn verify_database(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Verified, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.execute_batch("BEGIN")?;
    verify(&connection, |done, all| progress(Progress::Verifying(done as u64, all as u64)))
}

/// The files that a database refers to, below the folder of artifacts.
pub fn files_of(database: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    let mut statement = connection.prepare("SELECT workspace, id FROM artifacts")?;
    let mut rows = statement.query([])?;
    let files = Files::new(PathBuf::new());
    let mut found = Vec::new();
    // Rows that cannot be read are named where the database is verified.
    while let Ok(Some(row)) = rows.next() {
        let (Ok(workspace), Ok(id)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else { continue };
        found.extend(files.path(&WorkspaceId::new(workspace), &ArtifactId::new(id)).ok());
    }
    Ok(found)
}

/// Names of the copies of damaged write-ahead logs that were kept beside this database.
pub fn damaged_logs(database: &Path) -> Vec<PathBuf> {
    wal::kept_copies(database)
}
