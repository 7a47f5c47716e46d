//! Finds the end of a branch without walking along it: messages without a fork between them are one chain.
//!
//! The first child of a message continues the chain of its parent; every later child starts another chain, which is
//! stored as a fork. So the newest child of a message is its newest fork, or else the next message of its chain, and the
//! end of a branch is found with one query per fork, not per message. The head of a chain knows its last message.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{SessionKey, StoreError};

/// The chain of a message, named by the node of its head, and the place of the message in it, from 0.
#[derive(Clone, Copy)]
pub(super) struct ChainPosition {
    pub(super) chain: i64,
    pub(super) place: i64,
}

fn position_of(connection: &Connection, node: i64) -> Result<ChainPosition, StoreError> {
    Ok(connection
        .prepare_cached("SELECT coalesce(chain, node), place FROM messages WHERE node = ?1")?
        .query_row([node], |row| Ok(ChainPosition { chain: row.get(0)?, place: row.get(1)? }))?)
}

/// The position of a new child of this message; `None` when it has a child already, so that the new one starts a chain.
pub(super) fn position_after(
    connection: &Connection,
    parent: i64,
) -> Result<Option<ChainPosition>, StoreError> {
    let has_child: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM messages WHERE parent = ?1)")?
        .query_row([parent], |row| row.get(0))?;
    if has_child {
        return Ok(None);
    }
    let ChainPosition { chain, place } = position_of(connection, parent)?;
    Ok(Some(ChainPosition { chain, place: place + 1 }))
}

/// Stores that this message is the last of the chain.
pub(super) fn set_tail(connection: &Connection, chain: i64, node: i64) -> Result<(), StoreError> {
    connection.prepare_cached("UPDATE messages SET tail = ?2 WHERE node = ?1")?.execute([chain, node])?;
    Ok(())
}

/// Stores that the chain of `head` forks off at `parent`.
pub(super) fn insert_fork(
    connection: &Connection,
    session: SessionKey,
    head: i64,
    parent: i64,
) -> Result<(), StoreError> {
    let ChainPosition { chain, place } = position_of(connection, parent)?;
    connection
        .prepare_cached("INSERT INTO forks (session, chain, place, head) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session.0, chain, place, head])?;
    Ok(())
}

/// The leaf that is reached by following the newest child from this message on.
pub(super) fn newest_leaf(
    connection: &Connection,
    session: SessionKey,
    node: i64,
) -> Result<i64, StoreError> {
    let mut next_fork = connection.prepare_cached(
        "SELECT head FROM forks WHERE session = ?1 AND chain = ?2 AND place >= ?3
         ORDER BY place, head DESC LIMIT 1",
    )?;
    let mut at = position_of(connection, node)?;
    while let Some(head) =
        next_fork.query_row(params![session.0, at.chain, at.place], |row| row.get::<_, i64>(0)).optional()?
    {
        at = ChainPosition { chain: head, place: 0 };
    }
    Ok(connection
        .prepare_cached("SELECT coalesce(tail, node) FROM messages WHERE node = ?1")?
        .query_row([at.chain], |row| row.get(0))?)
}
