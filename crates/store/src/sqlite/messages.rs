//! Messages: a tree; one branch is read from its leaf upwards.

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, apply::node, parse};
use crate::{MessageRecord, Messages, SessionKey, StoreError};

#[async_trait]
impl Messages for SqliteStore {
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError> {
        let id = id.clone();
        self.look_up(move |connection| {
            connection
                .prepare_cached(
                    "SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body, m.facts
                     FROM messages m LEFT JOIN messages p ON p.node = m.parent
                     WHERE m.session = ?1 AND m.id = ?2 ORDER BY m.revision DESC LIMIT 1",
                )?
                .query_row(params![key.0, id.as_str()], |row| Ok(record(row)))
                .optional()?
                .transpose()
        })
        .await
    }

    async fn settle_planted(&self, key: SessionKey) -> Result<(), StoreError> {
        self.settle(key).await
    }

    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        let leaf = leaf.clone();
        self.readers.read(move |connection| walk(connection, key, &leaf, None, limit)).await
    }

    async fn branch_after(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        stop: Option<&MessageRef>,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        let (leaf, stop) = (leaf.clone(), stop.cloned());
        self.readers
            .read(move |connection| {
                let stop = stop.map(|stop| node(connection, key, &stop)).transpose();
                // A message that is gone stops nothing.
                let stop = match stop {
                    Err(StoreError::Conflict) => None,
                    stop => stop?,
                };
                walk(connection, key, &leaf, stop, u32::MAX)
            })
            .await
    }
}

/// From the leaf upwards, at most `limit` messages and not into `stop`.
fn walk(
    connection: &Connection,
    key: SessionKey,
    leaf: &MessageRef,
    stop: Option<i64>,
    limit: u32,
) -> Result<Vec<MessageRecord>, StoreError> {
    let leaf = match node(connection, key, leaf) {
        Err(StoreError::Conflict) => return Ok(Vec::new()),
        leaf => leaf?,
    };
    let mut statement = connection.prepare_cached(
        "SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body, m.facts, m.parent
         FROM messages m LEFT JOIN messages p ON p.node = m.parent WHERE m.node = ?1",
    )?;
    let mut next = Some(leaf);
    let mut branch = Vec::new();
    while let Some(node) = next.filter(|node| stop != Some(*node) && branch.len() < limit as usize) {
        let (message, parent) = statement.query_row([node], |row| Ok((record(row), row.get(7)?)))?;
        branch.push(message?);
        next = parent;
    }
    branch.reverse();
    Ok(branch)
}

fn record(row: &Row<'_>) -> Result<MessageRecord, StoreError> {
    let reference = |id: String, revision| MessageRef { id: MessageId::new(id), revision };
    let parent: Option<String> = row.get(2)?;
    let facts: Option<String> = row.get(6)?;
    Ok(MessageRecord {
        reference: reference(row.get(0)?, row.get(1)?),
        parent: match parent {
            Some(id) => Some(reference(id, row.get(3)?)),
            None => None,
        },
        created_at: Timestamp(row.get(4)?),
        body: row.get(5)?,
        facts: facts.map(|facts| parse(&facts)).transpose()?,
    })
}
