//! The only crate that decides: one actor per live session, the agent loop, approvals, branches.
//!
//! The path of a chat request goes through `engine.rs` (the handle) → `session/actor.rs` (one run at a time, else
//! busy) → `run/lifecycle.rs` (exactly one end) → `run/drive.rs` with `run/turn.rs` (the loop) →
//! `run/call_model.rs`, `run/call_tools.rs` → `session/log.rs` (number, store, tell).

pub mod access;
pub mod agents;
mod approvals;
mod artifacts;
mod attachments;
mod compact;
mod context;
mod definitions;
mod door;
mod engine;
mod error;
pub mod hooks;
mod run;
mod session;
mod session_index;
mod sub_chat;
mod system;
mod title;
pub mod transcript;
mod usage;

pub use access::{Credential, OpenStream, Principal};
pub use compact::CompactOutcome;
pub use definitions::{AgentChange, Defined};
pub use engine::{Engine, EngineLoad, EngineParts, EngineSettings, HistoryPage};
pub use error::EngineError;
pub use models::catalog::list::{Filter as ModelFilter, ModelList};
pub use run::{compact::ContextSettings, tree::TreeLimits};
pub use session::{
    actor::Stopped,
    following::Following,
    registry::SessionLoad,
    request::{ApprovalAnswer, ClientOutput, Decision, SendKind, SendRequest, Submit},
    subscribe::{ViewError, Viewer},
};
pub use system::{RandomIds, SystemClock};
pub use usage::{UsageRequest, report as report_usage};
