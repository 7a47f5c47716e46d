//! The typed trait that authors implement, and the trait object of the registry.
//!
//! The doc comments of a tool's `Input` *are* the description and parameter texts that the model reads: prompt, schema
//! and code cannot differ.

use std::{fs::File, future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use files::FileDomain;
use policy::Need;
use protocol::{Artifact, ArtifactId, Clock, FailureCode, FileDiff, ToolCallId, ToolRisk, ToolSpec};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Commands, Family, WorkspaceFiles};

pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    type Output: Serialize + Send + 'static;

    fn effect(&self) -> Effect {
        Effect::ReadOnly
    }

    /// What a call can do, for lists that people read.
    fn risk(&self) -> ToolRisk {
        risk_of(Executor::Server, self.effect())
    }

    /// Whether calls of one step to this tool must run one after the other, because each reads what the previous one
    /// wrote.
    fn one_at_a_time(&self) -> bool {
        false
    }

    /// What this call needs: the policy decides from it whether the call runs, is asked about or is refused.
    fn need(&self, _input: &Self::Input, _files: &FileDomain) -> Need {
        Need::Nothing
    }

    /// How long this call may take; `None`: as long as any other.
    fn time_limit(&self, _input: &Self::Input) -> Option<Duration> {
        None
    }

    /// The changes to files that a person should see before they answer. An error is the result of the call: nobody is
    /// asked about a call that cannot work.
    fn preview(
        &self,
        _files: &WorkspaceFiles,
        _input: &Self::Input,
    ) -> impl Future<Output = Result<Vec<FileDiff>, ToolError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    fn run(
        &self,
        ctx: ToolCtx,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// A tool in the registry.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    fn executor(&self) -> Executor;

    fn effect(&self) -> Effect;

    /// What a call can do, for lists that people read.
    fn risk(&self) -> ToolRisk {
        risk_of(self.executor(), self.effect())
    }

    fn one_at_a_time(&self) -> bool {
        false
    }

    /// How strictly arguments are read; exactly by default.
    fn family(&self) -> Family {
        Family::Contract
    }

    /// Checks the arguments, without side effects.
    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError>;
}

/// Who executes the calls of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    Server,
    /// The front end; the run waits for its output.
    Client,
    /// The engine: another agent does the work.
    Delegation,
    /// The agent loop itself; the call changes nothing but the agent's own state.
    Loop,
}

/// Whether an interrupted call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    ReadOnly,
    SideEffect,
}

fn risk_of(executor: Executor, effect: Effect) -> ToolRisk {
    match (executor, effect) {
        (Executor::Client, _) => ToolRisk::FrontEnd,
        (Executor::Delegation, _) => ToolRisk::Delegates,
        (Executor::Server | Executor::Loop, Effect::ReadOnly) => ToolRisk::Reads,
        (Executor::Server | Executor::Loop, Effect::SideEffect) => ToolRisk::Writes,
    }
}

/// A call whose arguments were accepted.
#[async_trait]
pub trait PreparedCall: Send + Sync {
    fn need(&self, files: &FileDomain) -> Need;

    /// See [`Tool::time_limit`].
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// See [`Tool::preview`].
    async fn preview(&self, files: &WorkspaceFiles) -> Result<Vec<FileDiff>, ToolError>;

    async fn run(self: Box<Self>, ctx: ToolCtx) -> Result<Value, ToolError>;
}

/// The arguments are invalid; the text names the field and is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model reads this as the tool's result; the run continues.
    #[error("{0}")]
    Report(String),
    /// The same, with a code that callers may rely on.
    #[error("{code}: {message}")]
    Failed { code: FailureCode, message: String },
    #[error("cancelled")]
    Cancelled,
    /// A defect of ours: the model only learns that the tool failed, the source is in the log.
    #[error("the tool failed because of an internal error, not because of your call")]
    Fatal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The handles of one running call, filled in by the engine.
#[derive(Clone)]
pub struct ToolCtx {
    pub call: ToolCallId,
    /// The name by which the tool was called.
    pub tool: String,
    pub cancel: CancellationToken,
    pub clock: Arc<dyn Clock>,
    /// The person's IANA time zone, if the client sent it.
    pub timezone: Option<String>,
    pub emit: Arc<dyn Emit>,
    pub notes: Arc<dyn Notes>,
    pub artifacts: Arc<dyn Artifacts>,
    pub files: WorkspaceFiles,
    pub commands: Arc<dyn Commands>,
}

/// Sends the output of a running tool to clients.
#[async_trait]
pub trait Emit: Send + Sync {
    /// Sends a snapshot of the output so far; it replaces the previous one.
    async fn progress(&self, output: Value);

    /// Adds a `data-<name>` part to the message, or replaces the part with the same id.
    async fn data(&self, name: &str, id: Option<&str>, data: Value);

    /// Sends a `data-<name>` chunk that is shown live and not stored.
    async fn transient(&self, name: &str, data: Value);
}

/// Stores files that a call creates: documents, and output that is too long for a message.
#[async_trait]
pub trait Artifacts: Send + Sync {
    /// Begins a file that the caller writes piece by piece. It belongs to nobody until it is kept.
    async fn begin(&self) -> Result<(ArtifactId, File), ToolError>;

    /// Makes a file that was begun one of the session's.
    async fn keep_begun(&self, id: &ArtifactId, name: &str, media_type: &str) -> Result<Artifact, ToolError>;

    /// Removes a file that was begun.
    async fn discard(&self, id: &ArtifactId);

    /// Stores a file; when this returns, it is on disk and belongs to the session. `name` is a display name, never a path.
    async fn keep(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Artifact, ToolError>;
}

/// Reads the newest stored `data-<name>` part of the session, which outlives calls and requests.
#[async_trait]
pub trait Notes: Send + Sync {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError>;
}
