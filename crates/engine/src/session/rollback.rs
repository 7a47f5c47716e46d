//! Puts a conversation back to what it was before a message of the user, and with it, if wanted, the files that its agents
//! changed since. Nothing is deleted: what was said since is another branch, and the revert of files is a change set.

use std::collections::BTreeSet;

use protocol::{
    Announcement, MessageId, MessageRef, Role, SessionEvent,
    file_change::{RevertRequest, RevertResult},
    project::events::history,
};
use store::{LastRun, MessageRecord, RunStatus, SessionKey};

use super::actor::Actor;
use crate::{EngineError, services::Services};

pub(crate) struct RollbackRequest {
    /// Index of the user's message among the items of the history.
    pub(crate) message_index: usize,
    pub(crate) files: RollbackFiles,
    /// The client's own name for its request.
    pub(crate) request: Option<String>,
}

/// Which files are put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackFiles {
    None,
    All,
    /// These, relative to the work directory.
    Selected(Vec<String>),
}

/// A user's message that a conversation can be put back before.
pub(crate) struct RollbackPoint {
    pub(crate) index: usize,
    pub(crate) message: MessageRecord,
    /// The answers from here on.
    pub(crate) answers: Vec<MessageId>,
}

impl Actor {
    pub(super) async fn roll_back(&mut self, request: RollbackRequest) -> Result<(), EngineError> {
        self.recover().await?;
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let at_work =
            matches!(record.last_run, Some(LastRun { status: RunStatus::Running | RunStatus::Parked, .. }));
        if self.live.is_some() || at_work {
            return Err(EngineError::Busy);
        }
        let points = match &record.active_leaf {
            Some(leaf) => points(&self.services, record.key, leaf).await?,
            None => Vec::new(),
        };
        let RollbackRequest { message_index, files, request } = request;
        let point = points.into_iter().find(|point| point.index == message_index).ok_or_else(|| {
            EngineError::InvalidMessage(format!(
                "messageIndex {message_index} is not a message of the user; GET /session/rollback-points lists them."
            ))
        })?;
        let reverted = match files {
            RollbackFiles::None => Ok(RevertResult::default()),
            RollbackFiles::All => self.revert_since(&point.answers, Vec::new()).await,
            RollbackFiles::Selected(paths) => self.revert_since(&point.answers, paths).await,
        };
        let (files, error) = match reverted {
            Ok(result) => (result.reverted.len(), refusal(&result)),
            Err(error) => (0, Some(error.to_string())),
        };
        let leaf = point.message.parent;
        let told = Announcement::RolledBack { message_index, files, error, request };
        self.append(vec![
            SessionEvent::BranchChosen { leaf },
            SessionEvent::Announced { announcement: Box::new(told) },
        ])
        .await
        .map(drop)
    }

    /// Reverts what the runs of these messages, and later ones, changed.
    async fn revert_since(
        &mut self,
        answers: &[MessageId],
        paths: Vec<String>,
    ) -> Result<RevertResult, EngineError> {
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let changes = self.services.store.file_changes(record.key).await?;
        let changed: BTreeSet<&MessageId> = changes.iter().map(|change| &change.root).collect();
        let Some(first) = answers.iter().find(|answer| changed.contains(answer)) else {
            return Ok(RevertResult::default());
        };
        self.revert(RevertRequest { message_id: Some(first.clone()), paths, and_later: true }).await
    }
}

fn refusal(result: &RevertResult) -> Option<String> {
    let first = result.refused.first()?;
    let more = match result.refused.len() {
        1 => String::new(),
        count => format!(" ({} more files were not put back)", count - 1),
    };
    Some(format!("{}: {}{more}", first.path, first.reason))
}

/// The messages of the user on the branch that ends at `leaf`, oldest first.
pub(crate) async fn points(
    services: &Services,
    key: SessionKey,
    leaf: &MessageRef,
) -> Result<Vec<RollbackPoint>, EngineError> {
    let branch = services.store.branch_after(key, leaf, None).await?;
    let mut points: Vec<RollbackPoint> = Vec::new();
    let mut index = 0;
    for record in branch {
        let message = record.message()?;
        match message.role {
            Role::User => {
                let (at, answers) = (index, Vec::new());
                index += 1;
                points.push(RollbackPoint { index: at, message: record, answers });
            }
            _ => {
                index += history::items(&message, record.created_at).len();
                points.iter_mut().for_each(|point| point.answers.push(message.id.clone()));
            }
        }
    }
    Ok(points)
}
