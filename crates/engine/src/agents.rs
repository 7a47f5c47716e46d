//! The agents: what one is, where definitions come from, and which one a name means.

pub mod definition;
pub mod groups;
pub(crate) mod kit;
pub mod registry;
pub mod template;

pub use definition::{AgentDefinition, AgentType, BudgetLimits, ModelChoice, ToolGroup};
pub use registry::{AgentRegistry, Listed, NoAgent};
