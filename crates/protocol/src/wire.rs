//! What clients parse. The spelling of the protocol exists once, here.

pub mod chat;
pub mod rest;
pub mod usage;
