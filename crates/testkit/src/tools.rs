//! Tools whose course a test holds in its hands.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use protocol::ToolSpec;
use serde_json::{Value, json};
use tools::{AnyTool, Approval, Effect, InputError, Place, PreparedCall, ToolCtx, ToolError};

type Work = Arc<dyn Fn(ToolCtx, Value) -> Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>> + Send + Sync>;

/// A tool that does what a test says, takes any input, and counts how often it ran.
#[derive(Clone)]
pub struct TestTool {
    spec: ToolSpec,
    effect: Effect,
    approval: Approval,
    work: Work,
    runs: Arc<AtomicUsize>,
}

impl TestTool {
    pub fn new<F>(name: &str, work: impl Fn(ToolCtx, Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Does what the test says.".to_owned(),
            input_schema: json!({ "type": "object" }),
        };
        Self {
            spec,
            effect: Effect::ReadOnly,
            approval: Approval::NotNeeded,
            work: Arc::new(move |ctx, input| Box::pin(work(ctx, input))),
            runs: Arc::default(),
        }
    }

    #[must_use]
    pub fn with_side_effect(mut self) -> Self {
        self.effect = Effect::SideEffect;
        self
    }

    #[must_use]
    pub fn that_asks(mut self) -> Self {
        self.approval = Approval::Ask;
        self.with_side_effect()
    }

    /// How often it was begun.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    pub fn any(&self) -> Arc<dyn AnyTool> {
        Arc::new(self.clone())
    }
}

impl AnyTool for TestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn place(&self) -> Place {
        Place::Server
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<PreparedCall, InputError> {
        let (approval, input) = (self.approval, input.clone());
        let run = move |ctx| {
            self.runs.fetch_add(1, Ordering::Relaxed);
            (self.work)(ctx, input)
        };
        Ok(PreparedCall { approval, run: Box::new(run) })
    }
}
