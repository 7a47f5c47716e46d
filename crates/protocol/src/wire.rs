//! What clients parse. The spelling of the protocol exists once, here.

pub mod access;
pub mod agents;
pub mod chat;
pub mod rest;
pub mod usage;
