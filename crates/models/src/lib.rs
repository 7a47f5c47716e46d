//! Language models behind one method: [`Model::stream`].
//!
//! Each provider is a folder with `request.rs` (ours → theirs) and `stream.rs` (theirs → ours). `registry.rs` knows
//! providers and models as data, `catalog.rs` which of them answers, `dispatch.rs` brings a call through the gate of
//! `schedule.rs` to it.

pub mod catalog;
pub mod demo;
pub mod discover;
pub mod dispatch;
pub mod http;
pub mod model;
mod mould;
pub mod openai;
pub mod registry;
pub mod retry;
pub mod schedule;
pub mod scripted;
pub mod sse_decode;

pub use catalog::{Catalog, CatalogSettings, ChoiceError, Wanted};
pub use http::{SetupError, install_tls};
pub use model::{
    AssistantContent, FellBack, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream,
    UserContent,
};
pub use openai::{OpenAi, OpenAiSettings};
pub use retry::Limits;
pub use scripted::Scripted;
