//! OpenAI's Responses, and the servers that are compatible with it.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. Nothing is stored at the provider: the
//! whole conversation goes with every call, and reasoning goes back sealed, as provider metadata under `PROVIDER`.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

/// Where the metadata is kept.
const PROVIDER: &str = "openai";
const ITEM_ID: &str = "itemId";
const SEALED: &str = "reasoningEncryptedContent";
