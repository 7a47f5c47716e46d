//! Messages: a tree; one branch is read from its leaf upwards.

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use super::{SqliteStore, apply::node};
use crate::{MessageRecord, Messages, SessionKey, StoreError};

#[async_trait]
impl Messages for SqliteStore {
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError> {
        let id = id.clone();
        self.readers
            .read(move |connection| {
                Ok(connection
                    .prepare_cached(
                        "SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body
                         FROM messages m LEFT JOIN messages p ON p.node = m.parent
                         WHERE m.session = ?1 AND m.id = ?2 ORDER BY m.revision DESC LIMIT 1",
                    )?
                    .query_row(params![key.0, id.as_str()], record)
                    .optional()?)
            })
            .await
    }

    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        let leaf = leaf.clone();
        self.readers
            .read(move |connection| {
                let leaf = match node(connection, key, &leaf) {
                    Ok(leaf) => leaf,
                    Err(StoreError::Conflict) => return Ok(Vec::new()),
                    Err(error) => return Err(error),
                };
                let mut statement = connection.prepare_cached(
                    "WITH RECURSIVE branch (node, parent, depth) AS (
                         SELECT node, parent, 1 FROM messages WHERE node = ?1
                         UNION ALL
                         SELECT m.node, m.parent, b.depth + 1 FROM messages m
                         JOIN branch b ON m.node = b.parent WHERE b.depth < ?2)
                     SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body
                     FROM branch b JOIN messages m ON m.node = b.node
                     LEFT JOIN messages p ON p.node = b.parent
                     ORDER BY b.depth DESC",
                )?;
                let rows = statement.query_map(params![leaf, limit], record)?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<MessageRecord> {
    let reference = |id: String, revision| MessageRef { id: MessageId::new(id), revision };
    let parent: Option<String> = row.get(2)?;
    Ok(MessageRecord {
        reference: reference(row.get(0)?, row.get(1)?),
        parent: match parent {
            Some(id) => Some(reference(id, row.get(3)?)),
            None => None,
        },
        created_at: Timestamp(row.get(4)?),
        body: row.get(5)?,
    })
}
