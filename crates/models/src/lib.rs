//! Language models behind one method: [`Model::stream`].
//!
//! Each provider is a folder with `request.rs` (ours → theirs) and `stream.rs` (theirs → ours).

pub mod demo;
pub mod http;
pub mod model;
mod mould;
pub mod openai;
pub mod retry;
pub mod scripted;
pub mod sse_decode;

pub use http::{SetupError, install_tls};
pub use model::{
    AssistantContent, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, UserContent,
};
pub use openai::{OpenAi, OpenAiSettings};
pub use retry::Limits;
pub use scripted::Scripted;
