//! Access tokens: only their SHA-256 is kept.

use async_trait::async_trait;
use protocol::{PrincipalId, Timestamp, WorkspaceId};
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteStore;
use crate::{NewToken, StoreError, TokenRecord, Tokens};

#[async_trait]
impl Tokens for SqliteStore {
    async fn token(&self, sha256: &[u8; 32]) -> Result<Option<TokenRecord>, StoreError> {
        let sha256 = *sha256;
        self.look_up(move |connection| {
            Ok(connection
                .prepare_cached("SELECT id, principal, workspace, created_at FROM tokens WHERE sha256 = ?1")?
                .query_row([sha256.as_slice()], record)
                .optional()?)
        })
        .await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.readers
            .read(|connection| {
                let mut statement = connection
                    .prepare_cached("SELECT id, principal, workspace, created_at FROM tokens ORDER BY id")?;
                Ok(statement.query_map([], record)?.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn add_token(&self, token: NewToken) -> Result<TokenRecord, StoreError> {
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached(
                        "INSERT INTO tokens (sha256, principal, workspace, created_at) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![
                        token.sha256.as_slice(),
                        token.principal.as_str(),
                        token.workspace.as_str(),
                        token.created_at.0
                    ])?;
                Ok(TokenRecord {
                    id: connection.last_insert_rowid(),
                    principal: token.principal.clone(),
                    workspace: token.workspace.clone(),
                    created_at: token.created_at,
                })
            })
            .await
    }

    async fn remove_token(&self, id: i64) -> Result<bool, StoreError> {
        self.writer
            .write(move |connection| {
                Ok(connection.prepare_cached("DELETE FROM tokens WHERE id = ?1")?.execute([id])? == 1)
            })
            .await
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    Ok(TokenRecord {
        id: row.get(0)?,
        principal: PrincipalId::new(row.get::<_, String>(1)?),
        workspace: WorkspaceId::new(row.get::<_, String>(2)?),
        created_at: Timestamp(row.get(3)?),
    })
}
