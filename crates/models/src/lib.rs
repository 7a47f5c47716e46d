//! Language models behind one method: [`Model::stream`].
//!
//! `remote` calls a model over HTTP in one of four wire formats; each of them is a folder with `request.rs` (writes the
//! request) and `stream.rs` (reads the answer). `registry.rs` holds providers and models as data, `catalog.rs` chooses
//! the model, `dispatch.rs` sends a call to it within the limits of `provider_limiter.rs`.

pub mod anthropic;
pub mod attached;
pub mod catalog;
pub mod demo;
pub mod discover;
pub mod dispatch;
mod event_template;
pub mod gemini;
pub mod http;
pub mod model;
pub mod openai;
pub mod openai_responses;
pub mod params;
pub mod provider_limiter;
pub mod registry;
pub mod remote;
pub mod retry;
pub mod scripted;
pub mod sse_decode;
mod too_long;

pub use catalog::{Catalog, CatalogSettings, ChoiceError, ModelSelection};
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
