//! The HTTP server: requests in, JSON and server-sent events out. Decisions are made in `engine`.
//!
//! `router.rs` is the whole URL table. Every request passes `guard.rs` (Host, Origin, CORS) and `auth.rs` (token or
//! sign-in) first. `socket/` has what is written by hand below HTTP (ADR 16).

mod auth;
mod body;
mod chat;
mod error;
mod events;
mod file_response;
mod guard;
mod limits;
mod listen;
mod overflow;
mod rest;
mod router;
mod sign_in;
mod socket;
mod sse;
mod state;
mod web_ui;

pub use events::connections::ConnectionLimits;
pub use limits::{Limits, Resources};
pub use listen::serve;
pub use router::router;
pub use state::{Auth, ServerSettings, ServerState};
