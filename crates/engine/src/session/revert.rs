//! Reverts changes to files, while no run of the session is active.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use protocol::{
    FailureCode, MessageId, SessionEvent,
    file_change::{RevertRequest, RevertResult},
};
use store::{ChangeRecord, SessionRecord, StoreError};

use super::{actor::Actor, log_end::append_without_run};
use crate::{
    EngineError,
    files::{
        blocking,
        change::{ChangeError, EventSink, Origin, Wanted, change_files},
        changes::{REVERT, Scope},
        revert,
        workspaces::Workspace,
    },
    services::Services,
    session_name::SessionName,
};

/// How often a revert is planned again because a file was changed meanwhile.
const ATTEMPTS: usize = 3;

impl Actor {
    pub(super) async fn revert(&mut self, request: RevertRequest) -> Result<RevertResult, EngineError> {
        self.recover().await?;
        if self.live.is_some() {
            return Err(EngineError::Busy);
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let workspace = self.services.tools.files.get(&self.name.workspace).await?;
        let paths = resolve(&workspace, &request.paths)?;
        for attempt in 1.. {
            let result = self.revert_once(&record, &workspace, &request, &paths).await;
            match result {
                Err(EngineError::File(error))
                    if error.code == FailureCode::Conflict && attempt < ATTEMPTS => {}
                result => return result,
            }
        }
        Err(EngineError::Busy)
    }

    async fn revert_once(
        &self,
        record: &SessionRecord,
        workspace: &Arc<Workspace>,
        request: &RevertRequest,
        paths: &BTreeSet<String>,
    ) -> Result<RevertResult, EngineError> {
        let records = self.services.store.file_changes(record.key).await?;
        let run = match &request.message_id {
            Some(message) => Some(run_of(&records, message)?),
            None => None,
        };
        let (on_thread, paths, and_later) = (Arc::clone(workspace), paths.clone(), request.and_later);
        let plan = blocking(move || {
            let of_run = if and_later { Scope::Since } else { Scope::Run };
            let scope = run.as_ref().map_or(Scope::Chat, of_run);
            revert::plan(&on_thread, &records, scope, &paths)
        });
        let plan = plan.await?;
        let reverted = plan.changes.iter().map(|change| short(&change.path)).collect();
        if let Some(message) = plan.message {
            let sink = IdleSession { services: &self.services, name: &self.name };
            let origin = Origin { message, call: None, tool: REVERT.to_owned(), agent: Vec::new() };
            let (store, id) = (&*self.services.store, self.services.ids.change());
            let wanted = Wanted::Kept(plan.changes);
            let changed = change_files(workspace, store, &sink, id, origin, wanted, || false).await;
            changed.map_err(|error| match error {
                ChangeError::File(error) => EngineError::File(error),
                ChangeError::Store(error) => EngineError::Store(error),
            })?;
        }
        Ok(RevertResult { reverted, refused: plan.refused })
    }
}

/// The logical paths of the files that a request names.
fn resolve(workspace: &Workspace, paths: &[String]) -> Result<BTreeSet<String>, EngineError> {
    let resolve = |path: &String| Ok(workspace.domain.resolve(path)?.to_string());
    paths.iter().map(resolve).collect()
}

/// The run that this message belongs to: the main agent's, or a sub-agent's.
pub(crate) fn run_of(records: &[ChangeRecord], message: &MessageId) -> Result<MessageId, EngineError> {
    let is_of = |record: &&ChangeRecord| record.root == *message || record.set.message_id == *message;
    let record = records.iter().find(is_of);
    Ok(record.ok_or_else(|| EngineError::MessageNotFound(message.clone()))?.root.clone())
}

/// `/workspace/a/b` as `a/b`.
fn short(path: &str) -> String {
    path.strip_prefix("/workspace/").unwrap_or(path).to_owned()
}

/// Appends to the log of a session without an active run. Only its owner may.
struct IdleSession<'a> {
    services: &'a Services,
    name: &'a SessionName,
}

#[async_trait]
impl EventSink for IdleSession<'_> {
    async fn append(&self, events: Vec<SessionEvent>) -> Result<(), StoreError> {
        // Read again each time: an append moves the end of the log.
        let record = self.services.store.session(&self.name.workspace, &self.name.session).await?;
        let record = record.ok_or(StoreError::Conflict)?;
        append_without_run(self.services, &record, events, Vec::new()).await.map(drop).map_err(|error| {
            match error {
                EngineError::Store(error) => error,
                error => StoreError::Unavailable(Box::new(error)),
            }
        })
    }
}
