//! Finding sessions again: pins, search, what waits, where a session branches.

use async_trait::async_trait;
use protocol::{MessageId, MessageRef, SessionId, Timestamp, WorkspaceId};
use rusqlite::{Connection, params};

use super::{
    SqliteStore,
    apply::node,
    interactions::{COLUMNS as INTERACTION, interaction},
    sessions::{COLUMNS, TABLES, session},
};
use crate::{BranchPoint, SessionKey, SessionRecord, Shelf, StoreError, Waiting};

/// A search looks at this many of the newest messages; titles are always looked at.
const MESSAGES_LOOKED_AT: u32 = 50_000;
/// How far up from the leaf siblings are looked for.
const DEEPEST: u32 = 10_000;

#[async_trait]
impl Shelf for SqliteStore {
    async fn pin_session(&self, key: SessionKey, at: Option<Timestamp>) -> Result<(), StoreError> {
        self.writer
            .write(move |connection| {
                match at {
                    Some(at) => connection
                        .prepare_cached("INSERT OR REPLACE INTO pins (session, at) VALUES (?1, ?2)")?
                        .execute(params![key.0, at.0])?,
                    None => {
                        connection.prepare_cached("DELETE FROM pins WHERE session = ?1")?.execute([key.0])?
                    }
                };
                Ok(())
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
        let workspace = workspace.clone();
        self.readers
            .read(move |connection| {
                let query = format!(
                    "SELECT {COLUMNS} FROM pins p CROSS JOIN {TABLES}
                     WHERE s.key = p.session AND s.workspace = ?1 ORDER BY p.at DESC LIMIT ?2"
                );
                records(connection, &query, params![workspace.as_str(), limit])
            })
            .await
    }

    async fn search_sessions(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let workspace = workspace.clone();
        let pattern = format!("%{}%", escaped(text));
        self.readers
            .read(move |connection| {
                // The body is JSON: the cheap look at all of it comes first, the exact one at its texts second.
                let query = format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE s.workspace = ?1 AND (
                         s.title LIKE ?2 ESCAPE '\\' OR s.key IN (
                             SELECT c.session FROM (
                                 SELECT session, body FROM messages ORDER BY node DESC LIMIT ?4
                             ) c WHERE c.body LIKE ?2 ESCAPE '\\' AND EXISTS (
                                 SELECT 1 FROM json_each(c.body, '$.parts') p
                                 WHERE p.value ->> 'text' LIKE ?2 ESCAPE '\\'
                             )
                         )
                     ) ORDER BY s.updated_at DESC, s.key DESC LIMIT ?3"
                );
                records(connection, &query, params![workspace.as_str(), pattern, limit, MESSAGES_LOOKED_AT])
            })
            .await
    }

    async fn waiting(&self, workspace: &WorkspaceId, limit: u32) -> Result<Vec<Waiting>, StoreError> {
        let workspace = workspace.clone();
        self.look_up(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {INTERACTION}, s.id, s.title FROM interactions i JOIN sessions s ON s.key = i.session
                 WHERE i.status = 'pending' AND s.workspace = ?1 ORDER BY i.asked_at, i.asked_seq LIMIT ?2"
            ))?;
            let rows = statement.query_map(params![workspace.as_str(), limit], |row| {
                let (session, title) = (SessionId::new(row.get::<_, String>(11)?), row.get(12)?);
                Ok(interaction(row).map(|interaction| Waiting { session, title, interaction }))
            })?;
            rows.map(|row| row?).collect()
        })
        .await
    }

    async fn branch_points(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
    ) -> Result<Vec<BranchPoint>, StoreError> {
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
    query: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<SessionRecord>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map(params, |row| Ok(session(row)))?;
    rows.map(|row| row?).collect()
}

/// From the leaf upwards; the beginnings of the session are each other's siblings.
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
    let mut rows = statement.query(params![leaf, key.0, DEEPEST])?;
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

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
