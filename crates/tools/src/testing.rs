//! A [`ToolCtx`] for unit tests: fixed time, recorded output, a session with chosen notes.

mod folder;
mod memory_record;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use files::{FileDomain, HardLinks};
use protocol::{Artifact, ArtifactId, Clock, Timestamp, ToolCallId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) use self::folder::Folder;
use self::memory_record::MemoryRecord;

use crate::{
    AnyTool, Artifacts, EditLimit, Emit, Limits, NoCommands, Notes, Outcome, ToolCtx, ToolError,
    WorkspaceFiles, execute,
};

/// 2026-03-01T12:15:07.089Z, a Sunday.
pub(crate) const NOW: i64 = 1_772_367_307_089;

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOW)
    }
}

/// Records what a tool emits, in order; also holds the session's notes.
#[derive(Default)]
pub(crate) struct Recorder {
    pub all: Mutex<Vec<Value>>,
    pub kept: Mutex<HashMap<String, Value>>,
}

impl Recorder {
    fn add(&self, shown: Value) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(shown);
    }

    pub fn all(&self) -> Vec<Value> {
        self.all.lock().unwrap().clone()
    }

    pub fn keep(&self, name: &str, data: Value) {
        self.kept.lock().unwrap().insert(name.to_owned(), data);
    }
}

#[async_trait]
impl Emit for Recorder {
    async fn progress(&self, output: Value) {
        self.add(json!({ "progress": output }));
    }

    async fn data(&self, name: &str, id: Option<&str>, data: Value) {
        self.add(json!({ "data": name, "id": id, "value": data }));
        self.keep(name, data);
    }

    async fn transient(&self, name: &str, data: Value) {
        self.add(json!({ "transient": name, "value": data }));
    }
}

#[async_trait]
impl Notes for Recorder {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        Ok(self.kept.lock().unwrap().get(name).cloned())
    }
}

#[async_trait]
impl Artifacts for Recorder {
    async fn begin(&self) -> Result<(ArtifactId, std::fs::File), ToolError> {
        Ok((ArtifactId::new("art_2"), tempfile::tempfile().unwrap()))
    }

    async fn keep_begun(&self, id: &ArtifactId, name: &str, media_type: &str) -> Result<Artifact, ToolError> {
        let artifact = Artifact {
            id: id.clone(),
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            bytes: 0,
            tool_call_id: None,
        };
        self.add(json!({ "kept": artifact }));
        Ok(artifact)
    }

    async fn discard(&self, _: &ArtifactId) {}

    async fn keep(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Artifact, ToolError> {
        let artifact = Artifact {
            id: ArtifactId::new("art_1"),
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            bytes: bytes.len() as u64,
            tool_call_id: Some(ToolCallId::new("call_1")),
        };
        self.add(json!({ "kept": artifact, "text": String::from_utf8_lossy(&bytes) }));
        Ok(artifact)
    }
}

/// The files of a new, empty folder, which is removed with them, and a record in memory.
pub(crate) fn files() -> WorkspaceFiles {
    let folder = tempfile::tempdir().unwrap();
    let domain = FileDomain::open(folder.path(), &[], HardLinks::Refuse).unwrap();
    recorded(domain, Some(folder))
}

/// The files of a folder, and a record in memory; contents are kept beside it.
pub(crate) fn files_in(folder: &Path) -> WorkspaceFiles {
    recorded(FileDomain::open(folder, &[], HardLinks::Refuse).unwrap(), None)
}

fn recorded(domain: FileDomain, workdir: Option<TempDir>) -> WorkspaceFiles {
    let record = Arc::new(MemoryRecord::new(domain.clone(), workdir));
    WorkspaceFiles { domain, record, may_read: Arc::new(|_| true), edit_limit: EditLimit::default() }
}

pub(crate) fn ctx(shown: &Arc<Recorder>) -> ToolCtx {
    ToolCtx {
        call: ToolCallId::new("call_1"),
        cancel: CancellationToken::new(),
        clock: Arc::new(FixedClock),
        timezone: None,
        tool: "tool".to_owned(),
        emit: Arc::clone(shown) as Arc<dyn Emit>,
        notes: Arc::clone(shown) as Arc<dyn Notes>,
        artifacts: Arc::clone(shown) as Arc<dyn Artifacts>,
        commands: Arc::new(NoCommands),
        files: files(),
    }
}

/// Checks and runs a call; `Err` is what the model would read.
pub(crate) async fn call_in(ctx: ToolCtx, tool: Arc<dyn AnyTool>, input: Value) -> Result<Value, String> {
    let prepared = tool.prepare(&input).map_err(|error| error.to_string())?;
    match execute(prepared, ctx, Limits::default()).await {
        Outcome::Done(output) => Ok(output),
        Outcome::Failed(message) => Err(message),
        other => Err(format!("{other:?}")),
    }
}
