//! What every model is: a request in, a stream of events out. What a model can do is data elsewhere.
//!
//! Dropping the stream cancels the call and closes its connection. A provider yields exactly one
//! [`ModelEvent::Finished`], last, or one error, last. It retries only before its first event.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{self, BoxFuture},
    stream::BoxStream,
};
use protocol::{FinishReason, Price, ProviderMetadata, Source, ToolCall, ToolCallId, ToolSpec, Usage};
use serde_json::Value;

use crate::{attached::Reads, params::Params};

pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

pub trait Model: Send + Sync {
    /// `provider/model`, for the ledger and for people.
    fn name(&self) -> &str;

    /// What a million tokens cost, where it is known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// How many tokens it can read and write in one call, where it is known.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// Which files it can be shown.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Announces that the next request will start with these messages, so that the model can serialise a long history
    /// while the caller is still storing it. Only a hint: the answer is the same without it.
    fn prepare<'a>(&'a self, _messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        future::ready(()).boxed()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// Shared by all sessions that begin alike.
    pub system: Arc<str>,
    /// Shared with the calls before and after: a long history is not copied for each call.
    pub messages: Vec<Arc<ModelMessage>>,
    pub tools: Arc<[ToolSpec]>,
    /// The answer's text must be JSON of this shape.
    pub answer: Option<Arc<AnswerSchema>>,
    /// The same for all calls that begin alike, so that a provider finds what it has in its cache.
    pub cache_key: Option<String>,
    /// Under our names, see [`crate::params`]; what the model has no word for is left out.
    pub params: Arc<Params>,

    pub purpose: Purpose,
}

/// What an answer is for. No server is told; the words of the request say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// For the person, or for the agent that asked.
    #[default]
    Answer,
    /// To stand in for the older part of a conversation.
    Summary,
    /// To name a conversation.
    Title,
}

/// Structured output: what the text of an answer must look like.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSchema {
    /// Letters, digits, `_` and `-`; providers show it to the model.
    pub name: String,
    pub schema: Value,
}

/// One message of the conversation as every provider understands it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User {
        content: Vec<UserContent>,
    },
    Assistant {
        content: Vec<AssistantContent>,
    },
    /// The answer to one call of the assistant message before.
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
    /// Text for the model that the server writes, not the person: what is so at this moment.
    Facts(String),
    /// The content of a text file that the person attached, in a frame that says so.
    Attached(String),
    /// A file that is no text. `url` may be a `data:` URL.
    File {
        media_type: String,
        url: String,
        filename: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssistantContent {
    Text(String),
    /// The text is empty where the provider kept its thoughts to itself.
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
    /// The stretch of reasoning is over, and the provider wants this back with it. Without any reasoning before, the
    /// provider kept its thoughts to itself.
    ReasoningEnded(ProviderMetadata),
    /// Something the answer leans on.
    Source(Source),
    /// A call begins. `index` tells the calls of one answer apart; the id may be missing or repeated, the engine
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
    /// The provider wants this back with the call.
    ToolSigned {
        index: u32,
        provider: ProviderMetadata,
    },
    Usage(Usage),
    /// Another model answers than the one that was asked; comes before anything that model says.
    FellBack(Box<FellBack>),
    Finished(FinishReason),
}

/// Which model gave up, which one answers instead, and why, as a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FellBack {
    pub from: String,
    pub to: String,
    pub why: String,
}

impl ModelEvent {
    /// Takes the next delta in, if it goes on where this one ends.
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

/// Each text is a sentence for a person: what happened and what to do, without keys, hosts or stack traces.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// 4xx: asking again will not help.
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
    #[error("too many calls are waiting for this provider already; try again in a moment")]
    Crowded,
    /// One of the others, in the words of the provider it came from.
    #[error("{text}")]
    Explained { text: String, error: Box<ModelError> },
}

impl ModelError {
    /// What happened, without the explanation.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Explained { error, .. } => error.cause(),
            other => other,
        }
    }
}

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
            Self::FirstByte => "begin its answer",
            Self::Idle => "go on with its answer",
        })
    }
}
