//! Tools that a test controls: when they finish, what they return, whether they ask.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use policy::Need;
use protocol::ToolSpec;
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{AnyTool, Effect, Executor, InputError, PreparedCall, ToolCtx, ToolError, closure_call};

type Work = Arc<
    dyn Fn(ToolCtx, Value) -> Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>> + Send + Sync,
>;

type Asks = Arc<dyn Fn(&Value) -> Need + Send + Sync>;

const WHY: &str = "The test wants to know.";

/// A tool that runs a closure of the test, accepts any input, and counts its runs.
#[derive(Clone)]
pub struct TestTool {
    spec: ToolSpec,
    effect: Effect,
    need: Asks,
    work: Work,
    runs: Arc<AtomicUsize>,
    finished: Arc<AtomicUsize>,
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
            need: Arc::new(|_| Need::Nothing),
            work: Arc::new(move |ctx, input| Box::pin(work(ctx, input))),
            runs: Arc::default(),
            finished: Arc::default(),
        }
    }

    #[must_use]
    pub fn with_side_effect(mut self) -> Self {
        self.effect = Effect::SideEffect;
        self
    }

    #[must_use]
    pub fn that_asks(mut self) -> Self {
        self.need = Arc::new(|_| Need::Approval { why: WHY.to_owned(), always: true });
        self.with_side_effect()
    }

    /// Needs what the test says.
    #[must_use]
    pub fn that_needs(mut self, need: impl Fn(&Value) -> Need + Send + Sync + 'static) -> Self {
        self.need = Arc::new(need);
        self.with_side_effect()
    }

    /// How often it was started.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// How often it finished.
    pub fn finished(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }

    pub fn any(&self) -> Arc<dyn AnyTool> {
        Arc::new(self.clone())
    }
}

impl AnyTool for TestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn executor(&self) -> Executor {
        Executor::Server
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError> {
        let (need, input) = ((self.need)(input), input.clone());
        Ok(closure_call(need, move |ctx| {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let work = (self.work)(ctx, input);
            async move {
                let result = work.await;
                self.finished.fetch_add(1, Ordering::Relaxed);
                result
            }
        }))
    }
}

/// A gate where a tool waits for the test. Once open, it stays open.
#[derive(Clone, Default)]
pub struct ToolGate {
    arrived: Arc<watch::Sender<usize>>,
    is_open: Arc<watch::Sender<bool>>,
}

impl ToolGate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that a call has reached the gate.
    pub fn arrive(&self) {
        self.arrived.send_modify(|arrived| *arrived += 1);
    }

    /// Reaches the gate and waits until it is open.
    pub async fn pass(&self) {
        self.arrive();
        self.is_open.subscribe().wait_for(|open| *open).await.unwrap();
    }

    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Waits until this many calls have reached the gate.
    pub async fn reached_by(&self, calls: usize) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= calls).await.unwrap();
    }

    pub async fn reached(&self) {
        self.reached_by(1).await;
    }
}

/// A tool that waits at a gate, then returns its input.
pub fn gated(name: &str, gate: &ToolGate) -> TestTool {
    let gate = gate.clone();
    TestTool::new(name, move |_, input| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ok(input)
        }
    })
}

/// A tool that reaches a gate, then runs until it is cancelled.
pub fn endless(name: &str, gate: &ToolGate) -> TestTool {
    let gate = gate.clone();
    TestTool::new(name, move |ctx, _| {
        let gate = gate.clone();
        async move {
            gate.arrive();
            ctx.cancel.cancelled().await;
            Err(ToolError::Cancelled)
        }
    })
}
