//! Which tools the agents of a workspace may use, where somebody set a limit.

use std::collections::{BTreeSet, HashMap};

use protocol::WorkspaceId;
use tools::delegation;

/// A workspace that is not named may use every tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceTools(HashMap<WorkspaceId, BTreeSet<String>>);

impl WorkspaceTools {
    /// From now on the agents of this workspace may use these tools and no others.
    pub fn limit(&mut self, workspace: WorkspaceId, tools: impl IntoIterator<Item = String>) {
        self.0.insert(workspace, tools.into_iter().collect());
    }

    /// Delegation is no tool in this sense: allow-lists decide about it, and a sub-agent is bound to the same limit.
    pub fn allow(&self, workspace: &WorkspaceId, tool: &str) -> bool {
        is_delegation(tool) || self.0.get(workspace).is_none_or(|tools| tools.contains(tool))
    }

    /// All keys that are named anywhere.
    pub fn named(&self) -> impl Iterator<Item = (&WorkspaceId, &str)> {
        self.0.iter().flat_map(|(workspace, tools)| tools.iter().map(move |tool| (workspace, tool.as_str())))
    }
}

pub(super) fn is_delegation(tool: &str) -> bool {
    [
        delegation::SUB_AGENT,
        delegation::SPAWN_AGENT,
        delegation::SEND_INPUT,
        delegation::WAIT_AGENT,
        delegation::ABORT_AGENT,
    ]
    .contains(&tool)
}
