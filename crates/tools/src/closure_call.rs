//! A prepared call that runs a closure: for tools that exist only at run time.

use std::{future::Future, sync::Mutex, sync::PoisonError};

use async_trait::async_trait;
use files::FileDomain;
use policy::Need;
use protocol::FileDiff;
use serde_json::Value;

use crate::{PreparedCall, ToolCtx, ToolError, WorkspaceFiles};

pub fn closure_call<F, W>(need: Need, run: F) -> Box<dyn PreparedCall>
where
    F: FnOnce(ToolCtx) -> W + Send + 'static,
    W: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    Box::new(ClosureCall { need, run: Mutex::new(run) })
}

struct ClosureCall<F> {
    need: Need,
    /// Only `run` takes it out; the lock makes the call shareable.
    run: Mutex<F>,
}

#[async_trait]
impl<F, W> PreparedCall for ClosureCall<F>
where
    F: FnOnce(ToolCtx) -> W + Send + 'static,
    W: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    fn need(&self, _: &FileDomain) -> Need {
        self.need.clone()
    }

    async fn preview(&self, _: &WorkspaceFiles) -> Result<Vec<FileDiff>, ToolError> {
        Ok(Vec::new())
    }

    async fn run(self: Box<Self>, ctx: ToolCtx) -> Result<Value, ToolError> {
        let run = self.run.into_inner().unwrap_or_else(PoisonError::into_inner);
        run(ctx).await
    }
}
