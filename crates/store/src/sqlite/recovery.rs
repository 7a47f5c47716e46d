//! Counts how often in a row the process ended unexpectedly while a run was active.

use async_trait::async_trait;
use protocol::MessageId;
use rusqlite::{OptionalExtension, params};

use super::SqliteStore;
use crate::{Recovery, RecoveryAttempt, RecoveryStage, SessionKey, StoreError};

/// What recovery resumes: the active run of a session, or else the queued message that is next.
const UNITS: &str = "SELECT r.session, r.message FROM sessions s CROSS JOIN runs r
     WHERE s.running AND r.session = s.key AND r.status = 'running'
     UNION ALL
     SELECT q.session, q.id FROM queue q JOIN sessions s ON s.key = q.session
     WHERE NOT s.running AND q.seq = (SELECT min(seq) FROM queue WHERE session = q.session)";

#[async_trait]
impl Recovery for SqliteStore {
    async fn begin_recovery(&self, alone_from: u32) -> Result<(), StoreError> {
        self.writer
            .write(move |connection| {
                if connection.execute("DELETE FROM clean_end", [])? > 0 {
                    connection.execute("DELETE FROM recovery_attempts", [])?;
                    return Ok(());
                }
                connection.execute(
                    &format!("DELETE FROM recovery_attempts WHERE (session, unit) NOT IN ({UNITS})"),
                    [],
                )?;
                connection.execute(
                    &format!(
                        "INSERT INTO recovery_attempts (session, unit, crashes, stage)
                         SELECT session, message, 1, 0 FROM ({UNITS}) WHERE true
                         ON CONFLICT (session, unit) DO UPDATE SET crashes = crashes + 1
                         WHERE crashes < ?1 OR stage > 0"
                    ),
                    [alone_from],
                )?;
                connection
                    .execute("UPDATE recovery_attempts SET stage = 0 WHERE crashes <= ?1", [alone_from])?;
                Ok(())
            })
            .await
    }

    async fn recovery_attempt(
        &self,
        key: SessionKey,
        unit: &MessageId,
    ) -> Result<RecoveryAttempt, StoreError> {
        let unit = unit.clone();
        self.look_up(move |connection| {
            let found = connection
                .prepare_cached(
                    "SELECT crashes, stage FROM recovery_attempts WHERE session = ?1 AND unit = ?2",
                )?
                .query_row(params![key.0, unit.as_str()], |row| {
                    let stage = match row.get::<_, i64>(1)? {
                        0 => RecoveryStage::NotStarted,
                        1 => RecoveryStage::Folding,
                        _ => RecoveryStage::Active,
                    };
                    Ok(RecoveryAttempt { crashes: row.get(0)?, stage })
                })
                .optional()?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    async fn note_recovery(
        &self,
        key: SessionKey,
        unit: &MessageId,
        stage: RecoveryStage,
    ) -> Result<(), StoreError> {
        let unit = unit.clone();
        let stage = match stage {
            RecoveryStage::NotStarted => 0,
            RecoveryStage::Folding => 1,
            RecoveryStage::Active => 2,
        };
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached(
                        "UPDATE recovery_attempts SET stage = ?3 WHERE session = ?1 AND unit = ?2",
                    )?
                    .execute(params![key.0, unit.as_str(), stage])?;
                Ok(())
            })
            .await
    }

    async fn forget_recovery(&self, key: SessionKey, unit: &MessageId) -> Result<(), StoreError> {
        let unit = unit.clone();
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached("DELETE FROM recovery_attempts WHERE session = ?1 AND unit = ?2")?
                    .execute(params![key.0, unit.as_str()])?;
                Ok(())
            })
            .await
    }

    async fn note_clean_end(&self) -> Result<(), StoreError> {
        self.writer
            .write(|connection| {
                connection.execute("INSERT OR IGNORE INTO clean_end VALUES (1)", [])?;
                Ok(())
            })
            .await
    }
}
