//! What clients parse. The spelling of the protocol exists once, here.

pub mod agents;
pub mod chat;
pub mod rest;
pub mod usage;
