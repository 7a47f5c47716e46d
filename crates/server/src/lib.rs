//! HTTP in, SSE events out; decides nothing.
//!
//! `router.rs` is the whole URL table. Every request passes `guard.rs` (Host, Origin) and `auth.rs` (token or sign-in) first.

mod answer;
mod auth;
mod body;
mod chat;
mod connection;
mod error;
mod guard;
mod limits;
mod listen;
mod overflow;
mod peer;
mod rest;
mod revocation;
mod router;
mod sign_in;
mod socket;
mod sse;
mod state;
mod web_ui;

pub use limits::{Limits, Resources};
pub use listen::serve;
pub use router::router;
pub use state::{Auth, ServerSettings, ServerState};
