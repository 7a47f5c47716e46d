//! Browsers that are signed in. Only the SHA-256 of their cookie is stored.

use async_trait::async_trait;
use protocol::{PrincipalId, Timestamp, WorkspaceId};
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteStore;
use crate::{NewSignIn, SignInRecord, SignIns, StoreError, access::MAX_SIGN_INS};

/// Joined with the token of the sign-in, which must not be revoked.
const SELECT: &str = "SELECT s.id, s.token, t.principal, t.workspace, t.owner, s.created_at, s.last_used_at,
        s.expires_at, s.user_agent
    FROM sign_ins s JOIN tokens t ON t.id = s.token AND t.revoked_at IS NULL";

#[async_trait]
impl SignIns for SqliteStore {
    async fn sign_in(&self, sha256: &[u8; 32], now: Timestamp) -> Result<Option<SignInRecord>, StoreError> {
        let sha256 = *sha256;
        self.look_up(move |connection| {
            Ok(connection
                .prepare_cached(&format!("{SELECT} WHERE s.sha256 = ?1 AND s.expires_at > ?2"))?
                .query_row(params![sha256.as_slice(), now.0], record)
                .optional()?)
        })
        .await
    }

    async fn sign_ins(&self, now: Timestamp) -> Result<Vec<SignInRecord>, StoreError> {
        self.readers
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "{SELECT} WHERE s.expires_at > ?1 ORDER BY s.last_used_at DESC, s.id DESC"
                ))?;
                Ok(statement.query_map([now.0], record)?.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn add_sign_in(&self, new: NewSignIn) -> Result<bool, StoreError> {
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached("DELETE FROM sign_ins WHERE expires_at <= ?1")?
                    .execute([new.created_at.0])?;
                let added = connection
                    .prepare_cached(
                        "INSERT INTO sign_ins (sha256, token, created_at, last_used_at, expires_at, user_agent)
                         SELECT ?1, id, ?3, ?3, ?4, ?5 FROM tokens WHERE id = ?2 AND revoked_at IS NULL",
                    )?
                    .execute(params![
                        new.sha256.as_slice(),
                        new.token,
                        new.created_at.0,
                        new.expires_at.0,
                        new.user_agent
                    ])?;
                connection
                    .prepare_cached(
                        "DELETE FROM sign_ins WHERE token = ?1 AND id NOT IN (SELECT id FROM sign_ins
                         WHERE token = ?1 ORDER BY last_used_at DESC, id DESC LIMIT ?2)",
                    )?
                    .execute(params![new.token, MAX_SIGN_INS])?;
                Ok(added == 1)
            })
            .await
    }

    async fn use_sign_in(&self, id: i64, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        self.writer
            .write(move |connection| {
                connection
                    .prepare_cached(
                        "UPDATE sign_ins SET last_used_at = ?2, expires_at = ?3 WHERE id = ?1 AND last_used_at < ?2",
                    )?
                    .execute(params![id, at.0, expires_at.0])?;
                Ok(())
            })
            .await
    }

    async fn revoke_sign_in(&self, id: i64) -> Result<bool, StoreError> {
        self.writer
            .write(move |connection| {
                Ok(connection.prepare_cached("DELETE FROM sign_ins WHERE id = ?1")?.execute([id])? == 1)
            })
            .await
    }

    async fn revocations(&self) -> Result<i64, StoreError> {
        self.look_up(|connection| {
            Ok(connection.prepare_cached("SELECT count FROM revocations")?.query_row([], |row| row.get(0))?)
        })
        .await
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<SignInRecord> {
    Ok(SignInRecord {
        id: row.get(0)?,
        token: row.get(1)?,
        principal: PrincipalId::new(row.get::<_, String>(2)?),
        workspace: WorkspaceId::new(row.get::<_, String>(3)?),
        is_owner: row.get(4)?,
        created_at: Timestamp(row.get(5)?),
        last_used_at: Timestamp(row.get(6)?),
        expires_at: Timestamp(row.get(7)?),
        user_agent: row.get(8)?,
    })
}
