//! Where a branch ends, without walking it: messages without a fork between them are one chain.
//!
//! The first child of a message goes on in its parent's chain; every later one begins another, which is noted as a
//! fork. So the newest child of a message is the newest fork at it, else the next of its chain, and the end of a
//! branch is as many looks away as there are forks on the way to it, not messages. The head of a chain knows its last
//! message.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{SessionKey, StoreError};

/// A message's place in the tree.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) chain: i64,
    pub(super) place: i64,
}

fn spot(connection: &Connection, node: i64) -> Result<Spot, StoreError> {
    Ok(connection
        .prepare_cached("SELECT coalesce(chain, node), place FROM messages WHERE node = ?1")?
        .query_row([node], |row| Ok(Spot { chain: row.get(0)?, place: row.get(1)? }))?)
}

/// Where the next child of this message goes: on in its chain, or, when it has a child already, nowhere yet.
pub(super) fn next_of(connection: &Connection, parent: i64) -> Result<Option<Spot>, StoreError> {
    let has_child: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM messages WHERE parent = ?1)")?
        .query_row([parent], |row| row.get(0))?;
    if has_child {
        return Ok(None);
    }
    let Spot { chain, place } = spot(connection, parent)?;
    Ok(Some(Spot { chain, place: place + 1 }))
}

/// The chain goes on with this message.
pub(super) fn lengthen(connection: &Connection, chain: i64, node: i64) -> Result<(), StoreError> {
    connection.prepare_cached("UPDATE messages SET tail = ?2 WHERE node = ?1")?.execute([chain, node])?;
    Ok(())
}

/// Notes that the chain of `head` forks off at `parent`.
pub(super) fn hang(
    connection: &Connection,
    session: SessionKey,
    head: i64,
    parent: i64,
) -> Result<(), StoreError> {
    let Spot { chain, place } = spot(connection, parent)?;
    connection
        .prepare_cached("INSERT INTO forks (session, chain, place, head) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session.0, chain, place, head])?;
    Ok(())
}

/// The leaf that following the newest child from this message leads to.
pub(super) fn newest_leaf(
    connection: &Connection,
    session: SessionKey,
    node: i64,
) -> Result<i64, StoreError> {
    let mut next_fork = connection.prepare_cached(
        "SELECT head FROM forks WHERE session = ?1 AND chain = ?2 AND place >= ?3
         ORDER BY place, head DESC LIMIT 1",
    )?;
    let mut at = spot(connection, node)?;
    while let Some(head) =
        next_fork.query_row(params![session.0, at.chain, at.place], |row| row.get::<_, i64>(0)).optional()?
    {
        at = Spot { chain: head, place: 0 };
    }
    Ok(connection
        .prepare_cached("SELECT coalesce(tail, node) FROM messages WHERE node = ?1")?
        .query_row([at.chain], |row| row.get(0))?)
}
