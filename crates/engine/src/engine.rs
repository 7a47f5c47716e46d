//! The handle: what surfaces may ask of the engine. It wires the services, the registry of sessions and the runner.

mod access;
mod approvals;
mod artifacts;
mod compact;
mod definitions;
mod events;
mod jobs;
mod listed_tools;
mod questions;
mod rules;
mod session_index;
mod sub_chat;
mod title;
mod usage;
mod workspace_files;

use std::{sync::Arc, time::Duration};

use models::{
    Catalog,
    catalog::list::{Filter, ModelList},
};
use protocol::{
    Clock, IdSource, MessageId, MessageRef, Seq, SessionId, Timestamp, UiMessage, WorkspaceId,
    wire::{
        rest::{SessionInfo, SessionList, SessionStatus},
        usage::UsageReport,
    },
};
use serde::Serialize;
use store::{
    LastRun, RunStatus, SessionCursor, SessionKey, SessionRecord, Store, StoreError, StoreHealth,
    SubAgentChat,
};
use tokio::sync::oneshot;

pub use access::{Credential, OpenStream, Principal, sign_in_info, token_info};
pub use compact::CompactOutcome;
pub use definitions::{AgentChange, Defined};
pub use events::Follow;
pub use rules::AddedRule;
pub use usage::{UsageRequest, report as report_usage};

use crate::{
    EngineError,
    agents::{AgentRegistry, template_threads::TemplateThreads, tool_set::ToolSets},
    files::workspaces::Workspaces,
    jobs::Jobs,
    log::open_logs::OpenLogs,
    mailbox::answer::Reply,
    run::launch::AgentRunner,
    secrets::SecretVault,
    services::{Agents, Caches, Services, Tasks, ToolAccess, rule_book::RuleBook},
    session::{
        actor::{Command, Stopped},
        change::SessionChange,
        following::Following,
        main_agent::current_agent,
        registry::{SessionLoad, SessionRegistry},
        request::SendRequest,
        viewer::Viewer,
    },
    session_name::SessionName,
    session_title,
    settings::EngineSettings,
};
use access::OpenStreams;

/// What the engine is made of: everything that differs between production and tests.
pub struct EngineParts {
    pub store: Arc<dyn Store>,
    pub catalog: Arc<Catalog>,
    pub tools: tools::Registry,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub settings: EngineSettings,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineLoad {
    /// Live sessions of all workspaces.
    pub live_sessions: usize,
    pub history_cache_bytes: usize,
    /// Those of the caller's workspace.
    pub sessions: Vec<SessionLoad>,
}

/// Some messages of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPage {
    /// As JSON, oldest first.
    pub messages: Vec<String>,
    /// The message to ask for the next page before, if there is one.
    pub next_before: Option<MessageId>,
}

#[derive(Clone)]
pub struct Engine {
    pub(crate) services: Arc<Services>,
    sessions: Arc<SessionRegistry>,
    open_streams: Arc<OpenStreams>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts { store, catalog, tools, clock, ids, settings } = parts;
        let registry = Arc::new(AgentRegistry::new(tools.names(), settings.workspace_tools.clone()));
        let agents =
            Agents { registry, tool_sets: ToolSets::default(), template_threads: TemplateThreads::default() };
        let files = Workspaces::new(settings.files.clone());
        let data_dir = settings.files.as_ref().map(|files| files.data_dir.as_path());
        let secrets = Arc::new(SecretVault::new(data_dir));
        let rules = Arc::new(RuleBook::new(Arc::clone(&store), &settings.approvals));
        let jobs = Arc::new(Jobs::new(settings.commands.clone()));
        let tools = ToolAccess { registry: tools, rules, files, jobs };
        let services = Arc::new(Services {
            store,
            logs: OpenLogs::default(),
            catalog,
            tools,
            agents,
            clock,
            ids,
            settings,
            caches: Caches::default(),
            secrets,
            tasks: Tasks::default(),
        });
        let runner = Arc::new(AgentRunner::new(Arc::clone(&services)));
        let sessions = SessionRegistry::new(Arc::clone(&services), runner);
        let engine = Self { services, sessions, open_streams: Arc::default() };
        engine.spawn_background_tasks();
        engine
    }

    /// Stores deltas of all sessions, and ends the open streams of revoked credentials, until the server shuts down.
    fn spawn_background_tasks(&self) {
        let tasks = &self.services.tasks;
        let (flusher, end) = (Arc::clone(&tasks.flusher), tasks.shutdown.clone());
        tasks.tracker.spawn(async move { flusher.run(end).await });
        let (streams, end) = (Arc::clone(&self.open_streams), tasks.shutdown.clone());
        let (store, clock) = (Arc::downgrade(&self.services.store), Arc::clone(&self.services.clock));
        tasks.tracker.spawn(async move { streams.watch(store, clock, end).await });
    }

    /// Whether the store can write, and what is damaged in it.
    pub async fn store_health(&self) -> StoreHealth {
        self.services.store.health().await
    }

    /// Resumes the runs that were active when the last process ended, and the messages that were queued; returns how many
    /// runs. A run that was active in several crashes in a row is ended instead (`session/recover.rs`).
    pub async fn recover(&self) -> Result<usize, EngineError> {
        self.finish_file_changes().await?;
        self.services.store.begin_recovery(self.services.settings.alone_from()).await?;
        let running = self.services.store.active_runs().await?;
        let count = running.len();
        let mut keys: Vec<_> = running.into_iter().map(|active| active.session).collect();
        for key in self.services.store.sessions_with_queue().await? {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            match self.services.store.session_by_key(key).await {
                Ok(Some(record)) => {
                    self.sessions.send(SessionName::new(record.workspace, record.id), Command::Recover)?;
                }
                Ok(None) => {}
                // One unreadable session must not keep the others from being resumed.
                Err(error @ StoreError::Corrupt(_)) => {
                    tracing::error!(%error, chat = key.0, "an unfinished chat cannot be read");
                }
                Err(error) => return Err(error.into()),
            }
        }
        let services = Arc::clone(&self.services);
        self.services.tasks.tracker.spawn(async move {
            workspace_files::sweep_contents(&services).await;
            match services.store.sweep_files().await {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, "unreferenced files were removed"),
                Err(error) => tracing::warn!(%error, "unreferenced files could not be removed"),
            }
        });
        Ok(count)
    }

    /// Sends a message, an edit, a retry or answers. Returns the stream of the answer, now or when its run begins.
    pub async fn send(&self, mut request: SendRequest) -> Result<Following, EngineError> {
        if self.sub_chat(&request.workspace, &request.session).await?.is_some() {
            return Err(EngineError::InvalidMessage(
                "This is the chat of a sub-agent. Say something to it with POST /api/chat/{id}/message, or talk to the \
                 main chat."
                    .to_owned(),
            ));
        }
        if let Some(titling) = self.titling(&request).await? {
            return Ok(titling);
        }
        self.check_answers(&mut request).await?;
        let (workspace, session) = (request.workspace.clone(), request.session.clone());
        self.command(workspace, session, |reply| Command::Send { request: Box::new(request), reply }).await
    }

    /// Follows the active run: from the beginning of its message, or after an event that the client has.
    pub async fn watch(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        after: Option<Seq>,
    ) -> Result<Option<Viewer>, EngineError> {
        if let Some(SubAgentChat { session: owner, frame, .. }) = self.sub_chat(&workspace, &session).await? {
            return self.watch_sub_agent(workspace, owner, frame, after).await;
        }
        self.command(workspace, session, |reply| Command::Watch { after, reply }).await
    }

    /// Stops the run and withdraws queued messages, or only what `at` names: a queued message, or the run that answers it.
    /// Returns when the run has ended. For a sub-agent's chat, stops that sub-agent alone.
    pub async fn stop(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        at: Option<MessageId>,
    ) -> Result<Stopped, EngineError> {
        if let Some(SubAgentChat { session: owner, frame, .. }) = self.sub_chat(&workspace, &session).await? {
            let stopped = self.stop_sub_agent(workspace, owner, frame).await?;
            return Ok(if stopped { Stopped::Cancelled } else { Stopped::Idle });
        }
        self.command(workspace, session, |reply| Command::Stop { at, reply }).await
    }

    /// The messages that are queued behind the run, in queue order.
    pub async fn queue(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<Vec<UiMessage>, EngineError> {
        let record = self.record(workspace, session).await?;
        let queued = self.services.store.queued(record.key).await?;
        Ok(queued.into_iter().map(|queued| queued.message).collect())
    }

    /// Makes the branch through this message the active one, by default through its newest revision; returns its leaf.
    pub async fn choose_branch(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        at: MessageId,
        revision: Option<u32>,
    ) -> Result<MessageRef, EngineError> {
        self.command(workspace, session, |reply| Command::Branch { at, revision, reply }).await
    }

    /// A page of the active branch as JSON messages, oldest first: those before `before`, else the newest. The message of
    /// an active run is left out.
    pub async fn history(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: u32,
    ) -> Result<HistoryPage, EngineError> {
        if let Some(SubAgentChat { key, frame, .. }) = self.sub_chat(workspace, session).await? {
            return Ok(HistoryPage { messages: self.frame_history(key, &frame).await?, next_before: None });
        }
        let record = self.record(workspace, session).await?;
        let leaf = match before {
            Some(id) => {
                let message = self.services.store.message(record.key, id).await?;
                message.ok_or_else(|| EngineError::MessageNotFound(id.clone()))?.parent
            }
            None => self.visible_leaf(&record).await?,
        };
        let branch = match leaf {
            Some(leaf) => self.services.store.branch(record.key, &leaf, limit).await?,
            None => Vec::new(),
        };
        let first = branch.first().filter(|first| first.parent.is_some());
        let next_before = first.map(|first| first.reference.id.clone());
        Ok(HistoryPage { messages: self.show(record.key, branch).await?, next_before })
    }

    pub(super) async fn visible_leaf(
        &self,
        record: &SessionRecord,
    ) -> Result<Option<MessageRef>, EngineError> {
        if let Some(LastRun { message: id, status: RunStatus::Running }) = &record.last_run
            && let Some(run) = self.services.store.run_of_message(record.key, id).await?
        {
            // While a resumed run is active, the message is shown as it was when it parked.
            let paused = self.services.store.message(record.key, &run.message).await?;
            return Ok(Some(paused.map_or(run.answers, |message| message.reference)));
        }
        Ok(record.active_leaf.clone())
    }

    pub async fn session(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<SessionInfo, EngineError> {
        let record = self.record(workspace, session).await?;
        let pinned = !self.services.store.pinned(&[record.key]).await?.is_empty();
        Ok(info(&self.services.agents, record, pinned))
    }

    pub async fn sessions(
        &self,
        workspace: &WorkspaceId,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<SessionList, EngineError> {
        let before = cursor.map(parse_cursor).transpose()?;
        let page = self.services.store.sessions(workspace, before, limit).await?;
        let next_cursor = page
            .sessions
            .last()
            .filter(|_| page.more)
            .map(|last| format!("{}-{}", last.updated_at.0, last.key.0));
        Ok(SessionList { sessions: self.infos(page.sessions).await?, next_cursor })
    }

    pub async fn rename(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        title: Option<String>,
    ) -> Result<SessionInfo, EngineError> {
        let given = title.map(|title| session_title::validate(&title)).transpose();
        let title =
            given.map_err(|wrong| EngineError::InvalidMessage(format!("The title {wrong}.")))?.flatten();
        let change = SessionChange::Rename(title);
        self.command(workspace.clone(), session.clone(), |reply| Command::Change { change, reply }).await?;
        self.session(workspace, session).await
    }

    /// Stops the session's run and deletes everything of the session.
    /// The connections that follow it are told.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        followers: Vec<String>,
    ) -> Result<(), EngineError> {
        self.command(workspace, session, |reply| Command::Delete { followers, reply }).await
    }

    /// What the model calls of the workspace used and cost.
    pub async fn usage(
        &self,
        workspace: &WorkspaceId,
        request: UsageRequest,
    ) -> Result<UsageReport, EngineError> {
        usage::report(&*self.services.store, workspace, request).await
    }

    /// The default model, for the landing page.
    pub fn model_name(&self) -> String {
        self.services.catalog.default_model().name
    }

    /// The models that can be chosen.
    pub fn models(&self, filter: &Filter<'_>) -> ModelList {
        self.services.catalog.list(filter)
    }

    /// The agents a person can talk to and delegate to.
    pub fn agents(&self) -> &Arc<AgentRegistry> {
        &self.services.agents.registry
    }

    /// What the engine holds in memory, for the diagnostics route.
    pub fn load(&self, workspace: &WorkspaceId) -> EngineLoad {
        let (live_sessions, sessions) = self.sessions.load(workspace);
        EngineLoad { live_sessions, history_cache_bytes: self.services.caches.histories.bytes(), sessions }
    }

    /// Accepts no new work and waits for runs until the grace period is over; the next process resumes the others.
    pub async fn shut_down(&self, grace: Duration) {
        self.services.tasks.shutdown.cancel();
        self.services.tasks.tracker.close();
        if tokio::time::timeout(grace, self.services.tasks.tracker.wait()).await.is_err() {
            tracing::info!("runs that are still active will be resumed at the next start");
        }
        self.services.tools.jobs.end_all().await;
        // Otherwise the next process would count this as a crash of the runs that are still active.
        if let Err(error) = self.services.store.note_clean_end().await {
            tracing::warn!(%error, "the orderly shutdown could not be recorded");
        }
    }

    pub(crate) async fn record(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<SessionRecord, EngineError> {
        let record = self.services.store.session(workspace, session).await?;
        record.ok_or(EngineError::SessionNotFound)
    }

    pub(crate) async fn command<T>(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.sessions.send(SessionName::new(workspace, session), command(reply))?;
        answer.await.map_err(|_| EngineError::ShuttingDown)?
    }
}

pub(crate) fn info(agents: &Agents, record: SessionRecord, pinned: bool) -> SessionInfo {
    let agent_id = current_agent(agents, &record);
    let (status, last_run) = match record.last_run {
        None => (SessionStatus::Idle, None),
        Some(LastRun { status: RunStatus::Running, .. }) => (SessionStatus::Running, None),
        Some(LastRun { status: RunStatus::Parked, .. }) => (SessionStatus::Waiting, None),
        Some(LastRun { status: RunStatus::Ended(end), .. }) => (SessionStatus::Idle, Some(end)),
    };
    SessionInfo {
        id: record.id,
        title: record.title,
        created_at: record.created_at,
        updated_at: record.updated_at,
        message_count: record.message_count,
        status,
        last_run,
        active_leaf: record.active_leaf.map(|leaf| leaf.id),
        queued: record.queued,
        chat_model_id: record.chat_model_id,
        chat_model_source: record.chat_model_source,
        agent_fallback_from: record.agent.filter(|chosen| *chosen != agent_id),
        agent_id,
        pinned,
    }
}

fn parse_cursor(cursor: &str) -> Result<SessionCursor, EngineError> {
    cursor
        .split_once('-')
        .and_then(|(time, key)| {
            Some(SessionCursor {
                updated_at: Timestamp(time.parse().ok()?),
                key: SessionKey(key.parse().ok()?),
            })
        })
        .ok_or_else(|| {
            EngineError::InvalidMessage("cursor must be the nextCursor of the page before.".to_owned())
        })
}
