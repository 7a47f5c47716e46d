//! Sessions: finds, lists and deletes them, and applies what an event changes in their rows.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, SessionId, Timestamp, TitledBy, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    SqliteStore, apply::TableWriter, artifacts, chain, damage::ReadableRows, message_rows::node,
    planted::SessionRead, rules::read_session_rules, runs::status, salvage, session_patch::SessionPatch,
    unsigned,
};
use crate::{
    LastRun, PrefaceRecord, SessionCursor, SessionKey, SessionPage, SessionRecord, Sessions, StoreError,
};

pub(super) const COLUMNS: &str =
    "s.key, s.workspace, s.id, s.title, s.created_at, s.updated_at, s.message_count,
    m.id, m.revision, s.high_water, s.last_run, r.status, s.planted IS NOT NULL, s.queued, s.preface,
    s.preface_agent, r.options ->> 'chatModelId', r.options ->> 'chatModelSource', s.titled_by IS NOT NULL,
    s.rules, s.leaf, s.agent";
pub(super) const TABLES: &str = "sessions s LEFT JOIN messages m ON m.node = s.leaf
    LEFT JOIN runs r ON r.session = s.key AND r.message = s.last_run";

/// Comes before every session of a list.
pub(super) const FIRST_PAGE: SessionCursor =
    SessionCursor { updated_at: Timestamp(i64::MAX), key: SessionKey(i64::MAX) };

#[async_trait]
impl Sessions for SqliteStore {
    async fn session(
        &self,
        workspace: &WorkspaceId,
        id: &SessionId,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        let found = self.look_up(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE s.workspace = ?1 AND s.id = ?2"
                ))?
                .query_row([workspace.as_str(), id.as_str()], |row| Ok(session(row)))
                .optional()?
                .transpose()
        });
        Ok(found.await?.map(|session| self.pending_histories.note(session)))
    }

    async fn session_by_key(&self, key: SessionKey) -> Result<Option<SessionRecord>, StoreError> {
        let found = self.look_up(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.key = ?1"))?
                .query_row([key.0], |row| Ok(session(row)))
                .optional()?
                .transpose()
        });
        Ok(found.await?.map(|session| self.pending_histories.note(session)))
    }

    async fn sessions(
        &self,
        workspace: &WorkspaceId,
        before: Option<SessionCursor>,
        limit: u32,
    ) -> Result<SessionPage, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        let found = self
            .readers
            .read(move |connection| {
                let before = before.unwrap_or(FIRST_PAGE);
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES}
                     WHERE s.workspace = ?1 AND (s.updated_at, s.key) < (?2, ?3)
                     ORDER BY s.updated_at DESC, s.key DESC LIMIT ?4"
                ))?;
                let rows = statement.query_map(
                    params![workspace.as_str(), before.updated_at.0, before.key.0, i64::from(limit) + 1],
                    |row| Ok(session(row)),
                )?;
                let ReadableRows { rows: mut sessions, is_complete } =
                    damage.readable("the list of chats", rows)?;
                if !is_complete {
                    sessions = salvage::sessions(
                        connection,
                        &damage,
                        workspace.as_str(),
                        before,
                        limit as usize + 1,
                    );
                }
                Ok(sessions)
            })
            .await?;
        let mut sessions = self.pending_histories.note_all(found);
        let more = sessions.len() > limit as usize;
        sessions.truncate(limit as usize);
        Ok(SessionPage { sessions, more })
    }

    async fn newest_leaf(&self, key: SessionKey, at: &MessageRef) -> Result<MessageRef, StoreError> {
        self.complete_history(key).await?;
        let at = at.clone();
        self.look_up(move |connection| {
            let at = node(connection, key, &at)?;
            let leaf = chain::newest_leaf(connection, key, at)?;
            let (id, revision): (String, u32) = connection
                .prepare_cached("SELECT id, revision FROM messages WHERE node = ?1")?
                .query_row([leaf], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(MessageRef { id: MessageId::new(id), revision })
        })
        .await
    }

    async fn delete_session(&self, key: SessionKey) -> Result<(), StoreError> {
        let gone = self
            .writer
            .write(move |connection| {
                let gone = artifacts::of_session(connection, key)?;
                for table in [
                    "messages",
                    "forks",
                    "runs",
                    "frames",
                    "log",
                    "interactions",
                    "notes",
                    "usage",
                    "queue",
                    "artifacts",
                    "change_sets",
                    "changed_files",
                    "known_files",
                ] {
                    connection
                        .prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?
                        .execute([key.0])?;
                }
                connection.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key.0])?;
                Ok(gone)
            })
            .await?;
        self.pending_histories.remove(key);
        if gone.is_empty() {
            return Ok(());
        }
        let files = Arc::clone(&self.files);
        artifacts::blocking(move || {
            for (workspace, id) in gone {
                // No event refers to the file any more, so the next start sweeps it.
                if let Err(error) = files.remove(&workspace, &id) {
                    tracing::warn!(%error, "a file of a deleted chat could not be removed; the next start tries again");
                }
            }
            Ok(())
        })
        .await
    }
}

impl TableWriter<'_> {
    /// A title that a person took away is replaced by the first words of the next message.
    pub(super) fn set_title(&self, title: Option<&str>, by: TitledBy) -> Result<(), StoreError> {
        let by = title.map(|_| match by {
            TitledBy::Person => "person",
            TitledBy::Model => "model",
        });
        self.connection
            .prepare_cached("UPDATE sessions SET title = ?2, titled_by = ?3 WHERE key = ?1")?
            .execute(params![self.session.0, title, by])?;
        Ok(())
    }

    pub(super) fn set_pin(&self, pinned: bool) -> Result<(), StoreError> {
        if pinned {
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO pins (session, at) VALUES (?1, ?2)")?
                .execute(params![self.session.0, self.at.0])?;
        } else {
            self.connection
                .prepare_cached("DELETE FROM pins WHERE session = ?1")?
                .execute([self.session.0])?;
        }
        Ok(())
    }

    pub(super) fn choose_branch(
        &self,
        patch: &mut SessionPatch,
        leaf: Option<&MessageRef>,
    ) -> Result<(), StoreError> {
        let leaf = leaf.map(|leaf| node(self.connection, self.session, leaf)).transpose()?;
        patch.choose_leaf(leaf);
        Ok(())
    }
}

/// Reads a session from its own row alone, without its last message and its newest run, which may be damaged.
pub(super) fn by_key_alone(
    connection: &Connection,
    key: SessionKey,
) -> Result<Option<SessionRead<SessionRecord>>, StoreError> {
    let columns =
        ["m.id", "m.revision", "r.status", "r.options ->> 'chatModelId'", "r.options ->> 'chatModelSource'"];
    let columns = columns.into_iter().fold(COLUMNS.to_owned(), |all, column| all.replace(column, "NULL"));
    connection
        .prepare_cached(&format!("SELECT {columns} FROM sessions s WHERE s.key = ?1"))?
        .query_row([key.0], |row| Ok(session(row)))
        .optional()?
        .transpose()
}

pub(super) fn session(row: &Row<'_>) -> Result<SessionRead<SessionRecord>, StoreError> {
    let leaf: Option<String> = row.get(7)?;
    let revision: Option<u32> = row.get(8)?;
    let last_run: Option<String> = row.get(10)?;
    let run_status: Option<String> = row.get(11)?;
    let preface: Option<String> = row.get(14)?;
    let preface_agent: Option<String> = row.get(15)?;
    let record = SessionRecord {
        key: SessionKey(row.get(0)?),
        workspace: WorkspaceId::new(row.get::<_, String>(1)?),
        id: SessionId::new(row.get::<_, String>(2)?),
        title: row.get(3)?,
        created_at: Timestamp(row.get(4)?),
        updated_at: Timestamp(row.get(5)?),
        message_count: unsigned(row.get(6)?),
        active_leaf: match leaf.zip(revision) {
            Some((id, revision)) => Some(MessageRef { id: MessageId::new(id), revision }),
            // The row of the last message is missing: the other messages can still be found.
            None => row.get::<_, Option<i64>>(20)?.map(salvage::lost_leaf),
        },
        high_water: unsigned(row.get(9)?),
        queued: row.get(13)?,
        last_run: match last_run.zip(run_status) {
            Some((id, name)) => Some(LastRun { message: MessageId::new(id), status: status(&name)? }),
            None => None,
        },
        preface: preface.zip(preface_agent).map(|(text, agent)| PrefaceRecord { agent, text }),
        chat_model_id: row.get(16)?,
        chat_model_source: row.get(17)?,
        is_titled: row.get(18)?,
        rules: read_session_rules(row.get::<_, Option<String>>(19)?.as_deref())?,
        agent: row.get(21)?,
    };
    Ok(SessionRead { key: record.key, has_pending_history: row.get(12)?, value: record })
}
