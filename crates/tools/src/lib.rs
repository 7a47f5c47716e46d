//! What agents can do: one file = one tool. A tool never authorises itself: it states what it needs, the engine
//! decides. It reaches the world only through the handles of [`ToolCtx`].
//!
//! The path of a call: [`names::resolve`] finds the tool that is meant, [`read_arguments`] turns the model's text into JSON, [`AnyTool::prepare`] checks it,
//! [`execute()`] runs it within limits. The first two touch nothing, so a refused call has had no effect.

pub mod bench;
mod bound;
pub mod conformance;
pub mod delegation;
pub mod execute;
mod input;
mod instant;
mod lenient;
mod mend;
pub mod names;
pub mod registry;
pub mod repair;
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

pub use execute::{GRACE, Limits, Outcome, execute};
pub use registry::{Group, GroupError, Registry, RegistryError};
pub use repair::{parse_arguments, read_arguments};
pub use tool::{
    AnyTool, Approval, Artifacts, Covers, Effect, Emit, InputError, Notes, Place, PreparedCall, Tool,
    ToolCtx, ToolError,
};
pub use typed::{Family, client_side, engine_side, erase};
