//! Files that tool calls made, as people list and read them.

use std::fs::File;

use protocol::{ArtifactId, ArtifactInfo, ArtifactList, SessionId, Timestamp, WorkspaceId};
use store::ArtifactCursor;

use crate::{Engine, EngineError};

impl Engine {
    /// Newest first, of one chat or of all.
    pub async fn artifacts(
        &self,
        workspace: &WorkspaceId,
        session: Option<&SessionId>,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<ArtifactList, EngineError> {
        let before = cursor.map(parse_cursor).transpose()?;
        let key = match session {
            Some(session) => Some(self.record(workspace, session).await?.key),
            None => None,
        };
        let page = self.services.store.artifacts(workspace, key, before, limit).await?;
        let next_cursor = page
            .artifacts
            .last()
            .filter(|_| page.more)
            .map(|last| format!("{}-{}", last.created_at.0, last.artifact.id));
        Ok(ArtifactList { artifacts: page.artifacts, next_cursor })
    }

    pub async fn open_artifact(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
    ) -> Result<(ArtifactInfo, File), EngineError> {
        let info = self.services.store.artifact(workspace, id).await?.ok_or(EngineError::ArtifactNotFound)?;
        let file = self.services.store.open_file(workspace, id).await?;
        Ok((info, file))
    }
}

fn parse_cursor(cursor: &str) -> Result<ArtifactCursor, EngineError> {
    cursor
        .split_once('-')
        .and_then(|(time, id)| {
            Some(ArtifactCursor {
                created_at: Timestamp(time.parse().ok()?),
                id: ArtifactId::from_outside(id).ok()?,
            })
        })
        .ok_or_else(|| {
            EngineError::InvalidMessage("cursor must be the nextCursor of the page before.".to_owned())
        })
}
