//! Reads messages. They form a tree; a branch is read from its leaf up to the root.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, checksum, damage::DamageReport, message_rows::node, parse, salvage};
use crate::{MessageRecord, Messages, SessionKey, StoreError};

#[async_trait]
impl Messages for SqliteStore {
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError> {
        self.complete_history(key).await?;
        let (id, damage) = (id.clone(), Arc::clone(&self.damage));
        self.look_up(move |connection| {
            connection
                .prepare_cached(
                    "SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body, m.facts, m.crc
                     FROM messages m LEFT JOIN messages p ON p.node = m.parent
                     WHERE m.session = ?1 AND m.id = ?2 ORDER BY m.revision DESC LIMIT 1",
                )?
                .query_row(params![key.0, id.as_str()], |row| Ok(record(connection, &damage, key, row)))
                .optional()?
                .transpose()
        })
        .await
    }

    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        self.complete_history(key).await?;
        let (leaf, damage) = (leaf.clone(), Arc::clone(&self.damage));
        self.readers.read(move |connection| readable(connection, &damage, key, &leaf, None, limit)).await
    }

    async fn branch_after(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        stop: Option<&MessageRef>,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        self.complete_history(key).await?;
        let (leaf, stop, damage) = (leaf.clone(), stop.cloned(), Arc::clone(&self.damage));
        self.readers
            .read(move |connection| {
                let stop = stop.map(|stop| node(connection, key, &stop)).transpose();
                // If there is no such message, read the whole branch.
                let stop = match stop {
                    Err(StoreError::Conflict) => None,
                    stop => stop?,
                };
                readable(connection, &damage, key, &leaf, stop, u32::MAX)
            })
            .await
    }
}

/// Reads a branch; if the path to the root is damaged, every message of the session that can be read.
fn readable(
    connection: &Connection,
    damage: &DamageReport,
    key: SessionKey,
    leaf: &MessageRef,
    stop: Option<i64>,
    limit: u32,
) -> Result<Vec<MessageRecord>, StoreError> {
    match walk(connection, damage, key, leaf, stop, limit) {
        Err(StoreError::Corrupt(what)) => {
            damage.note(salvage::chat_name(connection, key), what);
            let leaf = node(connection, key, leaf).unwrap_or(i64::MAX);
            Ok(salvage::messages(connection, damage, key, leaf, limit))
        }
        walked => walked,
    }
}

/// Walks from the leaf towards the root, at most `limit` messages and not as far as `stop`.
fn walk(
    connection: &Connection,
    damage: &DamageReport,
    key: SessionKey,
    leaf: &MessageRef,
    stop: Option<i64>,
    limit: u32,
) -> Result<Vec<MessageRecord>, StoreError> {
    let leaf = match node(connection, key, leaf) {
        Err(StoreError::Conflict) if !salvage::is_last(connection, key, leaf)? => return Ok(Vec::new()),
        Err(StoreError::Conflict) => {
            return Err(StoreError::Corrupt("its last message is missing".to_owned()));
        }
        leaf => leaf?,
    };
    let mut statement = connection.prepare_cached(BY_NODE)?;
    let mut next = Some(leaf);
    let mut branch = Vec::new();
    while let Some(node) = next.filter(|node| stop != Some(*node) && branch.len() < limit as usize) {
        let (message, parent) =
            statement.query_row([node], |row| Ok((record(connection, damage, key, row), row.get(8)?)))?;
        branch.push(message?);
        next = parent;
    }
    branch.reverse();
    Ok(branch)
}

pub(super) const BY_NODE: &str =
    "SELECT m.id, m.revision, p.id, p.revision, m.created_at, m.body, m.facts, m.crc, m.parent
     FROM messages m LEFT JOIN messages p ON p.node = m.parent WHERE m.node = ?1";

/// Reads a message. If its body does not match its checksum, it is read from the log; if that is damaged as well, a
/// placeholder is returned.
pub(super) fn record(
    connection: &Connection,
    damage: &DamageReport,
    key: SessionKey,
    row: &Row<'_>,
) -> Result<MessageRecord, StoreError> {
    let reference = |id: String, revision| MessageRef { id: MessageId::new(id), revision };
    let (id, revision): (String, u32) = (row.get(0)?, row.get(1)?);
    let stored = row.get_ref(5)?;
    let stored = stored.as_bytes().map_err(rusqlite::Error::from)?;
    let body = match std::str::from_utf8(stored) {
        Ok(body) if checksum::matches(row, 7, || checksum::of_message(key, &id, revision, body))? => {
            body.to_owned()
        }
        _ => salvage::body(connection, damage, key, &id, revision, stored),
    };
    let parent: Option<String> = row.get(2)?;
    let facts: Option<String> = row.get(6)?;
    Ok(MessageRecord {
        reference: reference(id, revision),
        parent: match parent {
            Some(id) => Some(reference(id, row.get(3)?)),
            None => None,
        },
        created_at: Timestamp(row.get(4)?),
        body,
        // Facts that cannot be read are left out: a model still gets the text of the message.
        facts: facts.and_then(|facts| parse(&facts).ok()),
    })
}
