//! A [`ToolCtx`] for unit tests: fixed time, recorded showing, a session with chosen notes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use protocol::{Clock, Timestamp, ToolCallId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{AnyTool, Emit, Limits, Notes, Outcome, ToolCtx, ToolError, execute};

/// 2026-03-01T12:15:07.089Z, a Sunday.
pub(crate) const NOW: i64 = 1_772_367_307_089;

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOW)
    }
}

/// What was shown, in order; also the session's notes.
#[derive(Default)]
pub(crate) struct Shown {
    pub all: Mutex<Vec<Value>>,
    pub kept: Mutex<HashMap<String, Value>>,
}

impl Shown {
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
impl Emit for Shown {
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
impl Notes for Shown {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        Ok(self.kept.lock().unwrap().get(name).cloned())
    }
}

pub(crate) fn ctx(shown: &Arc<Shown>) -> ToolCtx {
    ToolCtx {
        call: ToolCallId::new("call_1"),
        cancel: CancellationToken::new(),
        clock: Arc::new(FixedClock),
        timezone: None,
        emit: Arc::clone(shown) as Arc<dyn Emit>,
        notes: Arc::clone(shown) as Arc<dyn Notes>,
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
