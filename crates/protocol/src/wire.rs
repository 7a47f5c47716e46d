//! The types that clients parse. The spelling of the protocol exists only here.

pub mod access;
pub mod agents;
pub mod chat;
pub mod events;
pub mod rest;
pub mod usage;
