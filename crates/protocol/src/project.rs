//! Pure projections of the session log: a surface is a fold over it and decides nothing.

pub mod chat;
pub mod nested;
