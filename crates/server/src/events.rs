//! The events surface: one stream of events per client (`GET /events`), and messages to it (`POST /message`).
//!
//! `connect.rs` opens a stream, `connections.rs` knows which session is at which connection, `message.rs` reads what clients
//! send, `sessions.rs` makes, loads, lists and deletes sessions. Nothing is decided here: the engine's log is the only source
//! of what a session's client is told.

mod answers;
mod bind;
mod body;
mod chat;
mod connect;
pub(crate) mod connections;
mod images;
pub(crate) mod message;
mod refusal;
pub(crate) mod sessions;
mod switch;
pub(crate) mod ticket;

pub(crate) use connect::connect;
pub(crate) use refusal::{is_events_path, rewrite};
