//! The typed trait that authors implement, and the trait object of the registry.
//!
//! The doc comments of a tool's `Input` *are* the description and parameter texts that the model reads: prompt, schema
//! and code cannot differ.

use std::{future::Future, pin::Pin, sync::Arc};

use async_trait::async_trait;
use protocol::{Artifact, Clock, ToolCallId, ToolSpec};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Family;

pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Serialize + Send + 'static;

    fn effect(&self) -> Effect {
        Effect::ReadOnly
    }

    /// Whether calls of one step to this tool must run one after the other, because each reads what the previous one
    /// wrote.
    fn one_at_a_time(&self) -> bool {
        false
    }

    /// The approval that this call needs before it runs.
    fn approval(&self, _input: &Self::Input) -> Approval {
        Approval::NotNeeded
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

    fn one_at_a_time(&self) -> bool {
        false
    }

    /// How strictly arguments are read; exactly by default.
    fn family(&self) -> Family {
        Family::Contract
    }

    /// Checks the arguments, without side effects.
    fn prepare(self: Arc<Self>, input: &Value) -> Result<PreparedCall, InputError>;
}

/// Who executes the calls of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    Server,
    /// The front end; the run waits for its output.
    Client,
    /// The agent loop: delegation.
    Engine,
}

/// Whether an interrupted call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    ReadOnly,
    SideEffect,
}

/// The approval that a call needs before it runs. The tool states it, the engine decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    NotNeeded,
    /// A person is asked, unless they have allowed such calls for the session.
    Ask {
        /// A sentence for the person.
        why: String,
        /// The calls that "always" would allow.
        scope: ApprovalScope,
    },
}

/// The calls that "always for this session" allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalScope {
    /// Every call of the tool.
    Tool,
    /// Calls of the same kind, named for a person: the beginning of a command, a folder.
    Kind(String),
    /// Only this call: it is sensitive, and the person is asked every time.
    Once,
}

impl Approval {
    /// Asks a person; "always" allows all calls of the tool.
    pub fn ask(why: &str) -> Self {
        Self::Ask { why: why.to_owned(), scope: ApprovalScope::Tool }
    }
}

/// A call whose arguments were accepted.
pub struct PreparedCall {
    pub approval: Approval,
    #[expect(clippy::type_complexity, reason = "a boxed async closure has no shorter name")]
    pub run:
        Box<dyn FnOnce(ToolCtx) -> Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>> + Send>,
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
    /// Stores a file; when this returns, it is on disk and belongs to the session. `name` is a display name, never a path.
    async fn keep(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Artifact, ToolError>;
}

/// Reads the newest stored `data-<name>` part of the session, which outlives calls and requests.
#[async_trait]
pub trait Notes: Send + Sync {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError>;
}
