//! Language models behind one method: [`Model::stream`].
//!
//! `remote` calls a model over HTTP in one of four wire formats; each of those is a folder with `request.rs` (ours →
//! theirs) and `stream.rs` (theirs → ours). `registry.rs` knows providers and models as data, `catalog.rs` which of
//! them answers, `dispatch.rs` brings a call through the gate of `schedule.rs` to it.

pub mod anthropic;
pub mod attached;
pub mod catalog;
pub mod demo;
pub mod discover;
pub mod dispatch;
pub mod gemini;
pub mod http;
pub mod model;
mod mould;
pub mod openai;
pub mod openai_responses;
pub mod params;
pub mod registry;
pub mod remote;
pub mod retry;
pub mod schedule;
pub mod scripted;
pub mod sse_decode;
mod too_long;

pub use catalog::{Catalog, CatalogSettings, ChoiceError, Wanted};
pub use http::{SetupError, install_tls};
pub use model::{
    AnswerSchema, AssistantContent, FellBack, Model, ModelError, ModelEvent, ModelMessage, ModelRequest,
    ModelStream, Purpose, UserContent,
};
pub use remote::{
    RemoteModel,
    settings::{ModelSettings, PromptCache, ReasoningReplay, WireFormat},
};
pub use retry::Limits;
pub use scripted::Scripted;
pub use too_long::TooLong;
