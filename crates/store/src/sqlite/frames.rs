//! Frames of sub-agents, and the messages that they wrote.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{FrameParent, MessageId, SessionId, Timestamp, ToolCallId, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    SqliteStore, apply::TableWriter, checksum, damage::DamageReport, planted::SessionRead, salvage, signed,
    unsigned,
};
use crate::{FrameRecord, FrameStatus, Frames, SessionKey, StoreError, SubAgentChat};

const COLUMNS: &str = "f.message, f.parent, f.call, f.root, f.chat, f.task, f.status, f.first_seq, f.last_resume, \
     f.opened_at, f.body, f.session, f.crc";

#[async_trait]
impl Frames for SqliteStore {
    async fn frame_of_chat(
        &self,
        workspace: &WorkspaceId,
        chat: &SessionId,
    ) -> Result<Option<SubAgentChat>, StoreError> {
        let (workspace, chat, damage) = (workspace.clone(), chat.clone(), Arc::clone(&self.damage));
        let found = self.look_up(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, s.id, s.planted IS NOT NULL FROM frames f JOIN sessions s ON s.key = f.session
                     WHERE f.chat = ?1 AND s.workspace = ?2"
                ))?
                .query_row(params![chat.as_str(), workspace.as_str()], |row| {
                    let session = SessionId::new(row.get::<_, String>(13)?);
                    let key = SessionKey(row.get(11)?);
                    let has_pending_history = row.get(14)?;
                    Ok(record(connection, &damage, row).map(|frame| SessionRead {
                        key,
                        has_pending_history,
                        value: SubAgentChat { session, key, frame },
                    }))
                })
                .optional()?
                .transpose()
        });
        Ok(found.await?.map(|frame| self.pending_histories.note(frame)))
    }

    async fn frames_of_runs(
        &self,
        key: SessionKey,
        roots: Vec<MessageId>,
    ) -> Result<Vec<FrameRecord>, StoreError> {
        let damage = Arc::clone(&self.damage);
        self.readers
            .read(move |connection| {
                let any = connection
                    .prepare_cached("SELECT 1 FROM frames WHERE session = ?1 LIMIT 1")?
                    .exists([key.0])?;
                let mut frames = Vec::new();
                if !any {
                    return Ok(frames);
                }
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM frames f WHERE f.session = ?1 AND f.root = ?2 ORDER BY f.first_seq"
                ))?;
                for root in &roots {
                    let rows = statement.query_map(params![key.0, root.as_str()], |row| {
                        Ok(record(connection, &damage, row))
                    })?;
                    frames.extend(damage.readable("sub-agents", rows)?.rows);
                }
                Ok(frames)
            })
            .await
    }
}

impl TableWriter<'_> {
    pub(super) fn insert_frame(&self, message: &MessageId, parent: &FrameParent) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO frames (session, message, parent, call, root, chat, task, status, first_seq, opened_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running', ?8, ?9)",
            )?
            .execute(params![
                self.session.0,
                message.as_str(),
                parent.message.as_str(),
                parent.call.as_str(),
                parent.root.as_str(),
                parent.chat.as_str(),
                parent.task,
                signed(self.seq),
                self.at.0
            ])?;
        Ok(())
    }

    /// Stores the message of a frame that was parked or closed; returns `false` when there is no such frame.
    pub(super) fn store_frame_message(
        &self,
        message: &MessageId,
        status: FrameStatus,
        body: &str,
    ) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE frames SET status = ?3, body = ?4, crc = ?5 WHERE session = ?1 AND message = ?2",
            )?
            .execute(params![
                self.session.0,
                message.as_str(),
                status_name(status),
                body,
                checksum::of_message(self.session, message.as_str(), 0, body)
            ])?;
        Ok(changed == 1)
    }

    /// A frame that is resumed after a crash keeps its last resume, like a run.
    pub(super) fn resume_frame(&self, message: &MessageId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "UPDATE frames SET status = 'running',
                   last_resume = CASE status WHEN 'running' THEN last_resume ELSE ?3 END
                 WHERE session = ?1 AND message = ?2",
            )?
            .execute(params![self.session.0, message.as_str(), signed(self.seq)])?;
        Ok(())
    }
}

fn record(connection: &Connection, damage: &DamageReport, row: &Row<'_>) -> Result<FrameRecord, StoreError> {
    let (message, body): (String, Option<String>) = (row.get(0)?, row.get(10)?);
    let session = SessionKey(row.get(11)?);
    let found = || checksum::of_message(session, &message, 0, body.as_deref().unwrap_or_default());
    let body = match &body {
        Some(_) if !checksum::matches(row, 12, found)? => {
            damage.note(
                format!("{}, sub-agent's message {message}", salvage::chat_name(connection, session)),
                "it does not match its checksum",
            );
            Some(salvage::placeholder(&message, false))
        }
        _ => body,
    };
    Ok(FrameRecord {
        message: MessageId::new(message),
        parent: MessageId::new(row.get::<_, String>(1)?),
        call: ToolCallId::new(row.get::<_, String>(2)?),
        root: MessageId::new(row.get::<_, String>(3)?),
        chat: SessionId::new(row.get::<_, String>(4)?),
        task: row.get(5)?,
        status: status(&row.get::<_, String>(6)?)?,
        first_seq: unsigned(row.get(7)?),
        last_resume: unsigned(row.get(8)?),
        opened_at: Timestamp(row.get(9)?),
        body,
    })
}

fn status_name(status: FrameStatus) -> &'static str {
    match status {
        FrameStatus::Running => "running",
        FrameStatus::Parked => "parked",
        FrameStatus::Finished => "finished",
        FrameStatus::Cancelled => "cancelled",
        FrameStatus::Failed => "failed",
    }
}

fn status(name: &str) -> Result<FrameStatus, StoreError> {
    Ok(match name {
        "running" => FrameStatus::Running,
        "parked" => FrameStatus::Parked,
        "finished" => FrameStatus::Finished,
        "cancelled" => FrameStatus::Cancelled,
        "failed" => FrameStatus::Failed,
        other => return Err(StoreError::Corrupt(format!("unknown frame status `{other}`"))),
    })
}
