//! The tools of agents: one file = one tool. A tool never authorises itself: it states what it needs, the engine
//! decides. It has no other access than the handles of [`ToolCtx`].
//!
//! The path of a call: [`names::resolve`] finds the tool, [`read_arguments`] turns the model's text into JSON,
//! [`AnyTool::prepare`] checks it, [`execute()`] runs it within limits. Only the last one has effects, so a refused call
//! has none.

pub mod apply_patch;
pub mod arguments;
pub mod bench;
mod bound;
mod closure_call;
mod command_call;
mod command_need;
pub mod command_tool;
mod commands_access;
pub mod conformance;
pub mod delegation;
pub mod edit_file;
mod edit_limit;
pub mod exec_command;
pub mod execute;
mod file_diffs;
mod file_draft;
mod file_work;
pub mod form_answers;
pub mod glob_files;
pub mod grep_files;
mod indentation;
mod input;
mod input_coercion;
mod instant;
pub mod job;
mod json_repair;
pub mod list_dir;
pub mod names;
pub mod project_notes;
pub mod read_file;
pub mod registry;
pub mod request_user_input;
mod schema;
pub mod shell;
pub mod shell_command;
mod terminal_text;
pub mod test_approval;
pub mod time_now;
pub mod tool;
pub mod typed;
pub mod update_plan;
pub mod workspace_files;
pub mod write_file;
pub mod write_stdin;

#[cfg(test)]
mod action_name_tests;
#[cfg(test)]
mod contributing_tests;
#[cfg(test)]
mod testing;

pub use arguments::{parse_arguments, read_arguments};
pub use closure_call::closure_call;
pub use command_need::{Invocation, judge_command};
pub use commands_access::{Commands, NewCommand, NoCommands};
pub use edit_limit::EditLimit;
pub use execute::{GRACE, Limits, Outcome, execute};
pub use registry::{Group, GroupError, NameTaken, Registry, RegistryError};
pub use tool::{
    AnyTool, Artifacts, Effect, Emit, Executor, InputError, Notes, PreparedCall, Tool, ToolCtx, ToolError,
};
pub use typed::{ExternalCall, Family, client_side, delegating, erase};
pub use workspace_files::{FileRecord, WorkspaceFiles};
