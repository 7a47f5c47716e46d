//! Forward-only migrations: numbered SQL files. `user_version` says which were applied. A backup precedes each upgrade.

use std::{fs::File, path::Path};

use rusqlite::{Connection, TransactionBehavior};

use crate::{StoreError, durability::sync_folder};

const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_sessions.sql"),
    include_str!("../../migrations/sqlite/0002_usage_and_facts.sql"),
    include_str!("../../migrations/sqlite/0003_queue_artifacts_chains.sql"),
    include_str!("../../migrations/sqlite/0004_frames.sql"),
    include_str!("../../migrations/sqlite/0005_pins.sql"),
    include_str!("../../migrations/sqlite/0006_agent_definitions.sql"),
    include_str!("../../migrations/sqlite/0007_titles.sql"),
    include_str!("../../migrations/sqlite/0008_grants.sql"),
    include_str!("../../migrations/sqlite/0009_fewer_pages.sql"),
    include_str!("../../migrations/sqlite/0010_recovery_attempts.sql"),
    include_str!("../../migrations/sqlite/0011_sign_ins.sql"),
    include_str!("../../migrations/sqlite/0012_checksums.sql"),
    include_str!("../../migrations/sqlite/0013_rules.sql"),
    include_str!("../../migrations/sqlite/0014_file_changes.sql"),
    include_str!("../../migrations/sqlite/0015_requests_for_input.sql"),
    include_str!("../../migrations/sqlite/0016_main_agent.sql"),
];

pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    migrate_with(connection, path, MIGRATIONS)
}

/// Creates the current schema in an empty database.
pub(super) fn create(connection: &Connection) -> Result<(), StoreError> {
    for migration in MIGRATIONS {
        connection.execute_batch(migration)?;
    }
    Ok(())
}

fn migrate_with(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let version: usize =
        connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?.try_into().unwrap_or(0);
    if version > migrations.len() {
        return Err(StoreError::Corrupt(format!(
            "the database has version {version}, this program knows versions up to {}; start the newer program",
            migrations.len()
        )));
    }
    if version == migrations.len() {
        return Ok(());
    }
    if version > 0 {
        back_up(connection, path, version)?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in &migrations[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", i64::try_from(migrations.len()).unwrap_or(i64::MAX))?;
    transaction.commit()?;
    if version > 0 {
        tracing::info!(from = version, to = migrations.len(), "the database was brought up to date");
    }
    Ok(())
}

/// Copies the database to a file beside it. An older copy of the same version is not overwritten.
fn back_up(connection: &Connection, path: &Path, version: usize) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".backup-v{version}"));
    let backup = path.with_file_name(name);
    if !backup.exists() {
        connection.execute("VACUUM INTO ?1", [backup.to_string_lossy()])?;
        File::open(&backup)?.sync_all()?;
        sync_folder(path.parent().unwrap_or(Path::new("")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upgrade_keeps_a_backup_and_a_newer_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate_with(&mut connection, &path, &["CREATE TABLE a (x); INSERT INTO a VALUES (7);"]).unwrap();
        let two = ["", "CREATE TABLE b (y);"];
        migrate_with(&mut connection, &path, &two).unwrap();
        migrate_with(&mut connection, &path, &two).unwrap();
        let backup = Connection::open(folder.path().join("test.db.backup-v1")).unwrap();
        let kept: i64 = backup.query_row("SELECT x FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 7);
        let error = migrate_with(&mut connection, &path, &[""]).unwrap_err().to_string();
        assert!(error.contains("version 2"), "{error}");
    }

    #[test]
    fn a_ledger_from_before_prices_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate_with(&mut connection, &path, &MIGRATIONS[..1]).unwrap();
        connection.execute("INSERT INTO usage VALUES (1, 2, 3, 'm', 'x/y', 10, 5, 15, 3, 1, 7)", []).unwrap();
        migrate_with(&mut connection, &path, MIGRATIONS).unwrap();
        let row: (i64, i64, Option<i64>, bool, Option<String>) = connection
            .query_row("SELECT input_tokens, cache_write_tokens, cost, failed, agent FROM usage", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .unwrap();
        assert_eq!(row, (10, 0, None, false, None));
    }

    #[test]
    fn chats_from_before_the_log_was_kept_in_order_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate_with(&mut connection, &path, &MIGRATIONS[..8]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO sessions (workspace, id, created_at, updated_at, high_water, last_run, grants)
                 VALUES ('w', 'rests', 1, 2, 9, NULL, NULL), ('w', 'works', 1, 3, 70000, 'm', '[1]');
                 INSERT INTO pins VALUES (1, 5);
                 INSERT INTO runs (session, message, id, answers, status, first_seq, options, started_at)
                 VALUES (1, 'o', 'r1', 1, 'finished', 1, '{}', 1), (2, 'm', 'r2', 1, 'running', 1, '{}', 1);
                 INSERT INTO messages (node, session, id, revision, parent, created_at, body, chain, place)
                 VALUES (1, 2, 'a', 0, NULL, 1, '', 1, 0), (2, 2, 'b', 0, 1, 1, '', 1, 1),
                        (3, 2, 'c', 0, 1, 1, '', 3, 0), (4, 2, 'd', 0, 3, 1, '', 3, 1);
                 INSERT INTO forks VALUES (2, 1, 0, 3);
                 INSERT INTO log VALUES (2, 1, 4, 7, 'first'), (2, 5, 6, 8, 'second'), (1, 1, 1, 9, 'other');",
            )
            .unwrap();
        migrate_with(&mut connection, &path, MIGRATIONS).unwrap();
        let text = |query: &str| -> String { connection.query_row(query, [], |row| row.get(0)).unwrap() };
        assert_eq!(
            text("SELECT group_concat(id || running || high_water) FROM sessions"),
            "rests09,works170000"
        );
        assert_eq!(text("SELECT rules FROM sessions WHERE key = 2"), "[1]");
        let log = "SELECT group_concat(from_seq || body) FROM (SELECT * FROM log WHERE session = 2 ORDER BY from_seq)";
        assert_eq!(text(log), "1first,5second");
        let key = crate::SessionKey(2);
        assert_eq!(super::super::chain::newest_leaf(&connection, key, 1).unwrap(), 4);
        assert_eq!(super::super::chain::newest_leaf(&connection, key, 2).unwrap(), 2);
        connection.execute("DELETE FROM sessions WHERE key = 1", []).unwrap();
        assert_eq!(text("SELECT CAST(count(*) AS TEXT) FROM pins"), "0", "a pin goes with its session");
    }

    #[test]
    fn tokens_from_before_sign_ins_stay_and_those_of_the_owner_are_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut connection = Connection::open(&path).unwrap();
        let before = MIGRATIONS.iter().position(|sql| sql.contains("CREATE TABLE sign_ins")).unwrap();
        migrate_with(&mut connection, &path, &MIGRATIONS[..before]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO tokens (sha256, principal, workspace, created_at)
                 VALUES (x'01', 'owner', 'default', 1), (x'02', 'owner', 'default', 2), (x'03', 'owner', 'other', 3),
                        (x'04', 'guest', 'default', 4);",
            )
            .unwrap();
        migrate_with(&mut connection, &path, MIGRATIONS).unwrap();
        let owners: String = connection
            .query_row(
                "SELECT group_concat(id || ':' || owner) FROM tokens WHERE revoked_at IS NULL",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(owners, "1:1,2:1,3:0,4:0");
    }

    #[test]
    fn a_failing_migration_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate_with(&mut connection, &path, &["CREATE TABLE a (x);"]).unwrap();
        assert!(migrate_with(&mut connection, &path, &["", "CREATE TABLE b (y); nonsense;"]).is_err());
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_master WHERE type = 'table'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
    }
}
