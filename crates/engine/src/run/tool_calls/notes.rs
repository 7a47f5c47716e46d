//! What a tool can look up of earlier data parts: those of the session for the main agent, its own for a sub-agent.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use protocol::Part;
use serde_json::Value;
use tools::{Notes, ToolError};

use crate::{
    log::session_log::SessionLog,
    run::{agent_log::AgentLog, context::AgentContext, frame::Frame},
};

pub(super) fn notes(run: &AgentContext, frame: &Frame, log: &AgentLog) -> Arc<dyn Notes> {
    if run.position.is_main() {
        return Arc::new(SessionNotes { log: Arc::clone(log.session_log()) });
    }
    let mut latest = HashMap::new();
    for part in &frame.message().parts {
        if let Part::Data { name, data, .. } = part {
            latest.insert(name.clone(), data.clone());
        }
    }
    Arc::new(OwnNotes { latest })
}

struct OwnNotes {
    latest: HashMap<String, Value>,
}

#[async_trait]
impl Notes for OwnNotes {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        Ok(self.latest.get(name).cloned())
    }
}

struct SessionNotes {
    log: Arc<SessionLog>,
}

#[async_trait]
impl Notes for SessionNotes {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        let read = async {
            // A part pushed a moment ago may not be stored yet.
            self.log.flush(false).await?;
            match self.log.key() {
                Some(key) => self.log.store().latest_data(key, name).await,
                None => Ok(None),
            }
        };
        read.await.map_err(|error| ToolError::Fatal(Box::new(error)))
    }
}
