//! Language models behind one method: [`Model::stream`].
//!
//! Each provider is a folder with `request.rs` (ours → theirs) and `stream.rs` (theirs → ours).

pub mod model;

pub use model::{
    AssistantContent, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, UserContent,
};
