//! Anthropic's Messages, and the servers that are compatible with it.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. Thoughts come with a signature, or sealed;
//! both are kept as provider metadata under `PROVIDER` and go back unchanged, which the API insists on while tools
//! are being used.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

pub(crate) const VERSION: &str = "2023-06-01";

/// Where the metadata is kept.
const PROVIDER: &str = "anthropic";
const SIGNATURE: &str = "signature";
const REDACTED: &str = "redactedData";
