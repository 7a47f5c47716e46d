//! Requests to run commands: what a person named, which tools run it, and what a result says. The steps of an answer are
//! in `intents/run_command.rs` and `intents/running_command.rs`.
//!
//! Only the newest message of the person can name a command. Lines out of files, attachments and results are never run.

mod line;
mod named;
mod quotation;
mod report;
mod request;
mod running;
mod spoken;
mod test_runner;
mod tools;

pub(super) use report::told;
pub(super) use request::CommandRequest;
pub(super) use running::RunningCommand;
pub(super) use test_runner::test_line;
pub(super) use tools::{CommandTools, command_field, command_input, type_input};
