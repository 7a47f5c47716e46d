//! Chat completions: OpenAI and the many servers that are compatible with it.
//!
//! `request.rs` writes the body, `stream.rs`, `calls.rs` and `wire.rs` read the answer.

mod calls;
pub(crate) mod request;
pub(crate) mod stream;
mod thoughts;
mod wire;
