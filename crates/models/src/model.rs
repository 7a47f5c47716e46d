//! The interface of all models: a request in, a stream of events out. What a model can do is data of the catalog.
//!
//! Dropping the stream cancels the call and closes its connection. The stream ends with exactly one
//! [`ModelEvent::Finished`] or one error. A call is retried only before its first event.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{self, BoxFuture},
    stream::BoxStream,
};
use protocol::{FinishReason, Price, ProviderMetadata, Source, ToolCall, ToolCallId, ToolSpec, Usage};
use serde_json::Value;

use crate::{attached::FileSupport, params::Params};

pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

pub trait Model: Send + Sync {
    /// `provider/model`, as shown to people and recorded with the usage.
    fn name(&self) -> &str;

    /// The price of a million tokens, if known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// The tokens that one call can read and write, if known.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// The kinds of files that it accepts.
    fn file_support(&self) -> FileSupport {
        FileSupport::default()
    }

    /// Sends the request and streams the answer, once the stream is polled.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Announces that the next request will start with these messages, so that the model can serialise a long history
    /// while the caller is still storing it (ADR 27). Only a hint: the answer is the same without it.
    fn prepare<'a>(&'a self, _messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        future::ready(()).boxed()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// Shared by all sessions with the same system prompt.
    pub system: Arc<str>,
    /// Shared with other calls, so that a long history is not copied for each call.
    pub messages: Vec<Arc<ModelMessage>>,
    pub tools: Arc<[ToolSpec]>,
    /// The answer's text must be JSON of this schema.
    pub answer: Option<Arc<AnswerSchema>>,
    /// The same for all calls that start with the same messages, so that a provider finds them in its cache.
    pub cache_key: Option<String>,
    /// Under our names, see [`crate::params`]; parameters that the wire format does not have are left out.
    pub params: Arc<Params>,

    pub purpose: Purpose,
}

/// What an answer is for. It is not sent to the server; the text of the request asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// For the person, or for the agent that asked.
    #[default]
    Answer,
    /// A summary that replaces the older part of a conversation.
    Summary,
    /// The title of a conversation.
    Title,
}

/// Structured output: the JSON schema of an answer's text.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSchema {
    /// Letters, digits, `_` and `-`; providers show it to the model.
    pub name: String,
    pub schema: Value,
}

/// One message of the conversation, independent of the provider.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User {
        content: Vec<UserContent>,
    },
    Assistant {
        content: Vec<AssistantContent>,
    },
    /// The result of one call of the preceding assistant message.
    Tool {
        call: ToolCallId,
        tool: String,
        text: String,
        is_error: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum UserContent {
    Text(String),
    /// Text that the server writes for the model: facts recorded with the message, such as time and page.
    Facts(String),
    /// The content of an attached text file, framed with the file's name.
    Attached(String),
    /// A file that is not text. `url` may be a `data:` URL.
    File {
        media_type: String,
        url: String,
        filename: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssistantContent {
    Text(String),
    /// The text is empty if the provider does not show its reasoning.
    Reasoning {
        text: String,
        provider: Option<ProviderMetadata>,
    },
    ToolCall {
        call: ToolCall,
        provider: Option<ProviderMetadata>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// The reasoning segment has ended; the provider needs the metadata back in later requests. Without preceding
    /// [`Self::Reasoning`] the provider does not show its reasoning.
    ReasoningEnded(ProviderMetadata),
    /// A source of the answer.
    Source(Source),
    /// A call starts. `index` distinguishes the calls of one answer; the id may be missing or repeated, the engine
    /// makes it unique.
    ToolStarted {
        index: u32,
        id: Option<String>,
        name: String,
    },
    /// More of the call's argument text.
    ToolDelta {
        index: u32,
        delta: String,
    },
    /// The provider needs this back with the call in later requests.
    ToolSigned {
        index: u32,
        provider: ProviderMetadata,
    },
    Usage(Usage),
    /// A fallback model answers; sent before its first event.
    FellBack(Box<FellBack>),
    Finished(FinishReason),
}

/// Which model failed, which one answers instead, and why, as a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FellBack {
    pub from: String,
    pub to: String,
    pub why: String,
}

impl ModelEvent {
    /// Appends the next delta if it continues this one; returns whether it did.
    pub fn join(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Text(text), Self::Text(more)) | (Self::Reasoning(text), Self::Reasoning(more)) => {
                text.push_str(more);
                true
            }
            (Self::ToolDelta { index, delta }, Self::ToolDelta { index: other, delta: more })
                if index == other =>
            {
                delta.push_str(more);
                true
            }
            _ => false,
        }
    }
}

/// Why a call failed. Each text is a sentence for a person: what happened and what to do, without keys or hosts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// 4xx: the same request would be refused again.
    #[error("the model's server refused the request ({status}): {message}")]
    Refused { status: u16, message: String },
    #[error("the model's server refused the key; check the key of this provider")]
    Unauthorized,
    #[error("the model's server is over its rate limit; try again in a moment")]
    RateLimited { retry_after: Option<Duration> },
    /// 5xx.
    #[error("the model's server failed ({status}): {message}")]
    Failed { status: u16, message: String },
    #[error("the model's server could not be reached; is it running?")]
    Unreachable,
    #[error("the model's server did not {0} in time")]
    TimedOut(TimeLimit),
    #[error("the model's server broke off in the middle of its answer")]
    Cut,
    #[error("the model's server sent something that is not a valid answer: {0}")]
    Garbage(String),
    #[error("too many calls are queued for this provider; try again in a moment")]
    QueueFull,
    /// Another error with advice about the provider's settings.
    #[error("{text}")]
    Explained { text: String, error: Box<ModelError> },
}

impl ModelError {
    /// The error without its advice.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Explained { error, .. } => error.cause(),
            other => other,
        }
    }
}

/// The time limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    Connect,
    FirstByte,
    Idle,
}

impl std::fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "accept a connection",
            Self::FirstByte => "start its answer",
            Self::Idle => "continue its answer",
        })
    }
}
