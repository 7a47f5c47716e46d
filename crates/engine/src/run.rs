//! Runs: one user turn each, from the message to its one end.
//!
//! - `launch.rs` starts, resumes and ends runs for `session/`; `restore.rs` rebuilds them from the log.
//! - `agent_loop/` is the loop: `turn.rs` decides (pure), `driver.rs` performs.
//! - `model_call/` calls models, `tool_calls/` calls tools, `delegation/` runs sub-agents, each with the same loop.
//! - `frame.rs` is one agent at work: the events that it writes and the message that they fold to. `agent_log.rs` appends
//!   them, `agent_inbox.rs` receives answers, `context.rs` is what every step of an agent needs.

pub(crate) mod agent_inbox;
pub(crate) mod agent_log;
pub(crate) mod agent_loop;
pub(crate) mod context;
pub(crate) mod delegation;
pub(crate) mod end;
mod end_from_tables;
pub(crate) mod frame;
pub(crate) mod launch;
pub(crate) mod model_call;
pub(crate) mod restore;
pub(crate) mod tool_calls;
