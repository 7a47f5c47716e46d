//! Pure projections of the session log to what clients receive.

pub mod chat;
pub mod events;
pub mod nested;
