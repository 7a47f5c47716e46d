//! The files of a workspace and the changes of a chat, as people list, read and revert them.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{
    FailureCode, MessageId, SessionEvent, SessionId, WorkspaceId,
    file_change::{ChangeList, ChangedFileDiff, FolderList, RevertRequest, RevertResult},
};
use store::{ChangeRecord, SubAgentChat, UnfinishedChange};

use crate::{
    Engine, EngineError, WorkspaceFile,
    files::{
        blocking, browse,
        changes::{Changes, Scope},
        kept_contents, list,
        recovery::{IdleLog, finish_changes},
    },
    services::Services,
    session::{actor::Command, log_end::append_without_run, revert::run_of},
};

impl Engine {
    /// What a chat changed in the files of the workspace. For a sub-agent's chat, what that sub-agent changed.
    pub async fn changes(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<ChangeList, EngineError> {
        let records = self.change_records(workspace, session).await?;
        if records.is_empty() {
            return Ok(ChangeList {
                files: Vec::new(),
                runs: Vec::new(),
                changes: Vec::new(),
                incomplete: false,
            });
        }
        let files = self.services.tools.files.get(workspace).await?;
        Ok(blocking(move || Ok(list::change_list(&files, &records))).await?)
    }

    /// What became of one file over a chat, or over the run with this message.
    pub async fn change_diff(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        path: &str,
        message: Option<&MessageId>,
    ) -> Result<ChangedFileDiff, EngineError> {
        let records = self.change_records(workspace, session).await?;
        let files = self.services.tools.files.get(workspace).await?;
        let path = files.domain.resolve(path)?;
        let run = message.map(|message| run_of(&records, message)).transpose()?;
        let net = Changes::of(&records).net(run.as_ref().map_or(Scope::Chat, Scope::Run));
        let logical = path.to_string();
        let net = net.into_iter().find(|net| net.path == logical);
        let net = net.ok_or_else(|| EngineError::NoChange(path.relative().to_owned()))?;
        blocking(move || list::file_diff(&files, &net)).await.map_err(|error| match error.code {
            FailureCode::NotFound => EngineError::ContentRemoved(path.relative().to_owned()),
            _ => error.into(),
        })
    }

    async fn change_records(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<Vec<ChangeRecord>, EngineError> {
        if let Some(SubAgentChat { key, frame, .. }) = self.sub_chat(workspace, session).await? {
            let mut records = self.services.store.file_changes(key).await?;
            records.retain(|record| record.set.message_id == frame.message);
            return Ok(records);
        }
        let record = self.record(workspace, session).await?;
        Ok(self.services.store.file_changes(record.key).await?)
    }

    /// Gives files back the content they had before the chat, or before one of its runs, changed them. Files that somebody
    /// else changed since are left alone and named.
    pub async fn revert(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        request: RevertRequest,
    ) -> Result<RevertResult, EngineError> {
        if self.sub_chat(&workspace, &session).await?.is_some() {
            return Err(EngineError::InvalidMessage(
                "This is the chat of a sub-agent. Revert its changes in the main chat.".to_owned(),
            ));
        }
        // An actor is started for any name, so a chat that does not exist is refused before.
        self.record(&workspace, &session).await?;
        self.command(workspace, session, |reply| Command::Revert { request, reply }).await
    }

    /// Lists a folder of the workspace.
    pub async fn folder(&self, workspace: &WorkspaceId, path: &str) -> Result<FolderList, EngineError> {
        let files = self.services.tools.files.get(workspace).await?;
        let path = path.to_owned();
        Ok(blocking(move || browse::folder(&files.domain, &path)).await?)
    }

    /// Opens a file of the workspace.
    pub async fn open_workspace_file(
        &self,
        workspace: &WorkspaceId,
        path: &str,
    ) -> Result<WorkspaceFile, EngineError> {
        let files = self.services.tools.files.get(workspace).await?;
        let path = path.to_owned();
        Ok(blocking(move || browse::open(&files.domain, &path)).await?)
    }

    /// Finishes changes to files that a crash interrupted. Called before runs are resumed.
    pub(super) async fn finish_file_changes(&self) -> Result<(), EngineError> {
        let Services { tools, store, .. } = &*self.services;
        let log = StoppedSessions { services: &self.services };
        match finish_changes(&tools.files, &**store, &log).await? {
            0 => {}
            changes => tracing::info!(changes, "changes to files that were interrupted are finished"),
        }
        Ok(())
    }
}

/// The logs of sessions at the start, when none has a run yet.
struct StoppedSessions<'a> {
    services: &'a Arc<Services>,
}

#[async_trait]
impl IdleLog for StoppedSessions<'_> {
    async fn append(&self, change: &UnfinishedChange, event: SessionEvent) -> Result<(), EngineError> {
        let record = self.services.store.session_by_key(change.key).await?;
        let record = record.ok_or(EngineError::SessionNotFound)?;
        append_without_run(self.services, &record, vec![event], Vec::new()).await.map(drop)
    }
}

/// Removes contents that no change set refers to.
pub(super) async fn sweep_contents(services: &Services) {
    match kept_contents::sweep(&services.tools.files, &*services.store).await {
        Ok(0) => {}
        Ok(contents) => tracing::info!(contents, "contents of files that nobody needs were removed"),
        Err(error) => tracing::warn!(%error, "contents of files that nobody needs could not be removed"),
    }
}
