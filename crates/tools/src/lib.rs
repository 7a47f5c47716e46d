//! The tools of agents: one file = one tool. A tool never authorises itself: it states what it needs, the engine
//! decides. It has no other access than the handles of [`ToolCtx`].
//!
//! The path of a call: [`names::resolve`] finds the tool, [`read_arguments`] turns the model's text into JSON,
//! [`AnyTool::prepare`] checks it, [`execute()`] runs it within limits. Only the last one has effects, so a refused call
//! has none.

pub mod arguments;
pub mod bench;
mod bound;
pub mod conformance;
pub mod delegation;
pub mod execute;
mod input;
mod input_coercion;
mod instant;
mod json_repair;
pub mod names;
pub mod registry;
mod schema;
pub mod test_approval;
pub mod time_now;
pub mod tool;
pub mod typed;
pub mod update_plan;

#[cfg(test)]
mod contributing_tests;
#[cfg(test)]
mod testing;

pub use arguments::{parse_arguments, read_arguments};
pub use execute::{GRACE, Limits, Outcome, execute};
pub use registry::{Group, GroupError, Registry, RegistryError};
pub use tool::{
    AnyTool, Approval, ApprovalScope, Artifacts, Effect, Emit, Executor, InputError, Notes, PreparedCall,
    Tool, ToolCtx, ToolError,
};
pub use typed::{Family, client_side, engine_side, erase};
