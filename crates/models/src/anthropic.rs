//! Anthropic's Messages API and compatible servers.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. Reasoning is signed or encrypted; signature
//! and encrypted data are kept as provider metadata under `PROVIDER` and sent back unchanged, which the API requires
//! when tools are used.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

pub(crate) const VERSION: &str = "2023-06-01";

/// The key of the provider metadata.
const PROVIDER: &str = "anthropic";
const SIGNATURE: &str = "signature";
const REDACTED: &str = "redactedData";
