//! Finds sessions again: pins, search, unanswered questions, branches.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, SessionId, WorkspaceId};
use rusqlite::{Connection, params};

use super::{
    SqliteStore,
    damage::DamageReport,
    interactions::{COLUMNS as INTERACTION, asked},
    message_rows::node,
    planted::SessionRead,
    salvage,
    sessions::{COLUMNS, TABLES, session},
    signed, unsigned,
};
use crate::{BranchPoint, PendingInteraction, SessionIndex, SessionKey, SessionRecord, StoreError};

/// A search reads messages of the newest chats of its workspace until it has read about this many. All titles are
/// searched.
const MAX_MESSAGES_SEARCHED: i64 = 50_000;
/// How many messages above the leaf are checked for siblings.
const MAX_DEPTH: u32 = 10_000;

#[async_trait]
impl SessionIndex for SqliteStore {
    async fn sessions_from(
        &self,
        workspace: &WorkspaceId,
        skip: u64,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        let skip = signed(skip);
        let found = self
            .readers
            .read(move |connection| {
                let query = format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE s.workspace = ?1
                     ORDER BY s.updated_at DESC, s.key DESC LIMIT ?2 OFFSET ?3"
                );
                records(connection, &damage, &query, params![workspace.as_str(), limit, skip])
            })
            .await?;
        Ok(self.pending_histories.note_all(found))
    }

    async fn session_count(&self, workspace: &WorkspaceId) -> Result<u64, StoreError> {
        let workspace = workspace.clone();
        self.look_up(move |connection| {
            let count: i64 = connection
                .prepare_cached("SELECT count(*) FROM sessions WHERE workspace = ?1")?
                .query_row([workspace.as_str()], |row| row.get(0))?;
            Ok(unsigned(count))
        })
        .await
    }

    async fn pinned(&self, keys: &[SessionKey]) -> Result<Vec<SessionKey>, StoreError> {
        let keys = keys.to_vec();
        self.look_up(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM pins WHERE session = ?1)")?;
            let mut pinned = Vec::new();
            for key in &keys {
                if statement.query_row([key.0], |row| row.get::<_, bool>(0))? {
                    pinned.push(*key);
                }
            }
            Ok(pinned)
        })
        .await
    }

    async fn pinned_sessions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        let found = self
            .readers
            .read(move |connection| {
                let query = format!(
                    "SELECT {COLUMNS} FROM pins p CROSS JOIN {TABLES}
                     WHERE s.key = p.session AND s.workspace = ?1 ORDER BY p.at DESC LIMIT ?2"
                );
                records(connection, &damage, &query, params![workspace.as_str(), limit])
            })
            .await?;
        Ok(self.pending_histories.note_all(found))
    }

    async fn search_sessions(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        let pattern = format!("%{}%", escaped(text));
        let found = self
            .readers
            .read(move |connection| search(connection, &damage, workspace.as_str(), &pattern, limit))
            .await?;
        Ok(self.pending_histories.note_all(found))
    }

    async fn pending_interactions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<PendingInteraction>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        self.look_up(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {INTERACTION}, s.id, s.title FROM interactions i JOIN sessions s ON s.key = i.session
                 WHERE i.status = 'pending' AND s.workspace = ?1 ORDER BY i.asked_at, i.asked_seq LIMIT ?2"
            ))?;
            let rows = statement.query_map(params![workspace.as_str(), limit], |row| {
                let (session, title) = (SessionId::new(row.get::<_, String>(15)?), row.get(16)?);
                Ok(asked(row).map(|(interaction, question)| PendingInteraction {
                    session,
                    title,
                    interaction,
                    question,
                }))
            })?;
            Ok(damage.readable("unanswered questions", rows)?.rows)
        })
        .await
    }

    async fn branch_points(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
    ) -> Result<Vec<BranchPoint>, StoreError> {
        self.complete_history(key).await?;
        let leaf = leaf.clone();
        self.readers
            .read(move |connection| match node(connection, key, &leaf) {
                Err(StoreError::Conflict) => Ok(Vec::new()),
                leaf => points(connection, key, leaf?),
            })
            .await
    }
}

fn records(
    connection: &Connection,
    damage: &DamageReport,
    query: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<SessionRead<SessionRecord>>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map(params, |row| Ok(session(row)))?;
    Ok(damage.readable("chats", rows)?.rows)
}

/// The branch points between the root and the leaf. First messages of the session are siblings of each other.
fn points(connection: &Connection, key: SessionKey, leaf: i64) -> Result<Vec<BranchPoint>, StoreError> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE up (node, parent, depth) AS (
             SELECT node, parent, 0 FROM messages WHERE node = ?1
             UNION ALL
             SELECT m.node, m.parent, up.depth + 1 FROM messages m JOIN up ON m.node = up.parent
             WHERE up.depth < ?3
         )
         SELECT up.node, up.depth, s.node, s.id, s.revision FROM up JOIN messages s ON s.parent = up.parent
         UNION ALL
         SELECT up.node, up.depth, s.node, s.id, s.revision FROM up JOIN messages s
             ON up.parent IS NULL AND s.session = ?2 AND s.parent IS NULL
         ORDER BY 2 DESC, 3",
    )?;
    let mut rows = statement.query(params![leaf, key.0, MAX_DEPTH])?;
    let mut points: Vec<BranchPoint> = Vec::new();
    let mut present = None;
    while let Some(row) = rows.next()? {
        let (on_branch, sibling): (i64, i64) = (row.get(0)?, row.get(2)?);
        if present != Some(on_branch) {
            present = Some(on_branch);
            points.push(BranchPoint { at: 0, choices: Vec::new() });
        }
        let Some(point) = points.last_mut() else { continue };
        if sibling == on_branch {
            point.at = point.choices.len();
        }
        point
            .choices
            .push(MessageRef { id: MessageId::new(row.get::<_, String>(3)?), revision: row.get(4)? });
    }
    points.retain(|point| point.choices.len() > 1);
    Ok(points)
}

/// Searches from the newest session of the workspace to the oldest, until enough sessions are found. Sessions of other
/// workspaces are not read.
fn search(
    connection: &Connection,
    damage: &DamageReport,
    workspace: &str,
    pattern: &str,
    limit: u32,
) -> Result<Vec<SessionRead<SessionRecord>>, StoreError> {
    // Two queries, so that both use an index: that of the list of sessions, and that of the messages of a session. The
    // body is JSON: first a cheap search in all of it, then an exact one in its texts. A body that is not JSON is damaged
    // and not found.
    let mut keys = connection.prepare_cached(
        "SELECT s.key, s.message_count, s.title LIKE ?2 ESCAPE '\\' FROM sessions s
         WHERE s.workspace = ?1 ORDER BY s.updated_at DESC, s.key DESC",
    )?;
    let mut in_messages = connection.prepare_cached(
        "SELECT 1 FROM messages c WHERE c.session = ?1 AND c.body LIKE ?2 ESCAPE '\\'
           AND CASE WHEN json_valid(c.body) THEN EXISTS (
               SELECT 1 FROM json_each(c.body, '$.parts') p WHERE p.value ->> 'text' LIKE ?2 ESCAPE '\\'
           ) END LIMIT 1",
    )?;
    let mut record =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.key = ?1"))?;
    let mut found = Vec::new();
    let mut searched = 0;
    let mut rows = keys.query(params![workspace, pattern])?;
    while found.len() < limit as usize {
        let next = rows.next().and_then(|row| match row {
            Some(row) => Ok(Some((row.get(0)?, row.get(1)?, row.get(2)?))),
            None => Ok(None),
        });
        let (key, messages, titled): (i64, i64, Option<bool>) = match next.map_err(StoreError::from) {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(StoreError::Corrupt(what)) => {
                damage.note("the list of chats", what);
                break;
            }
            Err(error) => return Err(error),
        };
        let search_messages = titled != Some(true) && searched < MAX_MESSAGES_SEARCHED;
        let read = if search_messages {
            searched += messages;
            in_messages.exists(params![key, pattern])
        } else {
            Ok(titled == Some(true))
        };
        let read = read.and_then(|matches| match matches {
            true => record.query_row([key], |row| Ok(session(row))).map(Some),
            false => Ok(None),
        });
        match read.map_err(StoreError::from).and_then(Option::transpose) {
            Ok(read) => found.extend(read),
            Err(StoreError::Corrupt(what)) => {
                damage.note(salvage::chat_name(connection, SessionKey(key)), what)
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
