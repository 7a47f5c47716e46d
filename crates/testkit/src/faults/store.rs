//! A store that forwards every call to another, unless a rule makes the call fail or wait.

use std::{fs::File, sync::Arc};

use async_trait::async_trait;
use protocol::{
    AgentId, ApprovalId, ArtifactId, ArtifactInfo, MessageId, MessageRef, RuleId, Seq, SessionId, Timestamp,
    WorkspaceId, event::LogEntry, interaction::Interaction,
};
use serde_json::Value;
use store::{
    ActiveRun, Append, ArtifactCursor, ArtifactPage, Artifacts, BranchPoint, ChangeRecord, ContentUse,
    DefinitionRecord, Definitions, FileChanges, FrameRecord, Frames, Health, Interactions, Log,
    MessageRecord, Messages, NewSignIn, NewToken, OwnerToken, PendingInteraction, Queue, QueuedMessage,
    Recovery, RecoveryAttempt, RecoveryStage, RuleRecord, Rules, RunRecord, Runs, SessionCursor,
    SessionIndex, SessionInteraction, SessionKey, SessionPage, SessionRecord, Sessions, SignInRecord,
    SignIns, Store, StoreError, StoreHealth, SubAgentChat, TokenRecord, Tokens, UnfinishedChange, UsageQuery,
    UsageReports, UsageSum,
};

use super::{Delivery, Faults, Method, fault};

pub struct FaultyStore {
    inner: Arc<dyn Store>,
    faults: Faults,
}

impl FaultyStore {
    pub fn new(inner: Arc<dyn Store>, faults: &Faults) -> Self {
        Self { inner, faults: faults.clone() }
    }

    async fn call<T>(
        &self,
        method: Method,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let delivery = self.faults.before(method).await?;
        let result = call.await;
        match delivery {
            Delivery::Delivered => result,
            Delivery::Lost => Err(fault(method)),
        }
    }
}

#[async_trait]
impl Health for FaultyStore {
    async fn health(&self) -> StoreHealth {
        self.inner.health().await
    }
}

#[async_trait]
impl Sessions for FaultyStore {
    async fn session(
        &self,
        workspace: &WorkspaceId,
        id: &SessionId,
    ) -> Result<Option<SessionRecord>, StoreError> {
        self.call(Method::Session, self.inner.session(workspace, id)).await
    }

    async fn session_by_key(&self, key: SessionKey) -> Result<Option<SessionRecord>, StoreError> {
        self.call(Method::SessionByKey, self.inner.session_by_key(key)).await
    }

    async fn sessions(
        &self,
        workspace: &WorkspaceId,
        before: Option<SessionCursor>,
        limit: u32,
    ) -> Result<SessionPage, StoreError> {
        self.call(Method::Sessions, self.inner.sessions(workspace, before, limit)).await
    }

    async fn newest_leaf(&self, key: SessionKey, at: &MessageRef) -> Result<MessageRef, StoreError> {
        self.call(Method::NewestLeaf, self.inner.newest_leaf(key, at)).await
    }

    async fn delete_session(&self, key: SessionKey) -> Result<(), StoreError> {
        self.call(Method::DeleteSession, self.inner.delete_session(key)).await
    }
}

#[async_trait]
impl SessionIndex for FaultyStore {
    async fn sessions_from(
        &self,
        workspace: &WorkspaceId,
        skip: u64,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        self.call(Method::SessionsFrom, self.inner.sessions_from(workspace, skip, limit)).await
    }

    async fn session_count(&self, workspace: &WorkspaceId) -> Result<u64, StoreError> {
        self.call(Method::SessionCount, self.inner.session_count(workspace)).await
    }

    async fn pinned(&self, keys: &[SessionKey]) -> Result<Vec<SessionKey>, StoreError> {
        self.call(Method::Pinned, self.inner.pinned(keys)).await
    }

    async fn pinned_sessions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        self.call(Method::PinnedSessions, self.inner.pinned_sessions(workspace, limit)).await
    }

    async fn search_sessions(
        &self,
        workspace: &WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        self.call(Method::SearchSessions, self.inner.search_sessions(workspace, text, limit)).await
    }

    async fn pending_interactions(
        &self,
        workspace: &WorkspaceId,
        limit: u32,
    ) -> Result<Vec<PendingInteraction>, StoreError> {
        self.call(Method::PendingInteractions, self.inner.pending_interactions(workspace, limit)).await
    }

    async fn branch_points(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
    ) -> Result<Vec<BranchPoint>, StoreError> {
        self.call(Method::BranchPoints, self.inner.branch_points(key, leaf)).await
    }
}

#[async_trait]
impl Messages for FaultyStore {
    async fn message(&self, key: SessionKey, id: &MessageId) -> Result<Option<MessageRecord>, StoreError> {
        self.call(Method::Message, self.inner.message(key, id)).await
    }

    async fn branch(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        limit: u32,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        self.call(Method::Branch, self.inner.branch(key, leaf, limit)).await
    }

    async fn branch_after(
        &self,
        key: SessionKey,
        leaf: &MessageRef,
        stop: Option<&MessageRef>,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        self.call(Method::BranchAfter, self.inner.branch_after(key, leaf, stop)).await
    }
}

#[async_trait]
impl Runs for FaultyStore {
    async fn run_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Option<RunRecord>, StoreError> {
        self.call(Method::RunOfMessage, self.inner.run_of_message(key, message)).await
    }

    async fn run_at(&self, key: SessionKey, seq: Seq) -> Result<Option<RunRecord>, StoreError> {
        self.call(Method::RunAt, self.inner.run_at(key, seq)).await
    }

    async fn run_answering(
        &self,
        key: SessionKey,
        user: &MessageRef,
    ) -> Result<Option<RunRecord>, StoreError> {
        self.call(Method::RunAnswering, self.inner.run_answering(key, user)).await
    }

    async fn active_runs(&self) -> Result<Vec<ActiveRun>, StoreError> {
        self.call(Method::ActiveRuns, self.inner.active_runs()).await
    }
}

#[async_trait]
impl Recovery for FaultyStore {
    async fn begin_recovery(&self, alone_from: u32) -> Result<(), StoreError> {
        self.call(Method::BeginRecovery, self.inner.begin_recovery(alone_from)).await
    }

    async fn recovery_attempt(
        &self,
        key: SessionKey,
        unit: &MessageId,
    ) -> Result<RecoveryAttempt, StoreError> {
        self.call(Method::RecoveryAttempt, self.inner.recovery_attempt(key, unit)).await
    }

    async fn note_recovery(
        &self,
        key: SessionKey,
        unit: &MessageId,
        stage: RecoveryStage,
    ) -> Result<(), StoreError> {
        self.call(Method::NoteRecovery, self.inner.note_recovery(key, unit, stage)).await
    }

    async fn forget_recovery(&self, key: SessionKey, unit: &MessageId) -> Result<(), StoreError> {
        self.call(Method::ForgetRecovery, self.inner.forget_recovery(key, unit)).await
    }

    async fn note_clean_end(&self) -> Result<(), StoreError> {
        self.call(Method::NoteCleanEnd, self.inner.note_clean_end()).await
    }
}

#[async_trait]
impl Frames for FaultyStore {
    async fn frames_of_runs(
        &self,
        key: SessionKey,
        roots: Vec<MessageId>,
    ) -> Result<Vec<FrameRecord>, StoreError> {
        self.call(Method::FramesOfRuns, self.inner.frames_of_runs(key, roots)).await
    }

    async fn frame_of_chat(
        &self,
        workspace: &WorkspaceId,
        chat: &SessionId,
    ) -> Result<Option<SubAgentChat>, StoreError> {
        self.call(Method::FrameOfChat, self.inner.frame_of_chat(workspace, chat)).await
    }
}

#[async_trait]
impl Interactions for FaultyStore {
    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
    ) -> Result<Option<SessionInteraction>, StoreError> {
        self.call(Method::Interaction, self.inner.interaction(workspace, id)).await
    }

    async fn interactions_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Vec<Interaction>, StoreError> {
        self.call(Method::InteractionsOfMessage, self.inner.interactions_of_message(key, message)).await
    }
}

#[async_trait]
impl Queue for FaultyStore {
    async fn queued(&self, key: SessionKey) -> Result<Vec<QueuedMessage>, StoreError> {
        self.call(Method::Queued, self.inner.queued(key)).await
    }

    async fn sessions_with_queue(&self) -> Result<Vec<SessionKey>, StoreError> {
        self.call(Method::SessionsWithQueue, self.inner.sessions_with_queue()).await
    }
}

#[async_trait]
impl Artifacts for FaultyStore {
    async fn put_file(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
        bytes: Vec<u8>,
    ) -> Result<(), StoreError> {
        self.call(Method::PutFile, self.inner.put_file(workspace, id, bytes)).await
    }

    async fn begin_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError> {
        self.call(Method::BeginFile, self.inner.begin_file(workspace, id)).await
    }

    async fn finish_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<(), StoreError> {
        self.call(Method::FinishFile, self.inner.finish_file(workspace, id)).await
    }

    async fn discard_file(&self, workspace: &WorkspaceId, id: &ArtifactId) {
        self.inner.discard_file(workspace, id).await;
    }

    async fn open_file(&self, workspace: &WorkspaceId, id: &ArtifactId) -> Result<File, StoreError> {
        self.call(Method::OpenFile, self.inner.open_file(workspace, id)).await
    }

    async fn sweep_files(&self) -> Result<usize, StoreError> {
        self.call(Method::SweepFiles, self.inner.sweep_files()).await
    }

    async fn artifact(
        &self,
        workspace: &WorkspaceId,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactInfo>, StoreError> {
        self.call(Method::Artifact, self.inner.artifact(workspace, id)).await
    }

    async fn artifacts(
        &self,
        workspace: &WorkspaceId,
        session: Option<SessionKey>,
        before: Option<ArtifactCursor>,
        limit: u32,
    ) -> Result<ArtifactPage, StoreError> {
        self.call(Method::Artifacts, self.inner.artifacts(workspace, session, before, limit)).await
    }
}

#[async_trait]
impl Log for FaultyStore {
    async fn append(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        self.call(Method::Append, self.inner.append(append)).await
    }

    async fn append_past(&self, append: Arc<Append>) -> Result<SessionKey, StoreError> {
        self.call(Method::Append, self.inner.append_past(append)).await
    }

    async fn read_log(
        &self,
        key: SessionKey,
        after: Seq,
        max_bytes: usize,
    ) -> Result<Vec<LogEntry>, StoreError> {
        self.call(Method::ReadLog, self.inner.read_log(key, after, max_bytes)).await
    }

    async fn is_stored(&self, key: SessionKey, seq: Seq) -> Result<bool, StoreError> {
        self.call(Method::IsStored, self.inner.is_stored(key, seq)).await
    }

    async fn latest_data(&self, key: SessionKey, name: &str) -> Result<Option<Value>, StoreError> {
        self.call(Method::LatestData, self.inner.latest_data(key, name)).await
    }
}

#[async_trait]
impl UsageReports for FaultyStore {
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageSum>, StoreError> {
        self.call(Method::Usage, self.inner.usage(query)).await
    }
}

#[async_trait]
impl Tokens for FaultyStore {
    async fn token(&self, sha256: &[u8; 32]) -> Result<Option<TokenRecord>, StoreError> {
        self.call(Method::Token, self.inner.token(sha256)).await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.call(Method::Tokens, self.inner.tokens()).await
    }

    async fn add_token(&self, token: NewToken) -> Result<TokenRecord, StoreError> {
        self.call(Method::AddToken, self.inner.add_token(token)).await
    }

    async fn set_owner_token(&self, sha256: &[u8; 32], at: Timestamp) -> Result<OwnerToken, StoreError> {
        self.call(Method::SetOwnerToken, self.inner.set_owner_token(sha256, at)).await
    }

    async fn revoke_token(&self, id: i64, at: Timestamp) -> Result<bool, StoreError> {
        self.call(Method::RevokeToken, self.inner.revoke_token(id, at)).await
    }

    async fn was_revoked(&self, sha256: &[u8; 32]) -> Result<bool, StoreError> {
        self.call(Method::WasRevoked, self.inner.was_revoked(sha256)).await
    }
}

#[async_trait]
impl SignIns for FaultyStore {
    async fn sign_in(&self, sha256: &[u8; 32], now: Timestamp) -> Result<Option<SignInRecord>, StoreError> {
        self.call(Method::SignIn, self.inner.sign_in(sha256, now)).await
    }

    async fn sign_ins(&self, now: Timestamp) -> Result<Vec<SignInRecord>, StoreError> {
        self.call(Method::SignIns, self.inner.sign_ins(now)).await
    }

    async fn add_sign_in(&self, new: NewSignIn) -> Result<bool, StoreError> {
        self.call(Method::AddSignIn, self.inner.add_sign_in(new)).await
    }

    async fn use_sign_in(&self, id: i64, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        self.call(Method::UseSignIn, self.inner.use_sign_in(id, at, expires_at)).await
    }

    async fn revoke_sign_in(&self, id: i64) -> Result<bool, StoreError> {
        self.call(Method::RevokeSignIn, self.inner.revoke_sign_in(id)).await
    }

    async fn revocations(&self) -> Result<i64, StoreError> {
        self.call(Method::Revocations, self.inner.revocations()).await
    }
}

#[async_trait]
impl FileChanges for FaultyStore {
    async fn file_changes(&self, key: SessionKey) -> Result<Vec<ChangeRecord>, StoreError> {
        self.call(Method::FileChanges, self.inner.file_changes(key)).await
    }

    async fn last_read(&self, key: SessionKey, path: &str) -> Result<Option<String>, StoreError> {
        self.call(Method::LastRead, self.inner.last_read(key, path)).await
    }

    async fn unfinished_changes(&self) -> Result<Vec<UnfinishedChange>, StoreError> {
        self.call(Method::UnfinishedChanges, self.inner.unfinished_changes()).await
    }

    async fn contents_of_session(&self, key: SessionKey) -> Result<Vec<String>, StoreError> {
        self.call(Method::ContentsOfSession, self.inner.contents_of_session(key)).await
    }

    async fn contents_in_use(&self, workspace: &WorkspaceId) -> Result<Vec<ContentUse>, StoreError> {
        self.call(Method::ContentsInUse, self.inner.contents_in_use(workspace)).await
    }

    async fn unused_contents(
        &self,
        workspace: &WorkspaceId,
        contents: Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        self.call(Method::UnusedContents, self.inner.unused_contents(workspace, contents)).await
    }
}

#[async_trait]
impl Rules for FaultyStore {
    async fn rules(&self, workspace: &WorkspaceId) -> Result<Vec<RuleRecord>, StoreError> {
        self.call(Method::Rules, self.inner.rules(workspace)).await
    }

    async fn add_rule(&self, new: RuleRecord) -> Result<bool, StoreError> {
        self.call(Method::AddRule, self.inner.add_rule(new)).await
    }

    async fn remove_rule(&self, workspace: &WorkspaceId, id: &RuleId) -> Result<bool, StoreError> {
        self.call(Method::RemoveRule, self.inner.remove_rule(workspace, id)).await
    }
}

#[async_trait]
impl Definitions for FaultyStore {
    async fn definitions(&self, workspace: &WorkspaceId) -> Result<Vec<DefinitionRecord>, StoreError> {
        self.call(Method::Definitions, self.inner.definitions(workspace)).await
    }

    async fn workspaces_with_definitions(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        self.call(Method::WorkspacesWithDefinitions, self.inner.workspaces_with_definitions()).await
    }

    async fn definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
    ) -> Result<Option<DefinitionRecord>, StoreError> {
        self.call(Method::Definition, self.inner.definition(workspace, id)).await
    }

    async fn add_definition(&self, new: DefinitionRecord) -> Result<(), StoreError> {
        self.call(Method::AddDefinition, self.inner.add_definition(new)).await
    }

    async fn change_definition(&self, new: DefinitionRecord, from: u32) -> Result<(), StoreError> {
        self.call(Method::ChangeDefinition, self.inner.change_definition(new, from)).await
    }

    async fn remove_definition(
        &self,
        workspace: &WorkspaceId,
        id: &AgentId,
        version: u32,
    ) -> Result<(), StoreError> {
        self.call(Method::RemoveDefinition, self.inner.remove_definition(workspace, id, version)).await
    }
}
