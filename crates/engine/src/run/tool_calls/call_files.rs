//! The files of the workspace as one call reaches them. What it reads and changes is recorded in the session's log.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{SessionEvent, ToolCall};
use store::StoreError;
use tokio::sync::Mutex;
use tools::WorkspaceFiles;

use crate::{
    files::{call_files::CallFiles, change::EventSink},
    run::{agent_log::AgentLog, context::AgentContext},
};

pub(super) fn call_files(run: &AgentContext, log: &AgentLog, call: &ToolCall) -> WorkspaceFiles {
    let files = &run.run.files;
    let record = CallFiles {
        run: Arc::clone(files),
        sink: Arc::new(LogSink { log: Mutex::new(log.share()) }),
        message: run.position.message.clone(),
        call: call.id.clone(),
        tool: call.name.clone(),
        agent: run.position.path.clone(),
        cancel: run.cancel.child_token(),
    };
    let rules = run.tree.rules.in_force();
    WorkspaceFiles {
        domain: files.workspace.domain.clone(),
        record: Arc::new(record),
        may_read: Arc::new(move |path| rules.may_read(path)),
        edit_limit: run.position.edit_limit.clone(),
    }
}

/// Appends to the session's log beside the agent.
struct LogSink {
    log: Mutex<AgentLog>,
}

#[async_trait]
impl EventSink for LogSink {
    async fn append(&self, events: Vec<SessionEvent>) -> Result<(), StoreError> {
        self.log.lock().await.append_events(events, Vec::new()).await
    }
}
