//! Stores the files that a tool call makes.

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{Artifact, ArtifactId, IdSource, ToolCallId, WorkspaceId};
use store::{Store, StoreError};
use tokio::sync::mpsc;
use tools::{Artifacts, ToolError};

use super::progress::Signal;

/// The largest file a call may make.
const LARGEST: usize = 64 << 20;
const LONGEST_NAME: usize = 120;

/// The files of one call. A file is stored first; then the driver writes the event that refers to it.
pub(super) struct CallArtifacts {
    pub(super) store: Arc<dyn Store>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) workspace: WorkspaceId,
    pub(super) call: ToolCallId,
    pub(super) signals: mpsc::Sender<Signal>,
}

impl CallArtifacts {
    async fn tell(&self, artifact: Artifact) -> Result<Artifact, ToolError> {
        // A run that has ended writes no event: the file is removed at the next start.
        self.signals.send(Signal::Artifact(artifact.clone())).await.map_err(|_| ToolError::Cancelled)?;
        Ok(artifact)
    }
}

fn fatal(error: StoreError) -> ToolError {
    ToolError::Fatal(Box::new(error))
}

#[async_trait]
impl Artifacts for CallArtifacts {
    async fn begin(&self) -> Result<(ArtifactId, File), ToolError> {
        let id = self.ids.artifact();
        let file = self.store.begin_file(&self.workspace, &id).await.map_err(fatal)?;
        Ok((id, file))
    }

    async fn keep_begun(&self, id: &ArtifactId, name: &str, media_type: &str) -> Result<Artifact, ToolError> {
        self.store.finish_file(&self.workspace, id).await.map_err(fatal)?;
        let file = self.store.open_file(&self.workspace, id).await.map_err(fatal)?;
        let bytes = file.metadata().map_err(|error| ToolError::Fatal(Box::new(error)))?.len();
        self.tell(Artifact {
            id: id.clone(),
            name: plain_name(name),
            media_type: media_type.to_owned(),
            bytes,
            tool_call_id: Some(self.call.clone()),
        })
        .await
    }

    async fn discard(&self, id: &ArtifactId) {
        self.store.discard_file(&self.workspace, id).await;
    }

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
        self.store.put_file(&self.workspace, &artifact.id, bytes).await.map_err(fatal)?;
        self.tell(artifact).await
    }
}

/// Replaces characters that have a meaning in a file system.
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
