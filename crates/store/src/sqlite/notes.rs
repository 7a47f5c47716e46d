//! Notes of a session: the newest `data` of every `data-<name>` part that is kept.

use protocol::{DataPart, MessageId};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::{apply::TableWriter, json, parse};
use crate::{SessionKey, StoreError};

impl TableWriter<'_> {
    /// Parts of sub-agents are not notes of the session.
    pub(super) fn replace_note(&self, message: &MessageId, part: &DataPart<'_>) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO notes (session, name, data) SELECT ?1, ?2, ?3
                 WHERE NOT EXISTS (SELECT 1 FROM frames WHERE session = ?1 AND message = ?4)",
            )?
            .execute(params![self.session.0, part.name, json(&part.data)?, message.as_str()])?;
        Ok(())
    }
}

pub(super) fn latest(
    connection: &Connection,
    key: SessionKey,
    name: &str,
) -> Result<Option<Value>, StoreError> {
    connection
        .prepare_cached("SELECT data FROM notes WHERE session = ?1 AND name = ?2")?
        .query_row(params![key.0, name], |row| row.get::<_, String>(0))
        .optional()?
        .map(|data| parse(&data))
        .transpose()
}
