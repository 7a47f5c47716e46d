//! Google's Gemini: `streamGenerateContent` with server-sent events.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. Reasoning, tool calls and texts may have a
//! signature; it is kept as provider metadata under `PROVIDER` and sent back with the same part.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

/// The key of the provider metadata.
const PROVIDER: &str = "google";
const SIGNATURE: &str = "thoughtSignature";
/// The provider's own id of a call, if it has one.
const CALL_ID: &str = "callId";
/// Set if the signature belongs to the preceding text.
const OF_TEXT: &str = "ofText";
