//! Artifacts: a table that is derived from the log, and files beside the database (`files.rs`).

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{
    Artifact, ArtifactId, ArtifactInfo, MessageId, SessionId, Timestamp, ToolCallId, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, apply::TableWriter, signed, unsigned};
use crate::{ArtifactCursor, ArtifactPage, Artifacts, SessionKey, StoreError};

const COLUMNS: &str = "a.id, a.name, a.media_type, a.bytes, a.tool_call, s.id, a.message, a.created_at";
const TABLES: &str = "artifacts a JOIN sessions s ON s.key = a.session";

#[async_trait]
impl Artifacts for SqliteStore {
    async fn put_file(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
        bytes: Vec<u8>,
    ) -> Result<(), StoreError> {
        let (files, workspace, id) = (Arc::clone(&self.files), workspace.clone(), id.clone());
        blocking(move || Ok(files.put(&workspace, &id, &bytes)?)).await
    }

    async fn begin_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError> {
        let (files, workspace, id) = (Arc::clone(&self.files), workspace.clone(), id.clone());
        blocking(move || Ok(files.begin(&workspace, &id)?)).await
    }

    async fn finish_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<(), StoreError> {
        let (files, workspace, id) = (Arc::clone(&self.files), workspace.clone(), id.clone());
        blocking(move || Ok(files.finish(&workspace, &id)?)).await
    }

    async fn discard_file(&self, workspace: &WorkspaceId, id: &ArtifactId) {
        let (files, workspace, id) = (Arc::clone(&self.files), workspace.clone(), id.clone());
        let removed = blocking(move || {
            files.discard(&workspace, &id);
            Ok(())
        });
        // Only the end of the runtime interrupts it; the next start removes the file.
        drop(removed.await);
    }

    async fn open_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError> {
        let (files, workspace, id) = (Arc::clone(&self.files), workspace.clone(), id.clone());
        blocking(move || Ok(files.open(&workspace, &id)?)).await
    }

    async fn sweep_files(&self) -> Result<usize, StoreError> {
        let files = Arc::clone(&self.files);
        self.readers
            .read(move |connection| {
                // A row without its file may be a damaged row, and the file it refers to would look unused. So remove
                // nothing in that case.
                let mut all = connection.prepare_cached("SELECT workspace, id FROM artifacts")?;
                for row in all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
                    let (workspace, id): (String, String) = row?;
                    if !files.has(&WorkspaceId::new(workspace), &ArtifactId::new(id.as_str())) {
                        tracing::warn!(
                            file = id,
                            "the file of an artifact is missing; unused files are not removed this time"
                        );
                        return Ok(0);
                    }
                }
                let mut known = connection.prepare_cached("SELECT 1 FROM artifacts WHERE id = ?1")?;
                // Keep a file whose row cannot be looked up.
                let is_known = |id: &ArtifactId| known.exists([id.as_str()]).unwrap_or(true);
                let is_known = std::cell::RefCell::new(is_known);
                Ok(files.sweep(|id| (is_known.borrow_mut())(id))?)
            })
            .await
    }

    async fn artifact(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactInfo>, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.look_up(move |connection| {
            Ok(connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1 AND a.workspace = ?2"
                ))?
                .query_row(params![id.as_str(), workspace.as_str()], info)
                .optional()?)
        })
        .await
    }

    async fn artifacts(
        &self,
        workspace: &WorkspaceId,
        session: Option<SessionKey>,
        before: Option<ArtifactCursor>,
        limit: u32,
    ) -> Result<ArtifactPage, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        self.readers
            .read(move |connection| {
                let (scope, owner): (_, &dyn rusqlite::ToSql) = match &session {
                    Some(key) => ("a.session", &key.0),
                    None => ("a.workspace", &workspace.as_str()),
                };
                let (time, id) = match &before {
                    Some(ArtifactCursor { created_at, id }) => (created_at.0, id.as_str()),
                    None => (i64::MAX, ""),
                };
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM {TABLES}
                     WHERE {scope} = ?1 AND (a.created_at, a.id) < (?2, ?3)
                     ORDER BY a.created_at DESC, a.id DESC LIMIT ?4"
                ))?;
                let rows = statement.query_map(params![owner, time, id, i64::from(limit) + 1], |row| {
                    Ok(info(row).map_err(StoreError::from))
                })?;
                let mut artifacts = damage.readable("files", rows)?.rows;
                let more = artifacts.len() > limit as usize;
                artifacts.truncate(limit as usize);
                Ok(ArtifactPage { artifacts, more })
            })
            .await
    }
}

impl TableWriter<'_> {
    pub(super) fn insert_artifact(&self, message: &MessageId, artifact: &Artifact) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO artifacts
                   (id, workspace, session, message, tool_call, name, media_type, bytes, created_at)
                 SELECT ?1, workspace, key, ?3, ?4, ?5, ?6, ?7, ?8 FROM sessions WHERE key = ?2",
            )?
            .execute(params![
                artifact.id.as_str(),
                self.session.0,
                message.as_str(),
                artifact.tool_call_id.as_ref().map(ToolCallId::as_str),
                artifact.name,
                artifact.media_type,
                signed(artifact.bytes),
                self.at.0
            ])?;
        Ok(())
    }
}

/// The files of a session, by workspace and id.
pub(super) fn of_session(
    connection: &Connection,
    session: SessionKey,
) -> Result<Vec<(WorkspaceId, ArtifactId)>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT workspace, id FROM artifacts WHERE session = ?1")?;
    let file = |row: &Row<'_>| {
        Ok((WorkspaceId::new(row.get::<_, String>(0)?), ArtifactId::new(row.get::<_, String>(1)?)))
    };
    Ok(statement.query_map([session.0], file)?.collect::<Result<_, _>>()?)
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::Unavailable(Box::new(error)))?
}

fn info(row: &Row<'_>) -> rusqlite::Result<ArtifactInfo> {
    Ok(ArtifactInfo {
        artifact: Artifact {
            id: ArtifactId::new(row.get::<_, String>(0)?),
            name: row.get(1)?,
            media_type: row.get(2)?,
            bytes: unsigned(row.get(3)?),
            tool_call_id: row.get::<_, Option<String>>(4)?.map(ToolCallId::new),
        },
        chat_id: SessionId::new(row.get::<_, String>(5)?),
        message_id: MessageId::new(row.get::<_, String>(6)?),
        created_at: Timestamp(row.get(7)?),
    })
}
