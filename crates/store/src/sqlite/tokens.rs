//! Access tokens. Only their SHA-256 is stored. A revoked token keeps its row, so that it can never be added again.

use async_trait::async_trait;
use protocol::{PrincipalId, Timestamp, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use crate::{NewToken, OwnerToken, StoreError, TokenRecord, Tokens};

const COLUMNS: &str = "id, principal, workspace, created_at, owner";

#[async_trait]
impl Tokens for SqliteStore {
    async fn token(&self, sha256: &[u8; 32]) -> Result<Option<TokenRecord>, StoreError> {
        let sha256 = *sha256;
        self.look_up(move |connection| {
            Ok(connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM tokens WHERE sha256 = ?1 AND revoked_at IS NULL"
                ))?
                .query_row([sha256.as_slice()], record)
                .optional()?)
        })
        .await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.readers
            .read(|connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM tokens WHERE revoked_at IS NULL ORDER BY id"
                ))?;
                Ok(statement.query_map([], record)?.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn add_token(&self, token: NewToken) -> Result<TokenRecord, StoreError> {
        self.writer
            .write(move |connection| {
                let id = insert(connection, &token, false)?;
                Ok(TokenRecord {
                    id,
                    principal: token.principal.clone(),
                    workspace: token.workspace.clone(),
                    created_at: token.created_at,
                    is_owner: false,
                })
            })
            .await
    }

    async fn set_owner_token(&self, sha256: &[u8; 32], at: Timestamp) -> Result<OwnerToken, StoreError> {
        let sha256 = *sha256;
        self.writer.write(move |connection| set_owner(connection, sha256, at)).await
    }

    async fn revoke_token(&self, id: i64, at: Timestamp) -> Result<bool, StoreError> {
        self.writer
            .write(move |connection| {
                let owner = connection
                    .prepare_cached("SELECT owner FROM tokens WHERE id = ?1 AND revoked_at IS NULL")?
                    .query_row([id], |row| row.get::<_, bool>(0))
                    .optional()?;
                match owner {
                    None => Ok(false),
                    Some(true) => Err(StoreError::Conflict),
                    Some(false) => revoke(connection, id, at).map(|()| true),
                }
            })
            .await
    }

    async fn was_revoked(&self, sha256: &[u8; 32]) -> Result<bool, StoreError> {
        let sha256 = *sha256;
        self.look_up(move |connection| {
            Ok(connection
                .prepare_cached("SELECT 1 FROM tokens WHERE sha256 = ?1 AND revoked_at IS NOT NULL")?
                .exists([sha256.as_slice()])?)
        })
        .await
    }
}

fn set_owner(connection: &Connection, sha256: [u8; 32], at: Timestamp) -> Result<OwnerToken, StoreError> {
    let found = connection
        .prepare_cached("SELECT id, owner, revoked_at IS NOT NULL FROM tokens WHERE sha256 = ?1")?
        .query_row([sha256.as_slice()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?))
        })
        .optional()?;
    let id = match found {
        Some((_, _, true)) => return Ok(OwnerToken::Revoked),
        Some((_, false, false)) => return Ok(OwnerToken::Taken),
        Some((id, true, false)) => id,
        None => {
            let token = NewToken {
                sha256,
                principal: PrincipalId::new("owner"),
                workspace: WorkspaceId::default_workspace(),
                created_at: at,
            };
            insert(connection, &token, true)?
        }
    };
    let others: Vec<i64> = connection
        .prepare_cached("SELECT id FROM tokens WHERE owner = 1 AND revoked_at IS NULL AND id <> ?1")?
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for &other in &others {
        revoke(connection, other, at)?;
    }
    Ok(OwnerToken::Set { replaced: others.len() })
}

fn insert(connection: &Connection, token: &NewToken, owner: bool) -> Result<i64, StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO tokens (sha256, principal, workspace, created_at, owner) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            token.sha256.as_slice(),
            token.principal.as_str(),
            token.workspace.as_str(),
            token.created_at.0,
            owner
        ])?;
    Ok(connection.last_insert_rowid())
}

/// Revokes a token and removes its sign-ins.
fn revoke(connection: &Connection, id: i64, at: Timestamp) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE tokens SET revoked_at = ?2 WHERE id = ?1")?
        .execute(params![id, at.0])?;
    connection.prepare_cached("DELETE FROM sign_ins WHERE token = ?1")?.execute([id])?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    Ok(TokenRecord {
        id: row.get(0)?,
        principal: PrincipalId::new(row.get::<_, String>(1)?),
        workspace: WorkspaceId::new(row.get::<_, String>(2)?),
        created_at: Timestamp(row.get(3)?),
        is_owner: row.get(4)?,
    })
}
