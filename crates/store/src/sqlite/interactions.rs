//! The ledger of questions put to people.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{
    ApprovalId, MessageId, RunId, SessionId, Timestamp, ToolCallId, WorkspaceId,
    interaction::{Interaction, InteractionStatus},
};
use rusqlite::{OptionalExtension, Row, params};

use super::{SqliteStore, parse};
use crate::{Interactions, SessionKey, StoreError};

pub(super) const COLUMNS: &str = "i.id, i.run, i.message, i.tool_call, i.tool, i.input, i.status, i.reason, i.asked_at, i.answered_at, i.edited";

#[async_trait]
impl Interactions for SqliteStore {
    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
    ) -> Result<Option<(SessionId, Interaction)>, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.look_up(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, s.id FROM interactions i JOIN sessions s ON s.key = i.session
                     WHERE i.id = ?1 AND s.workspace = ?2"
                ))?
                .query_row(params![id.as_str(), workspace.as_str()], |row| {
                    let session = SessionId::new(row.get::<_, String>(11)?);
                    Ok(interaction(row).map(|interaction| (session, interaction)))
                })
                .optional()?
                .transpose()
        })
        .await
    }

    async fn interactions_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Vec<Interaction>, StoreError> {
        let (message, damage) = (message.clone(), Arc::clone(&self.damage));
        self.look_up(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM interactions i WHERE i.session = ?1 AND (i.message = ?2
                   OR i.message IN (SELECT message FROM frames WHERE session = ?1 AND root = ?2))
                 ORDER BY i.asked_seq"
            ))?;
            let rows = statement.query_map(params![key.0, message.as_str()], |row| Ok(interaction(row)))?;
            Ok(damage.readable("questions of a message", rows)?.0)
        })
        .await
    }
}

pub(super) fn interaction(row: &Row<'_>) -> Result<Interaction, StoreError> {
    Ok(Interaction {
        id: ApprovalId::new(row.get::<_, String>(0)?),
        run: RunId::new(row.get::<_, String>(1)?),
        message: MessageId::new(row.get::<_, String>(2)?),
        tool_call: ToolCallId::new(row.get::<_, String>(3)?),
        tool: row.get(4)?,
        input: parse(&row.get::<_, String>(5)?)?,
        edited: row.get::<_, Option<String>>(10)?.map(|edited| parse(&edited)).transpose()?,
        status: status(&row.get::<_, String>(6)?)?,
        reason: row.get(7)?,
        asked_at: Timestamp(row.get(8)?),
        answered_at: row.get::<_, Option<i64>>(9)?.map(Timestamp),
    })
}

pub(super) fn status_name(status: InteractionStatus) -> &'static str {
    match status {
        InteractionStatus::Pending => "pending",
        InteractionStatus::Approved => "approved",
        InteractionStatus::Denied => "denied",
        InteractionStatus::Withdrawn => "withdrawn",
    }
}

fn status(name: &str) -> Result<InteractionStatus, StoreError> {
    Ok(match name {
        "pending" => InteractionStatus::Pending,
        "approved" => InteractionStatus::Approved,
        "denied" => InteractionStatus::Denied,
        "withdrawn" => InteractionStatus::Withdrawn,
        other => return Err(StoreError::Corrupt(format!("unknown interaction status `{other}`"))),
    })
}
