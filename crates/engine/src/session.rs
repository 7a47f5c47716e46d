//! A session: its one owner, its readers, its queue and its recovery.
//!
//! `actor.rs` owns a live session and decides what each command does. It starts, resumes and ends runs through
//! `runner.rs`, a trait that `run/` implements: nothing in this folder depends on `run/`.

pub(crate) mod actor;
mod admit;
mod answer;
pub(crate) mod change;
pub(crate) mod change_rules;
pub(crate) mod chat_surface;
mod create;
pub mod events_reader;
#[cfg(test)]
mod fake_runner;
pub mod follow;
pub mod following;
pub(crate) mod live_run;
pub(crate) mod log_end;
pub mod main_agent;
mod queue;
pub(crate) mod recover;
pub(crate) mod registry;
pub mod request;
pub(crate) mod revert;
pub(crate) mod rollback;
pub(crate) mod rules;
pub(crate) mod runner;
mod send;
mod start;
mod sub_agent_view;
mod sub_agents;
mod submit;
pub mod viewer;
mod watch;
