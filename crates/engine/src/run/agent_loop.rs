//! The agent loop: what happens next, and doing it, until the message is complete or the run parks.

pub(crate) mod command;
pub(crate) mod driver;
pub(crate) mod lifecycle;
pub(crate) mod repeated_failure;
pub(crate) mod turn;
