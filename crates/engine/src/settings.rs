//! The engine's settings. The binary reads them once and hands them to [`crate::Engine::new`].

use std::sync::Arc;

use protocol::{ApprovalMode, Rule, wire::chat::Profile};
use tools::Limits;

use crate::{
    agents::WorkspaceTools, files::workspaces::FileSettings, hooks::Hooks, jobs::CommandSettings,
    transcript::Mirror,
};

/// A run that was active in so many crashes in a row is ended, unless a setting says otherwise.
const MAX_CRASHES: u32 = 3;

#[derive(Clone, Debug)]
pub struct EngineSettings {
    pub profile: Profile,
    pub tool_limits: Limits,
    pub sub_agents: SubAgentLimits,
    /// Called around every agent's loop, in this order.
    pub hooks: Hooks,
    /// When a long conversation is compacted.
    pub context: ContextSettings,
    /// Whether the model writes a chat's title after the first answer.
    pub auto_title: bool,
    /// A run that was active in so many crashes in a row is ended.
    pub max_crashes: u32,
    /// What the agents of a workspace may use, where that is limited.
    pub workspace_tools: WorkspaceTools,
    /// Keeps a folder of every session up to date, if set.
    pub mirror: Option<Arc<Mirror>>,
    /// Which calls a person is asked about.
    pub approvals: ApprovalSettings,
    /// Where the files of workspaces are; without, there are none.
    pub files: Option<FileSettings>,
    /// How commands run; without, none can be started.
    pub commands: Option<CommandSettings>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            tool_limits: Limits::default(),
            sub_agents: SubAgentLimits::default(),
            hooks: Hooks::default(),
            context: ContextSettings::default(),
            auto_title: false,
            max_crashes: MAX_CRASHES,
            workspace_tools: WorkspaceTools::default(),
            mirror: None,
            approvals: ApprovalSettings::default(),
            files: None,
            commands: None,
        }
    }
}

impl EngineSettings {
    /// A run that was active in so many crashes in a row is resumed alone: the next crash would end it.
    pub(crate) fn alone_from(&self) -> u32 {
        self.max_crashes.saturating_sub(1).max(1)
    }
}

/// How many sub-agents of one run work at the same time, and how many may be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAgentLimits {
    pub running: usize,
    pub queued: usize,
}

impl Default for SubAgentLimits {
    fn default() -> Self {
        Self { running: 4, queued: 64 }
    }
}

/// When a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSettings {
    /// Whether a conversation is compacted without being asked.
    pub auto_compact: bool,
    /// The context window of models whose window is unknown, in tokens. It is compared only with what their provider
    /// counted.
    pub default_window: u64,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self { auto_compact: true, default_window: 128_000 }
    }
}

/// Which calls a person is asked about, as the operator of the server set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalSettings {
    pub mode: ApprovalMode,
    /// Rules that apply to every workspace.
    pub rules: Vec<Rule>,
}
