//! A transaction of one part or of many. Parts that fail are rare, so nothing is set up to undo one alone: when one
//! fails, all begin again, each with a savepoint of its own.

use rusqlite::{Connection, ErrorCode};

use crate::StoreError;

/// Work inside a transaction that others share.
pub(super) trait Part {
    /// `false` when it failed and must be undone. It may be asked again then.
    fn run(&mut self, connection: &Connection) -> bool;
}

/// Why a transaction of one part came to nothing.
pub(super) enum Refused {
    /// Another process writes.
    Busy,
    Failed(StoreError),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => Self::Busy,
            _ => Self::Failed(error.into()),
        }
    }
}

pub(super) fn at_once<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, Refused> {
    let open = Open::begin(connection)?;
    let done = work(connection).map_err(Refused::Failed)?;
    open.commit()?;
    Ok(done)
}

/// Commits what the parts do; those that fail leave nothing behind.
pub(super) fn together(connection: &Connection, parts: &mut [impl Part]) -> rusqlite::Result<()> {
    let open = Open::begin(connection)?;
    if parts.iter_mut().all(|part| part.run(connection)) {
        return open.commit();
    }
    drop(open);
    if let [_] = parts {
        return Ok(());
    }
    let open = Open::begin(connection)?;
    for part in parts {
        connection.prepare_cached("SAVEPOINT part")?.execute([])?;
        if !part.run(connection) {
            connection.prepare_cached("ROLLBACK TO part")?.execute([])?;
        }
        connection.prepare_cached("RELEASE part")?.execute([])?;
    }
    open.commit()
}

/// A transaction that is undone unless it is committed, also when its work panics.
struct Open<'a>(&'a Connection);

impl<'a> Open<'a> {
    fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be undone");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Insert(i64);

    impl Part for Insert {
        fn run(&mut self, connection: &Connection) -> bool {
            connection.execute("INSERT INTO a VALUES (?1)", [self.0]).is_ok()
        }
    }

    fn table() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE a (x UNIQUE)").unwrap();
        connection
    }

    fn kept(connection: &Connection) -> Vec<i64> {
        let mut statement = connection.prepare("SELECT x FROM a ORDER BY x").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_part_that_fails_undoes_itself_and_no_other() {
        let connection = table();
        together(&connection, &mut [Insert(1), Insert(1), Insert(2)]).unwrap();
        assert_eq!(kept(&connection), [1, 2]);
        together(&connection, &mut [Insert(2)]).unwrap();
        together(&connection, &mut [Insert(3)]).unwrap();
        assert_eq!(kept(&connection), [1, 2, 3]);
    }

    #[test]
    fn work_that_panics_leaves_no_transaction_open() {
        let connection = table();
        let work = std::panic::AssertUnwindSafe(|| {
            at_once(&connection, |connection| -> Result<(), StoreError> {
                connection.execute("INSERT INTO a VALUES (1)", [])?;
                panic!("on purpose")
            })
        });
        assert!(std::panic::catch_unwind(work).is_err());
        assert!(connection.is_autocommit());
        assert!(kept(&connection).is_empty());
    }
}
