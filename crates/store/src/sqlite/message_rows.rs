//! Writes rows of the message tree: planted and accepted messages, and the answers of agents.

use protocol::{MessageId, MessageRef, Planted, Timestamp, TurnFacts, UiMessage};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    apply::TableWriter, chain, checksum, encode::EncodedMessage, json, planted, session_patch::SessionPatch,
};
use crate::{FrameStatus, SessionKey, StoreError};

/// A user's message, new or edited.
pub(super) struct AcceptedMessage<'a> {
    pub(super) message: &'a UiMessage,
    pub(super) revision: u32,
    pub(super) parent: Option<&'a MessageRef>,
    pub(super) facts: Option<&'a TurnFacts>,
}

/// A row to insert.
pub(super) struct NewMessage<'a> {
    pub(super) id: &'a MessageId,
    pub(super) revision: u32,
    /// Node of the message that it follows.
    pub(super) parent: Option<i64>,
    pub(super) body: &'a str,
    pub(super) facts: Option<&'a str>,
}

impl TableWriter<'_> {
    /// Inserts the messages of a short history. Those of a long one are inserted when they are first read
    /// (`planted.rs`).
    pub(super) fn insert_planted_messages(
        &self,
        patch: &mut SessionPatch,
        messages: &Planted,
    ) -> Result<(), StoreError> {
        if patch.history_is_pending() {
            patch.add_pending_messages(messages.len());
            return Ok(());
        }
        let mut parent = patch.leaf();
        for message in messages.messages().map_err(StoreError::Corrupt)? {
            let body = json(&message)?;
            let new = NewMessage { id: &message.id, revision: 0, parent, body: &body, facts: None };
            parent = Some(insert(self.connection, self.session, &new, self.at)?);
        }
        if let Some(leaf) = parent {
            patch.set_leaf(leaf, messages.len());
        }
        Ok(())
    }

    pub(super) fn insert_accepted_message(
        &self,
        patch: &mut SessionPatch,
        accepted: &AcceptedMessage<'_>,
    ) -> Result<(), StoreError> {
        let AcceptedMessage { message, revision, parent, facts } = *accepted;
        let parent = match parent {
            // The last message of the history, which has no row yet.
            Some(_) if patch.history_is_pending() => None,
            Some(parent) => Some(self.referenced_node(parent)?),
            None => None,
        };
        let body = json(message)?;
        let facts = facts.map(json).transpose()?;
        let new = NewMessage { id: &message.id, revision, parent, body: &body, facts: facts.as_deref() };
        let node = insert(self.connection, self.session, &new, self.at)?;
        patch.accept_message(node, message);
        Ok(())
    }

    /// Stores the message of an agent whose run or frame was parked or closed; an earlier version of it is replaced.
    pub(super) fn store_answer(
        &self,
        patch: &mut SessionPatch,
        id: &MessageId,
        status: FrameStatus,
        folded: &[EncodedMessage],
    ) -> Result<(), StoreError> {
        let EncodedMessage { body, .. } = folded
            .iter()
            .find(|message| message.id == *id)
            .ok_or_else(|| StoreError::Corrupt(format!("the folded message {id} is missing")))?;
        patch.replace_message();
        if self.replace_body(id, body)? {
            return Ok(());
        }
        let parent: Option<i64> = self
            .connection
            .prepare_cached("SELECT answers FROM runs WHERE session = ?1 AND message = ?2")?
            .query_row(params![self.session.0, id.as_str()], |row| row.get(0))
            .optional()?;
        if parent.is_none() && self.store_frame_message(id, status, body)? {
            return Ok(());
        }
        let new = NewMessage { id, revision: 0, parent, body, facts: None };
        let node = insert(self.connection, self.session, &new, self.at)?;
        patch.set_leaf(node, 1);
        Ok(())
    }

    /// Returns `false` when the message has no row yet.
    fn replace_body(&self, id: &MessageId, body: &str) -> Result<bool, StoreError> {
        let replaced = self
            .connection
            .prepare_cached(
                "UPDATE messages SET body = ?3, crc = ?4 WHERE session = ?1 AND id = ?2 AND revision = 0",
            )?
            .execute(params![
                self.session.0,
                id.as_str(),
                body,
                checksum::of_message(self.session, id.as_str(), 0, body)
            ])?;
        Ok(replaced == 1)
    }

    /// The node of a message that an event refers to. It may be a planted message that has no row yet.
    pub(super) fn referenced_node(&self, reference: &MessageRef) -> Result<i64, StoreError> {
        match node(self.connection, self.session, reference) {
            Err(StoreError::Conflict) if planted::store_now(self.connection, self.session)? => {
                node(self.connection, self.session, reference)
            }
            found => found,
        }
    }
}

/// Inserts a row; returns its node.
pub(super) fn insert(
    connection: &Connection,
    session: SessionKey,
    new: &NewMessage<'_>,
    at: Timestamp,
) -> Result<i64, StoreError> {
    let position = match new.parent {
        Some(parent) => chain::position_after(connection, parent)?,
        None => None,
    };
    connection
        .prepare_cached(
            "INSERT INTO messages (session, id, revision, parent, created_at, body, facts, chain, place, crc)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            session.0,
            new.id.as_str(),
            new.revision,
            new.parent,
            at.0,
            new.body,
            new.facts,
            position.map(|position| position.chain),
            position.map_or(0, |position| position.place),
            checksum::of_message(session, new.id.as_str(), new.revision, new.body)
        ])?;
    let node = connection.last_insert_rowid();
    match (position, new.parent) {
        (Some(position), _) => chain::set_tail(connection, position.chain, node)?,
        (None, Some(parent)) => chain::insert_fork(connection, session, node, parent)?,
        (None, None) => {}
    }
    Ok(node)
}

/// The node of a message; a conflict when there is no such message.
pub(super) fn node(
    connection: &Connection,
    session: SessionKey,
    reference: &MessageRef,
) -> Result<i64, StoreError> {
    connection
        .prepare_cached("SELECT node FROM messages WHERE session = ?1 AND id = ?2 AND revision = ?3")?
        .query_row(params![session.0, reference.id.as_str(), reference.revision], |row| row.get(0))
        .optional()?
        .ok_or(StoreError::Conflict)
}
