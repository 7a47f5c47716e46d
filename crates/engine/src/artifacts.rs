//! Files that runs make: kept by a call, listed and read by people.

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{
    Artifact, ArtifactId, ArtifactInfo, ArtifactList, IdSource, SessionId, Timestamp, ToolCallId, WorkspaceId,
};
use store::{ArtifactCursor, Store};
use tokio::sync::mpsc;
use tools::{Artifacts, ToolError};

use crate::{Engine, EngineError, run::call_tools::Signal};

/// The largest file a call may make.
const LARGEST: usize = 64 << 20;
const LONGEST_NAME: usize = 120;

/// What one call makes goes to disk first; the run is told afterwards and writes the event.
pub(crate) struct Keep {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) workspace: WorkspaceId,
    pub(crate) call: ToolCallId,
    pub(crate) show: mpsc::Sender<Signal>,
}

#[async_trait]
impl Artifacts for Keep {
    async fn keep(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Artifact, ToolError> {
        if bytes.len() > LARGEST {
            return Err(ToolError::Report(format!("a file may have at most {LARGEST} bytes")));
        }
        let artifact = Artifact {
            id: self.ids.artifact(),
            name: plain_name(name),
            media_type: media_type.to_owned(),
            bytes: bytes.len() as u64,
            tool_call_id: Some(self.call.clone()),
        };
        self.store
            .put_file(&self.workspace, &artifact.id, bytes)
            .await
            .map_err(|error| ToolError::Fatal(Box::new(error)))?;
        // A run that does not listen any more writes no event: the file is swept at the next start.
        self.show.send(Signal::Artifact(artifact.clone())).await.map_err(|_| ToolError::Cancelled)?;
        Ok(artifact)
    }
}

/// A name that means nothing to any file system.
fn plain_name(name: &str) -> String {
    let plain = |character: char| match character {
        '/' | '\\' | ':' | '"' => '_',
        control if control.is_control() => '_',
        other => other,
    };
    let name: String = name.chars().map(plain).take(LONGEST_NAME).collect();
    match name.trim_matches(['.', ' ']) {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

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
        let page = self.parts.store.artifacts(workspace, key, before, limit).await?;
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
        let info = self.parts.store.artifact(workspace, id).await?.ok_or(EngineError::ArtifactNotFound)?;
        let file = self.parts.store.open_file(workspace, id).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        assert_eq!(plain_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(plain_name("a\"b\nc.txt"), "a_b_c.txt");
        assert_eq!(plain_name(".."), "file");
        assert_eq!(plain_name("报告.pdf"), "报告.pdf");
    }
}
