//! A transaction of one part or of several. A failing part is rare, so no savepoint is set up beforehand: when a part
//! fails, the transaction is rolled back and every part runs again with a savepoint of its own.

use rusqlite::{Connection, ErrorCode};

use crate::StoreError;

/// Work inside a transaction that other parts share.
pub(super) trait TransactionPart {
    /// Returns `false` when it failed and must be undone. It may run again then.
    fn run(&mut self, connection: &Connection) -> bool;
}

/// Why a transaction of one part was not committed.
pub(super) enum TransactionError {
    /// Another process is writing.
    Busy,
    Failed(StoreError),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => Self::Busy,
            _ => Self::Failed(error.into()),
        }
    }
}

/// Runs one part and commits it.
pub(super) fn run_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, TransactionError> {
    let transaction = OpenTransaction::begin(connection)?;
    let done = work(connection).map_err(TransactionError::Failed)?;
    transaction.commit()?;
    Ok(done)
}

/// Runs the parts and commits them together; a part that fails is undone.
pub(super) fn run_group(connection: &Connection, parts: &mut [impl TransactionPart]) -> rusqlite::Result<()> {
    let transaction = OpenTransaction::begin(connection)?;
    if parts.iter_mut().all(|part| part.run(connection)) {
        return transaction.commit();
    }
    drop(transaction);
    if let [_] = parts {
        return Ok(());
    }
    let transaction = OpenTransaction::begin(connection)?;
    for part in parts {
        connection.prepare_cached("SAVEPOINT part")?.execute([])?;
        if !part.run(connection) {
            connection.prepare_cached("ROLLBACK TO part")?.execute([])?;
        }
        connection.prepare_cached("RELEASE part")?.execute([])?;
    }
    transaction.commit()
}

/// A transaction that is rolled back unless it is committed, also when its work panics.
struct OpenTransaction<'a>(&'a Connection);

impl<'a> OpenTransaction<'a> {
    fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Insert(i64);

    impl TransactionPart for Insert {
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
        run_group(&connection, &mut [Insert(1), Insert(1), Insert(2)]).unwrap();
        assert_eq!(kept(&connection), [1, 2]);
        run_group(&connection, &mut [Insert(2)]).unwrap();
        run_group(&connection, &mut [Insert(3)]).unwrap();
        assert_eq!(kept(&connection), [1, 2, 3]);
    }

    #[test]
    fn work_that_panics_leaves_no_transaction_open() {
        let connection = table();
        let work = std::panic::AssertUnwindSafe(|| {
            run_transaction(&connection, |connection| -> Result<(), StoreError> {
                connection.execute("INSERT INTO a VALUES (1)", [])?;
                panic!("on purpose")
            })
        });
        assert!(std::panic::catch_unwind(work).is_err());
        assert!(connection.is_autocommit());
        assert!(kept(&connection).is_empty());
    }
}
