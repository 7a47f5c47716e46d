//! The typed trait that authors write, and the object the registry holds.
//!
//! The doc comments of a tool's `Input` *are* the description and parameter texts the model reads: prompt, schema
//! and code cannot drift apart.

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

    /// Whether calls of one step to this tool must follow each other, because each reads what the one before wrote.
    fn one_at_a_time(&self) -> bool {
        false
    }

    /// What this call needs before it may run.
    fn approval(&self, _input: &Self::Input) -> Approval {
        Approval::NotNeeded
    }

    fn run(
        &self,
        ctx: ToolCtx,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// A tool as the registry holds it.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    fn place(&self) -> Place;

    fn effect(&self) -> Effect;

    fn one_at_a_time(&self) -> bool {
        false
    }

    /// How strictly arguments are read; exact unless said otherwise.
    fn family(&self) -> Family {
        Family::Contract
    }

    /// Checks the arguments; nothing has happened yet when this fails.
    fn prepare(self: Arc<Self>, input: &Value) -> Result<PreparedCall, InputError>;
}

/// Who executes a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Server,
    /// The front end; the run waits for its output.
    Client,
    /// The agent loop itself: delegation.
    Engine,
}

/// Whether a call that was cut off may simply be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    ReadOnly,
    SideEffect,
}

/// What a call needs before it may run. The tool states it, the engine decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    NotNeeded,
    /// A person is asked, unless they allowed such calls for the session.
    Ask {
        /// A sentence for the person.
        why: String,
        /// What an "always" would cover.
        covers: Covers,
    },
}

/// How far an "always for this session" reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Every call of the tool.
    Tool,
    /// Calls of the same kind, named in words a person understands: the beginning of a command, a folder.
    Kind(String),
    /// This call and no other: sensitive, asked about every time.
    Once,
}

impl Approval {
    /// Asks; an "always" covers the whole tool.
    pub fn ask(why: &str) -> Self {
        Self::Ask { why: why.to_owned(), covers: Covers::Tool }
    }
}

/// A call whose arguments were accepted.
pub struct PreparedCall {
    pub approval: Approval,
    #[expect(clippy::type_complexity, reason = "a boxed async closure has no shorter name")]
    pub run:
        Box<dyn FnOnce(ToolCtx) -> Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>> + Send>,
}

/// Arguments the tool refuses; the text names the field and is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model reads this as the tool's result; the run goes on.
    #[error("{0}")]
    Report(String),
    #[error("cancelled")]
    Cancelled,
    /// Our defect: the model is told that the tool failed, the operator finds the source in the log.
    #[error("the tool failed inside; this is a defect, not your mistake")]
    Fatal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The handles of one running call. The engine fills them.
#[derive(Clone)]
pub struct ToolCtx {
    pub call: ToolCallId,
    /// The name the tool was called by.
    pub tool: String,
    pub cancel: CancellationToken,
    pub clock: Arc<dyn Clock>,
    /// The person's IANA time zone, when the client named it.
    pub timezone: Option<String>,
    pub emit: Arc<dyn Emit>,
    pub notes: Arc<dyn Notes>,
    pub artifacts: Arc<dyn Artifacts>,
}

/// What a running tool can show.
#[async_trait]
pub trait Emit: Send + Sync {
    /// A snapshot of the output so far; replaces the one before.
    async fn progress(&self, output: Value);

    /// A `data-<name>` part, kept in the message; the same id replaces the part.
    async fn data(&self, name: &str, id: Option<&str>, data: Value);

    /// A `data-<name>` chunk that is shown live and kept nowhere.
    async fn transient(&self, name: &str, data: Value);
}

/// Keeps files that a call makes: documents, and output that is too long for a message.
#[async_trait]
pub trait Artifacts: Send + Sync {
    /// When this returns, the file is on disk and belongs to the session. `name` is for people, never a path.
    async fn keep(&self, name: &str, media_type: &str, bytes: Vec<u8>) -> Result<Artifact, ToolError>;
}

/// What a session remembers between calls and requests: the newest kept `data-<name>` part of the session.
#[async_trait]
pub trait Notes: Send + Sync {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError>;
}
