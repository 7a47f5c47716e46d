//! Language models behind one method: [`Model::stream`].
//!
//! `remote` calls a model over HTTP in one of four wire formats; each of those is a folder with `request.rs` (ours →
//! theirs) and `stream.rs` (theirs → ours).

pub mod anthropic;
pub mod attached;
pub mod demo;
pub mod gemini;
pub mod http;
pub mod model;
mod mould;
pub mod openai;
pub mod openai_responses;
pub mod remote;
pub mod retry;
pub mod scripted;
pub mod sse_decode;

pub use http::{SetupError, install_tls};
pub use model::{
    AnswerSchema, AssistantContent, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream,
    UserContent,
};
pub use remote::{
    RemoteModel,
    settings::{ModelSettings, PromptCache, ReasoningReplay, WireFormat},
};
pub use retry::Limits;
pub use scripted::Scripted;
