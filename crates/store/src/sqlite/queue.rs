//! Messages that wait behind a run: a fold of the log, so that a crash loses none.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{MessageId, Seq, SessionEvent};
use rusqlite::{Connection, Row, params};

use super::{SqliteStore, json, parse, planted::SessionRead, signed};
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
            Ok(damage.readable("messages that wait", rows)?.0)
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
                Ok(damage.readable("messages that wait", rows)?.0)
            })
            .await?;
        Ok(self.pending_histories.note_all(found))
    }
}

fn session_key(row: &Row<'_>) -> Result<SessionRead<SessionKey>, StoreError> {
    let key = SessionKey(row.get(0)?);
    Ok(SessionRead { key, has_pending_history: row.get(1)?, value: key })
}

/// A message begins to wait, once; gives how many more wait now. Other events change nothing.
pub(super) fn insert(
    connection: &Connection,
    session: SessionKey,
    seq: Seq,
    event: &SessionEvent,
) -> Result<usize, StoreError> {
    let SessionEvent::MessageQueued { message, edits, after, options } = event else { return Ok(0) };
    let queued = QueuedMessage {
        message: message.clone(),
        edits: edits.clone(),
        after: after.clone(),
        options: (**options).clone(),
    };
    Ok(connection
        .prepare_cached("INSERT OR IGNORE INTO queue (session, seq, id, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session.0, signed(seq), queued.id().as_str(), json(&queued)?])?)
}

/// A message waits no longer; gives how many fewer wait now.
pub(super) fn remove(
    connection: &Connection,
    session: SessionKey,
    queued: &MessageId,
) -> Result<usize, StoreError> {
    Ok(connection
        .prepare_cached("DELETE FROM queue WHERE session = ?1 AND id = ?2")?
        .execute(params![session.0, queued.as_str()])?)
}
