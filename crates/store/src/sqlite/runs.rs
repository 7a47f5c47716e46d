//! Runs and where they stand.

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, RunEnd, RunId};
use rusqlite::{OptionalExtension, Row, params};

use super::{SqliteStore, parse, unsigned};
use crate::{RunRecord, RunStatus, Runs, SessionKey, StoreError};

const COLUMNS: &str =
    "r.session, r.id, r.message, m.id, m.revision, r.status, r.first_seq, r.last_resume, r.options";
const TABLES: &str = "runs r JOIN messages m ON m.node = r.answers";

#[async_trait]
impl Runs for SqliteStore {
    async fn run(&self, key: SessionKey, id: &RunId) -> Result<Option<RunRecord>, StoreError> {
        self.one("r.session = ?1 AND r.id = ?2", key, id.as_str().to_owned()).await
    }

    async fn run_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Option<RunRecord>, StoreError> {
        self.one("r.session = ?1 AND r.message = ?2", key, message.as_str().to_owned()).await
    }

    async fn run_answering(
        &self,
        key: SessionKey,
        user: &MessageRef,
    ) -> Result<Option<RunRecord>, StoreError> {
        let user = user.clone();
        self.readers
            .read(move |connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM {TABLES}
                         WHERE r.session = ?1 AND m.id = ?2 AND m.revision = ?3
                           AND r.answers = (SELECT node FROM messages
                                            WHERE session = ?1 AND id = ?2 AND revision = ?3)
                         ORDER BY r.first_seq DESC LIMIT 1"
                    ))?
                    .query_row(params![key.0, user.id.as_str(), user.revision], |row| Ok(run(row)))
                    .optional()?
                    .transpose()
            })
            .await
            .map(|found| found.map(|(_, run)| run))
    }

    async fn running(&self) -> Result<Vec<(SessionKey, RunRecord)>, StoreError> {
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE r.status = 'running' ORDER BY r.started_at"
                ))?;
                let rows = statement.query_map([], |row| Ok(run(row)))?;
                rows.map(|row| row?).collect()
            })
            .await
    }
}

impl SqliteStore {
    async fn one(
        &self,
        condition: &'static str,
        key: SessionKey,
        id: String,
    ) -> Result<Option<RunRecord>, StoreError> {
        self.readers
            .read(move |connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM {TABLES} WHERE {condition} ORDER BY r.first_seq DESC LIMIT 1"
                    ))?
                    .query_row(params![key.0, id], |row| Ok(run(row)))
                    .optional()?
                    .transpose()
            })
            .await
            .map(|found| found.map(|(_, run)| run))
    }
}

fn run(row: &Row<'_>) -> Result<(SessionKey, RunRecord), StoreError> {
    let run = RunRecord {
        id: RunId::new(row.get::<_, String>(1)?),
        message: MessageId::new(row.get::<_, String>(2)?),
        answers: MessageRef { id: MessageId::new(row.get::<_, String>(3)?), revision: row.get(4)? },
        status: status(&row.get::<_, String>(5)?)?,
        first_seq: unsigned(row.get(6)?),
        last_resume: unsigned(row.get(7)?),
        options: parse(&row.get::<_, String>(8)?)?,
    };
    Ok((SessionKey(row.get(0)?), run))
}

pub(super) fn status(name: &str) -> Result<RunStatus, StoreError> {
    Ok(match name {
        "running" => RunStatus::Running,
        "parked" => RunStatus::Parked,
        "finished" => RunStatus::Ended(RunEnd::Finished),
        "cancelled" => RunStatus::Ended(RunEnd::Cancelled),
        "failed" => RunStatus::Ended(RunEnd::Failed),
        "withdrawn" => RunStatus::Ended(RunEnd::Withdrawn),
        other => return Err(StoreError::Corrupt(format!("unknown run status `{other}`"))),
    })
}
