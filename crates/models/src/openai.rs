//! Chat completions: OpenAI and compatible servers.
//!
//! `request.rs` writes the body, `stream.rs`, `calls.rs` and `wire.rs` read the answer.

mod calls;
mod reasoning_details;
pub(crate) mod request;
pub(crate) mod stream;
mod wire;
