//! How a person finds sessions again: search, pins, and where a session branches.

use protocol::{
    SessionId, WorkspaceId,
    wire::rest::{BranchChoice, BranchList, BranchPoint, SessionInfo, SessionList},
};
use store::SessionRecord;

use super::info;
use crate::{
    Engine, EngineError,
    session::{actor::Command, change::SessionChange},
};

impl Engine {
    pub async fn search(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<SessionList, EngineError> {
        let found = self.services.store.search_sessions(workspace, text, limit).await?;
        Ok(SessionList { sessions: self.infos(found).await?, next_cursor: None })
    }

    pub async fn pinned(&self, workspace: &WorkspaceId, limit: u32) -> Result<SessionList, EngineError> {
        let pinned = self.services.store.pinned_sessions(workspace, limit).await?;
        let sessions = pinned.into_iter().map(|record| info(&self.services.agents, record, true)).collect();
        Ok(SessionList { sessions, next_cursor: None })
    }

    pub async fn pin(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        pinned: bool,
    ) -> Result<(), EngineError> {
        let change = SessionChange::Pin(pinned);
        let command = |reply| Command::Change { change, reply };
        self.command(workspace.clone(), session.clone(), command).await.map(drop)
    }

    /// Where the active branch has others beside it.
    pub async fn branches(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<BranchList, EngineError> {
        let record = self.record(workspace, session).await?;
        let Some(leaf) = &record.active_leaf else { return Ok(BranchList { branches: Vec::new() }) };
        let points = self.services.store.branch_points(record.key, leaf).await?;
        let branches = points
            .into_iter()
            .filter_map(|point| {
                let shown = point.choices.get(point.at)?.id.clone();
                let choices = point
                    .choices
                    .into_iter()
                    .map(|choice| BranchChoice { message_id: choice.id, revision: choice.revision })
                    .collect();
                Some(BranchPoint { message_id: shown, at: u32::try_from(point.at).ok()?, choices })
            })
            .collect();
        Ok(BranchList { branches })
    }

    pub(crate) async fn infos(&self, records: Vec<SessionRecord>) -> Result<Vec<SessionInfo>, EngineError> {
        let keys: Vec<_> = records.iter().map(|record| record.key).collect();
        let pinned = self.services.store.pinned(&keys).await?;
        Ok(records
            .into_iter()
            .map(|record| {
                let is_pinned = pinned.contains(&record.key);
                info(&self.services.agents, record, is_pinned)
            })
            .collect())
    }
}
