//! Messages that are queued behind the active run of their session. The queue is stored, so a crash loses none.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::MessageId;
use rusqlite::{Row, params};

use super::{SqliteStore, apply::TableWriter, json, parse, planted::SessionRead, signed};
use crate::{Queue, QueuedMessage, SessionKey, StoreError};

#[async_trait]
impl Queue for SqliteStore {
    async fn queued(&self, key: SessionKey) -> Result<Vec<QueuedMessage>, StoreError> {
        let damage = Arc::clone(&self.damage);
        self.look_up(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT body FROM queue WHERE session = ?1 ORDER BY seq")?;
            let rows = statement.query_map([key.0], |row| {
                Ok(row.get::<_, String>(0).map_err(StoreError::from).and_then(|body| parse(&body)))
            })?;
            Ok(damage.readable("queued messages", rows)?.rows)
        })
        .await
    }

    async fn sessions_with_queue(&self) -> Result<Vec<SessionKey>, StoreError> {
        let damage = Arc::clone(&self.damage);
        let found = self
            .readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT DISTINCT q.session, s.planted IS NOT NULL FROM queue q
                     LEFT JOIN sessions s ON s.key = q.session",
                )?;
                let rows = statement.query_map([], |row| Ok(session_key(row)))?;
                Ok(damage.readable("queued messages", rows)?.rows)
            })
            .await?;
        Ok(self.pending_histories.note_all(found))
    }
}

fn session_key(row: &Row<'_>) -> Result<SessionRead<SessionKey>, StoreError> {
    let key = SessionKey(row.get(0)?);
    Ok(SessionRead { key, has_pending_history: row.get(1)?, value: key })
}

impl TableWriter<'_> {
    /// Returns how many rows were inserted: none when the message is queued already.
    pub(super) fn insert_queued_message(&self, queued: &QueuedMessage) -> Result<usize, StoreError> {
        Ok(self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO queue (session, seq, id, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![self.session.0, signed(self.seq), queued.id().as_str(), json(queued)?])?)
    }

    /// Returns how many rows were removed: none when the message is not queued.
    pub(super) fn remove_queued_message(&self, queued: &MessageId) -> Result<usize, StoreError> {
        Ok(self
            .connection
            .prepare_cached("DELETE FROM queue WHERE session = ?1 AND id = ?2")?
            .execute(params![self.session.0, queued.as_str()])?)
    }
}
