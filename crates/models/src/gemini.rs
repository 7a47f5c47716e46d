//! Google's Gemini: `streamGenerateContent` with server-sent events.
//!
//! `request.rs` writes the body, `stream.rs` and `wire.rs` read the answer. A thought signature may hang on a thought,
//! on a tool call or on a text; it is kept as provider metadata under `PROVIDER` and goes back to the same place.

pub(crate) mod request;
pub(crate) mod stream;
mod wire;

/// Where the metadata is kept.
const PROVIDER: &str = "google";
const SIGNATURE: &str = "thoughtSignature";
/// The id of a call, where the provider gave it one.
const CALL_ID: &str = "callId";
/// The signature belongs to the text before it.
const OF_TEXT: &str = "ofText";
