//! Names one session: its workspace and its id there.

use protocol::{SessionId, WorkspaceId};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionName {
    pub(crate) workspace: WorkspaceId,
    pub(crate) session: SessionId,
}

impl SessionName {
    pub(crate) fn new(workspace: WorkspaceId, session: SessionId) -> Self {
        Self { workspace, session }
    }
}
