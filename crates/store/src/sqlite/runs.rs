//! Runs and their status.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, RunEnd, RunId, RunOptions, Seq};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, apply::TableWriter, json, parse, planted::SessionRead, signed, unsigned};
use crate::{ActiveRun, RunRecord, RunStatus, Runs, SessionKey, StoreError};

const COLUMNS: &str = "r.id, r.message, m.id, m.revision, r.status, r.first_seq, r.last_resume, r.options";
const TABLES: &str = "runs r JOIN messages m ON m.node = r.answers";

#[async_trait]
impl Runs for SqliteStore {
    async fn run_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Option<RunRecord>, StoreError> {
        let message = message.clone();
        self.look_up(move |connection| of_message(connection, key, message.as_str())).await
    }

    async fn run_at(&self, key: SessionKey, seq: Seq) -> Result<Option<RunRecord>, StoreError> {
        self.look_up(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE r.session = ?1 AND r.first_seq <= ?2
                     ORDER BY r.first_seq DESC LIMIT 1"
                ))?
                .query_row(params![key.0, signed(seq)], |row| Ok(run(row)))
                .optional()?
                .transpose()
        })
        .await
    }

    async fn run_answering(
        &self,
        key: SessionKey,
        user: &MessageRef,
    ) -> Result<Option<RunRecord>, StoreError> {
        let user = user.clone();
        self.look_up(move |connection| {
            // The message of an active run is not stored yet, but the run is the newest of the session.
            let newest: Option<String> = connection
                .prepare_cached("SELECT last_run FROM sessions WHERE key = ?1")?
                .query_row([key.0], |row| row.get(0))
                .optional()?
                .flatten();
            if let Some(message) = newest
                && let Some(run) = of_message(connection, key, &message)?
                && run.answers == user
            {
                return Ok(Some(run));
            }
            let answer: Option<String> = connection
                .prepare_cached(
                    "SELECT m.id FROM messages m JOIN runs r ON r.session = ?1 AND r.message = m.id
                     WHERE m.parent = (SELECT node FROM messages
                                       WHERE session = ?1 AND id = ?2 AND revision = ?3)
                     ORDER BY m.node DESC LIMIT 1",
                )?
                .query_row(params![key.0, user.id.as_str(), user.revision], |row| row.get(0))
                .optional()?;
            match answer {
                Some(message) => of_message(connection, key, &message),
                None => Ok(None),
            }
        })
        .await
    }

    async fn active_runs(&self) -> Result<Vec<ActiveRun>, StoreError> {
        let damage = Arc::clone(&self.damage);
        let found = self
            .readers
            .read(move |connection| {
                // CROSS JOIN fixes the order: the index that lists sessions tells which have an active run.
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS}, r.session, s.planted IS NOT NULL FROM sessions s CROSS JOIN runs r CROSS JOIN messages m
                     WHERE s.running AND r.session = s.key AND r.status = 'running' AND m.node = r.answers
                     ORDER BY r.started_at"
                ))?;
                let rows = statement.query_map([], |row| Ok(active_run(row)))?;
                Ok(damage.readable("active runs", rows)?.rows)
            })
            .await?;
        Ok(self.pending_histories.note_all(found))
    }
}

fn of_message(
    connection: &Connection,
    key: SessionKey,
    message: &str,
) -> Result<Option<RunRecord>, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE r.session = ?1
               AND r.message = coalesce((SELECT root FROM frames WHERE session = ?1 AND message = ?2), ?2)"
        ))?
        .query_row(params![key.0, message], |row| Ok(run(row)))
        .optional()?
        .transpose()
}

fn active_run(row: &Row<'_>) -> Result<SessionRead<ActiveRun>, StoreError> {
    let key = SessionKey(row.get(8)?);
    let value = ActiveRun { session: key, run: run(row)? };
    Ok(SessionRead { key, has_pending_history: row.get(9)?, value })
}

fn run(row: &Row<'_>) -> Result<RunRecord, StoreError> {
    Ok(RunRecord {
        id: RunId::new(row.get::<_, String>(0)?),
        message: MessageId::new(row.get::<_, String>(1)?),
        answers: MessageRef { id: MessageId::new(row.get::<_, String>(2)?), revision: row.get(3)? },
        status: status(&row.get::<_, String>(4)?)?,
        first_seq: unsigned(row.get(5)?),
        last_resume: unsigned(row.get(6)?),
        options: parse(&row.get::<_, String>(7)?)?,
    })
}

impl TableWriter<'_> {
    pub(super) fn insert_run(
        &self,
        run: &RunId,
        message: &MessageId,
        answers: &MessageRef,
        options: &RunOptions,
    ) -> Result<(), StoreError> {
        let answers = self.referenced_node(answers)?;
        self.connection
            .prepare_cached(
                "INSERT INTO runs (session, message, id, answers, status, first_seq, options, started_at)
                 VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7)",
            )?
            .execute(params![
                self.session.0,
                message.as_str(),
                run.as_str(),
                answers,
                signed(self.seq),
                json(options)?,
                self.at.0
            ])?;
        Ok(())
    }

    /// Returns `false` when the message is a sub-agent's, which has no run of its own.
    pub(super) fn park_run(&self, message: &MessageId) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached("UPDATE runs SET status = 'parked' WHERE session = ?1 AND message = ?2")?
            .execute(params![self.session.0, message.as_str()])?;
        Ok(changed == 1)
    }

    /// Returns `false` when the message is a sub-agent's. A run that is resumed after a crash keeps its last resume:
    /// clients still follow it from there.
    pub(super) fn resume_run(&self, message: &MessageId) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE runs SET status = 'running', ended_at = NULL,
                   last_resume = CASE status WHEN 'running' THEN last_resume ELSE ?3 END
                 WHERE session = ?1 AND message = ?2",
            )?
            .execute(params![self.session.0, message.as_str(), signed(self.seq)])?;
        Ok(changed == 1)
    }

    /// Returns `false` when the message is a sub-agent's.
    pub(super) fn end_run(&self, message: &MessageId, end: RunEnd) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached("UPDATE runs SET status = ?3, ended_at = ?4 WHERE session = ?1 AND message = ?2")?
            .execute(params![self.session.0, message.as_str(), end_name(end), self.at.0])?;
        Ok(changed == 1)
    }
}

fn end_name(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Finished => "finished",
        RunEnd::Cancelled => "cancelled",
        RunEnd::Failed => "failed",
        RunEnd::Withdrawn => "withdrawn",
    }
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
