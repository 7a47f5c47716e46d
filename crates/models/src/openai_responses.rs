//! OpenAI's Responses API and compatible servers.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. The provider stores nothing: every request
//! contains the whole conversation, and encrypted reasoning is sent back from the provider metadata under `PROVIDER`.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

/// The key of the provider metadata.
const PROVIDER: &str = "openai";
const ITEM_ID: &str = "itemId";
const ENCRYPTED: &str = "reasoningEncryptedContent";
