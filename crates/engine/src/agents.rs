//! The agents: what one is, where definitions come from, and which one a name means.

pub mod check;
pub mod definition;
pub mod draft;
pub mod file;
pub mod groups;
mod json_schema;
pub(crate) mod loop_tools;
pub mod main_agents_file;
pub mod prompt;
pub mod registry;
pub mod template;
mod template_language;
pub(crate) mod template_threads;
#[cfg(test)]
mod tool_pages_tests;
pub(crate) mod tool_set;
pub mod workspace_tools;

pub use definition::AgentDefinition;
pub use prompt::Prompt;
pub use protocol::{AgentSource, AgentType, BudgetLimits, ModelChoice, ToolGroup};
pub use registry::{AgentRegistry, DEFAULT_AGENT, FileAgents, Listed, NoAgent};
pub use workspace_tools::WorkspaceTools;
