//! Runs a prepared call and bounds its time and its output; no other code does.
//!
//! Whether a tool finishes, fails, hangs or panics, the caller gets exactly one [`Outcome`], and the tool emits nothing
//! after it. A tool that blocks its thread cannot be stopped; tools must await instead.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::FutureExt;
use protocol::{Artifact, ToolOutcome};
use serde_json::Value;
use tokio::{sync::Mutex, time};
use tokio_util::sync::CancellationToken;

use crate::{
    Artifacts, Emit, PreparedCall, ToolCtx, ToolError,
    bound::{self, LongOutput},
};

/// How long a cancelled tool may clean up before it is dropped. Callers wait longer than this.
pub const GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Of the serialised output.
    pub output_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(120), output_chars: 50_000 }
    }
}

/// How a call ended.
#[derive(Debug)]
pub enum Outcome {
    Done(Value),
    /// For the model and the person.
    Failed(String),
    /// The run was cancelled, or the tool reports it.
    Cancelled,
    /// A defect of ours: the source is for the log, the model only learns that the tool failed.
    Defect(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Outcome> for ToolOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(output) => Self::Done { output },
            Outcome::Failed(message) => Self::Failed { message },
            Outcome::Cancelled => Self::Failed { message: "cancelled before it finished".to_owned() },
            Outcome::Defect(source) => Self::Failed { message: ToolError::Fatal(source).to_string() },
        }
    }
}

pub async fn execute(call: Box<dyn PreparedCall>, ctx: ToolCtx, limits: Limits) -> Outcome {
    let limits = Limits { time: call.time_limit().unwrap_or(limits.time), ..limits };
    let run_cancelled = ctx.cancel.clone();
    if run_cancelled.is_cancelled() {
        return Outcome::Cancelled;
    }
    let token = run_cancelled.child_token();
    // Cancels also when this future is dropped: nothing that the tool started may outlive the call.
    let _cancel_at_the_end = token.clone().drop_guard();
    let emit = Arc::new(BoundedEmit::new(Arc::clone(&ctx.emit)));
    let archive = OutputArchive { tool: ctx.tool.clone(), artifacts: Arc::clone(&ctx.artifacts) };
    let ctx = ToolCtx { cancel: token.clone(), emit: Arc::clone(&emit) as Arc<dyn Emit>, ..ctx };

    let mut work = Box::pin(AssertUnwindSafe(async move { call.run(ctx).await }).catch_unwind());
    let stop = tokio::select! {
        biased;
        ended = &mut work => Stop::Ended(ended),
        () = run_cancelled.cancelled() => Stop::RunCancelled,
        () = time::sleep(limits.time) => Stop::TimeOut,
    };
    let outcome = match stop {
        // A tool may notice the cancellation first and end by itself; its error is only a consequence.
        Stop::Ended(ended) if run_cancelled.is_cancelled() => {
            stopped_outcome(&Stop::RunCancelled, outcome_of(ended), limits.time)
        }
        Stop::Ended(ended) => outcome_of(ended),
        early @ (Stop::RunCancelled | Stop::TimeOut) => {
            token.cancel();
            let outcome = time::timeout(GRACE, &mut work).await.map_or(Outcome::Cancelled, outcome_of);
            stopped_outcome(&early, outcome, limits.time)
        }
    };
    drop(work); // before closing: a tool that was stopped while it emitted something holds the lock
    emit.close().await;
    bounded(outcome, limits.output_chars, &archive).await
}

type Ended = Result<Result<Value, ToolError>, Box<dyn Any + Send>>;

enum Stop {
    Ended(Ended),
    RunCancelled,
    TimeOut,
}

fn outcome_of(ended: Ended) -> Outcome {
    match ended {
        Ok(Ok(output)) => Outcome::Done(output),
        Ok(Err(ToolError::Report(message))) => Outcome::Failed(message),
        Ok(Err(error @ ToolError::Failed { .. })) => Outcome::Failed(error.to_string()),
        Ok(Err(ToolError::Cancelled)) => Outcome::Cancelled,
        Ok(Err(ToolError::Fatal(source))) => Outcome::Defect(source),
        Err(panic) => Outcome::Defect(Box::new(Panicked(panic_text(panic.as_ref()).to_owned()))),
    }
}

/// Work that was completed in spite of the stop is reported as done: its effect has happened.
fn stopped_outcome(stop: &Stop, outcome: Outcome, limit: Duration) -> Outcome {
    match (stop, outcome) {
        (_, done @ Outcome::Done(_)) => done,
        (_, defect @ Outcome::Defect(_)) => defect,
        (Stop::TimeOut, Outcome::Failed(_) | Outcome::Cancelled) => Outcome::Failed(format!(
            "the tool did not finish within its time limit of {limit:?} and was stopped"
        )),
        (_, Outcome::Failed(_) | Outcome::Cancelled) => Outcome::Cancelled,
    }
}

async fn bounded(outcome: Outcome, limit: usize, archive: &OutputArchive) -> Outcome {
    match outcome {
        Outcome::Done(output) => Outcome::Done(match LongOutput::of(output, limit) {
            Ok(output) => output,
            Err(long) => {
                let kept = archive.keep(&long).await;
                long.preview(limit, kept.as_ref())
            }
        }),
        Outcome::Failed(message) => Outcome::Failed(bound::text(message, limit)),
        short @ (Outcome::Cancelled | Outcome::Defect(_)) => short,
    }
}

/// Stores output that is too long for a message.
struct OutputArchive {
    tool: String,
    artifacts: Arc<dyn Artifacts>,
}

impl OutputArchive {
    /// Stores the whole output; `None` if that fails, then there is only the preview.
    async fn keep(&self, long: &LongOutput) -> Option<Artifact> {
        let name = format!("{}-output.{}", self.tool, long.extension());
        let bytes = long.text().as_bytes().to_vec();
        self.artifacts.keep(&name, long.media_type(), bytes).await.ok()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the tool panicked: {0}")]
struct Panicked(String);

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Passes on what a tool emits until the call has ended, bounded and one at a time.
struct BoundedEmit {
    inner: Arc<dyn Emit>,
    ended: CancellationToken,
    /// Held while something is passed on; once it is acquired after `ended`, nothing more follows.
    emitting: Mutex<()>,
}

impl BoundedEmit {
    fn new(inner: Arc<dyn Emit>) -> Self {
        Self { inner, ended: CancellationToken::new(), emitting: Mutex::new(()) }
    }

    /// Stops passing on; nothing follows once this has returned.
    async fn close(&self) {
        self.ended.cancel();
        drop(self.emitting.lock().await);
    }

    async fn pass(&self, showing: impl Future<Output = ()> + Send) {
        let in_turn = async {
            let _held = self.emitting.lock().await;
            showing.await;
        };
        tokio::select! {
            biased;
            () = self.ended.cancelled() => {}
            () = in_turn => {}
        }
    }
}

#[async_trait]
impl Emit for BoundedEmit {
    async fn progress(&self, output: Value) {
        self.pass(self.inner.progress(bound::snapshot(output))).await;
    }

    async fn data(&self, name: &str, id: Option<&str>, data: Value) {
        self.pass(self.inner.data(name, id, bound::snapshot(data))).await;
    }

    async fn transient(&self, name: &str, data: Value) {
        self.pass(self.inner.transient(name, bound::snapshot(data))).await;
    }
}

#[cfg(test)]
#[path = "execute_tests.rs"]
mod tests;
