//! Agents that workspaces define: one row each, replaced whole, guarded by a version.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{AgentId, Timestamp, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, json, parse};
use crate::{DefinitionRecord, Definitions, StoreError};

const COLUMNS: &str = "workspace, id, version, created_at, updated_at, fields";

#[async_trait]
impl Definitions for SqliteStore {
    async fn definitions(&self, workspace: &WorkspaceId) -> Result<Vec<DefinitionRecord>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM agent_definitions WHERE workspace = ?1 ORDER BY name"
                ))?;
                let rows = statement.query_map([workspace.as_str()], |row| Ok(record(row)))?;
                Ok(damage.readable("definitions of agents", rows)?.rows)
            })
            .await
    }

    async fn workspaces_with_definitions(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let damage = Arc::clone(&self.damage);
        self.readers
            .read(move |connection| {
                let mut statement = connection
                    .prepare_cached("SELECT DISTINCT workspace FROM agent_definitions ORDER BY workspace")?;
                let rows = statement.query_map([], |row| {
                    Ok(row.get::<_, String>(0).map(WorkspaceId::new).map_err(StoreError::from))
                })?;
                Ok(damage.readable("definitions of agents", rows)?.rows)
            })
            .await
    }

    async fn definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
    ) -> Result<Option<DefinitionRecord>, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.look_up(move |connection| one(connection, &workspace, &id)).await
    }

    async fn add_definition(&self, new: DefinitionRecord) -> Result<(), StoreError> {
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached(
                        "INSERT INTO agent_definitions
                             (workspace, id, name, enabled, version, created_at, updated_at, fields)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute(params![
                        new.workspace.as_str(),
                        new.id.as_str(),
                        new.fields.name,
                        new.fields.enabled,
                        new.version,
                        new.created_at.0,
                        new.updated_at.0,
                        json(&new.fields)?
                    ])?;
                Ok(())
            })
            .await
    }

    async fn change_definition(&self, new: DefinitionRecord, from: u32) -> Result<(), StoreError> {
        self.writer
            .write(move |connection| {
                let changed = connection
                    .prepare_cached(
                        "UPDATE agent_definitions
                         SET name = ?3, enabled = ?4, version = ?5, updated_at = ?6, fields = ?7
                         WHERE workspace = ?1 AND id = ?2 AND version = ?8",
                    )?
                    .execute(params![
                        new.workspace.as_str(),
                        new.id.as_str(),
                        new.fields.name,
                        new.fields.enabled,
                        new.version,
                        new.updated_at.0,
                        json(&new.fields)?,
                        from
                    ])?;
                if changed == 1 { Ok(()) } else { Err(StoreError::Conflict) }
            })
            .await
    }

    async fn remove_definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
        version: u32,
    ) -> Result<(), StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.writer
            .write(move |connection| {
                let removed = connection
                    .prepare_cached(
                        "DELETE FROM agent_definitions WHERE workspace = ?1 AND id = ?2 AND version = ?3",
                    )?
                    .execute(params![workspace.as_str(), id.as_str(), version])?;
                if removed == 1 { Ok(()) } else { Err(StoreError::Conflict) }
            })
            .await
    }
}

fn one(
    connection: &Connection,
    workspace: &WorkspaceId,
    id: &AgentId,
) -> Result<Option<DefinitionRecord>, StoreError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM agent_definitions WHERE workspace = ?1 AND id = ?2"))?
        .query_row([workspace.as_str(), id.as_str()], |row| Ok(record(row)))
        .optional()?
        .transpose()
}

fn record(row: &Row<'_>) -> Result<DefinitionRecord, StoreError> {
    Ok(DefinitionRecord {
        workspace: WorkspaceId::new(row.get::<_, String>(0)?),
        id: AgentId::new(row.get::<_, String>(1)?),
        version: row.get(2)?,
        created_at: Timestamp(row.get(3)?),
        updated_at: Timestamp(row.get(4)?),
        fields: parse(&row.get::<_, String>(5)?)?,
    })
}
