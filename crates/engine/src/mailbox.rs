//! Messages to the agents of an active run: answers to their questions, text said to them, and how each is stopped.
//!
//! `session/` delivers, the agents in `run/` receive; both depend on this module and not on each other.

pub(crate) mod activity;
pub(crate) mod answer;
pub(crate) mod directory;
