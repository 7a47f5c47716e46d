//! For tests only: the real router over a scripted model, with SQLite in a temporary folder, a fixed clock and counted
//! ids; and a client that behaves like the stock one.
//!
//! [`Turn`] checks every chunk against the strict schema of the protocol, and the order of chunks in every stream, so a
//! test that only looks at the text still fails on a malformed stream.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what breaks here must fail the test that uses it"
)]

mod app;
mod caller;
mod chat;
pub mod chunk_lines;
pub mod chunk_order;
pub mod chunk_schema;
mod clock_and_ids;
mod events_client;
pub mod faults;
mod fixed_model_server;
mod forwarder;
mod http_response;
mod loopback_server;
pub mod model_server;
pub mod sse_events;
pub mod test_tools;
mod turn;
pub mod upstream;

pub use app::{Builder, HeldWrites, TestApp};
pub use caller::Caller;
pub use chat::{Chat, user};
pub use clock_and_ids::{CountingIds, FixedClock};
pub use events_client::{Event, EventsClient};
pub use fixed_model_server::FixedModelServer;
pub use forwarder::Forwarder;
pub use http_response::{HttpResponse, assert_is_sentence};
pub use loopback_server::{Connection, LoopbackServer};
pub use model_server::ModelServer;
pub use turn::{Question, Turn};

/// The crates that behaviour tests need, so that a test depends on `testkit` alone.
pub use ::engine;
pub use ::files;
pub use ::futures::{future::join_all, stream::iter as stream_of};
pub use ::models;
pub use ::models::scripted::{
    Gate, Reply, Scripted, call_in_pieces, calls, calls_many, fails, raw_call, reasons, says, says_in_pieces,
    waits,
};
pub use ::policy;
pub use ::protocol;
pub use ::server;
pub use ::store;
pub use ::tools;
pub use test_support::{Rng, node};
