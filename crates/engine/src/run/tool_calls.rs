//! Calling tools: all calls of a step together, with approvals, progress and results in call order.

pub(crate) mod approval;
mod artifacts;
pub(crate) mod call;
pub(crate) mod loop_tools;
mod notes;
pub(crate) mod plan;
mod progress;
mod schema;
