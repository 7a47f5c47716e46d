//! Calling tools: all calls of a step together, with approvals, progress and results in call order.

mod artifacts;
pub(crate) mod call;
mod call_files;
pub(crate) mod loop_tools;
mod notes;
pub(crate) mod plan;
mod progress;
pub(crate) mod questions;
pub(crate) mod verdict;
