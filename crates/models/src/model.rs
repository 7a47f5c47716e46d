//! What every model is: a request in, a stream of events out. What a model can do is data elsewhere.
//!
//! Dropping the stream cancels the call and closes its connection. A provider yields exactly one
//! [`ModelEvent::Finished`], last, or one error, last. It retries only before its first event.

use std::{sync::Arc, time::Duration};

use futures::stream::BoxStream;
use protocol::{FinishReason, ToolCall, ToolCallId, ToolSpec, Usage};

pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

pub trait Model: Send + Sync {
    /// `provider/model`, for the ledger and for people.
    fn name(&self) -> &str;

    fn stream(&self, request: ModelRequest) -> ModelStream;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    /// Shared with the calls before and after: a long history is not copied for each call.
    pub messages: Vec<Arc<ModelMessage>>,
    pub tools: Arc<[ToolSpec]>,
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
    /// `url` may be a `data:` URL.
    File {
        media_type: String,
        url: String,
        filename: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssistantContent {
    Text(String),
    Reasoning(String),
    ToolCall(ToolCall),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
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
    Usage(Usage),
    Finished(FinishReason),
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
