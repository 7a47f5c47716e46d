//! For tests only: the real router over a scripted model, SQLite in a temporary folder, a fixed clock and counted
//! ids; and a client that does what the stock one does.
//!
//! Every chunk a [`Turn`] reads is checked against the strict schema of the protocol and every stream against its
//! grammar, so a test that only looks at the text still fails on a malformed stream.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what breaks here must fail the test that uses it"
)]

mod answer;
mod app;
mod caller;
mod chat;
pub mod faults;
pub mod fixed;
mod forward;
pub mod grammar;
pub mod lines;
mod listening;
pub mod model_server;
mod played;
pub mod sse;
pub mod strict;
pub mod tools;
mod turn;
pub mod upstream;

pub use answer::{Answer, assert_is_sentence};
pub use app::{Builder, HeldWrites, TestApp};
pub use caller::Caller;
pub use chat::{Chat, user};
pub use fixed::{CountingIds, FixedClock};
pub use forward::Forwarder;
pub use listening::{Connection, Listening};
pub use model_server::ModelServer;
pub use played::Played;
pub use turn::{Question, Turn};

/// What a test of a surface needs of the crates below it.
pub use ::engine;
pub use ::futures::{future::join_all, stream::iter as stream_of};
pub use ::models;
pub use ::models::scripted::{
    Gate, Reply, Scripted, call_in_pieces, calls, calls_many, fails, raw_call, reasons, says, says_in_pieces,
    waits,
};
pub use ::protocol;
pub use ::server;
pub use ::store;
pub use ::tools as tool_kit;
