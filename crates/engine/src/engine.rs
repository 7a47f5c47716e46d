//! The handle: what surfaces may ask of the engine. Step 2 hands over here.

use std::{sync::Arc, time::Duration};

use models::{
    Catalog,
    catalog::list::{Filter, ModelList},
};
use protocol::{
    Clock, IdSource, MessageId, MessageRef, Seq, SessionId, Timestamp, ToolSpec, UiMessage, WorkspaceId,
    wire::{
        chat::Profile,
        rest::{SessionInfo, SessionList, SessionStatus},
        usage::UsageReport,
    },
};
use serde::Serialize;
use store::{
    LastRun, RunStatus, SessionCursor, SessionKey, SessionRecord, Store, StoreError, StoreHealth,
    SubAgentChat,
};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tools::Limits;

use crate::{
    EngineError,
    access::OpenStreams,
    agents::{AgentRegistry, WorkspaceTools, kit::Kits, template_threads::TemplateThreads},
    context::{cache::Histories, texts::Texts},
    door::Door,
    hooks::Hooks,
    run::{compact::ContextSettings, tree::TreeLimits},
    session::{
        actor::{Command, Reply, Stopped},
        flush::Flusher,
        following::Following,
        recover::MAX_CRASHES,
        registry::{Registry, SessionLoad},
        request::SendRequest,
        subscribe::Viewer,
    },
    transcript::Mirror,
    usage::{self, UsageRequest},
};

#[derive(Clone, Debug)]
pub struct EngineSettings {
    pub profile: Profile,
    pub tool_limits: Limits,
    /// How many sub-agents of a session work and wait at the same time.
    pub sub_agents: TreeLimits,
    /// Called around every agent's loop, in this order.
    pub hooks: Hooks,
    /// When a conversation that becomes long is compacted.
    pub context: ContextSettings,
    /// Whether a chat is named by its model after the first answer.
    pub auto_title: bool,
    /// A run that was active in so many crashes in a row is ended.
    pub max_crashes: u32,
    /// What the agents of a workspace may use, where that is limited.
    pub workspace_tools: WorkspaceTools,
    /// Told of every session that changed, so that it can keep a folder of it.
    pub mirror: Option<Arc<Mirror>>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            tool_limits: Limits::default(),
            sub_agents: TreeLimits::default(),
            hooks: Hooks::default(),
            context: ContextSettings::default(),
            auto_title: false,
            max_crashes: MAX_CRASHES,
            workspace_tools: WorkspaceTools::default(),
            mirror: None,
        }
    }
}

impl EngineSettings {
    /// A run that was active in so many crashes in a row is resumed alone: the next crash would end it.
    pub(crate) fn alone_from(&self) -> u32 {
        self.max_crashes.saturating_sub(1).max(1)
    }
}

/// What the engine is made of; everything that differs between production and tests.
pub struct EngineParts {
    pub store: Arc<dyn Store>,
    pub catalog: Arc<Catalog>,
    pub tools: tools::Registry,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub settings: EngineSettings,
}

/// The parts as the sessions share them.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tools: tools::Registry,
    pub(crate) tool_specs: Arc<[ToolSpec]>,
    pub(crate) agents: Arc<AgentRegistry>,
    pub(crate) kits: Kits,
    pub(crate) template_threads: TemplateThreads,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) settings: EngineSettings,
    pub(crate) flusher: Arc<Flusher>,
    pub(crate) histories: Histories,
    pub(crate) texts: Texts,
    pub(crate) sessions: Registry,
    pub(crate) tasks: TaskTracker,
    pub(crate) door: Door,
    /// Runs that were active in several crashes are resumed one after another.
    pub(crate) recovering: Arc<Semaphore>,
    pub(crate) open_streams: Arc<OpenStreams>,
    /// No new work is taken.
    pub(crate) ending: CancellationToken,
    /// Parent of every run's token.
    pub(crate) runs: CancellationToken,
}

impl Parts {
    /// Something of this session is other than it was.
    pub(crate) fn note_change(&self, workspace: &WorkspaceId, session: &SessionId) {
        if let Some(mirror) = &self.settings.mirror {
            mirror.note(workspace, session);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineLoad {
    /// Sessions of all workspaces that something is going on in.
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
    /// What to ask for next, when there is more.
    pub next_before: Option<MessageId>,
}

#[derive(Clone)]
pub struct Engine {
    pub(crate) parts: Arc<Parts>,
}

impl Engine {
    pub fn new(parts: EngineParts) -> Self {
        let tool = |name: &str| parts.tools.get(name).map(|tool| tool.spec().clone());
        let tool_specs = parts.tools.names().filter_map(tool).collect();
        let agents =
            Arc::new(AgentRegistry::new(parts.tools.names(), parts.settings.workspace_tools.clone()));
        let parts = Arc::new(Parts {
            store: parts.store,
            catalog: parts.catalog,
            tools: parts.tools,
            tool_specs,
            agents,
            kits: Kits::default(),
            template_threads: TemplateThreads::default(),
            clock: parts.clock,
            ids: parts.ids,
            settings: parts.settings,
            flusher: Arc::default(),
            door: Door::default(),
            recovering: Arc::new(Semaphore::new(1)),
            open_streams: Arc::default(),
            histories: Histories::default(),
            texts: Texts::default(),
            sessions: Registry::default(),
            tasks: TaskTracker::new(),
            ending: CancellationToken::new(),
            runs: CancellationToken::new(),
        });
        let flusher = Arc::clone(&parts.flusher);
        let end = parts.ending.clone();
        parts.tasks.spawn(async move { flusher.run(end).await });
        let streams = Arc::clone(&parts.open_streams);
        let (store, clock) = (Arc::downgrade(&parts.store), Arc::clone(&parts.clock));
        let end = parts.ending.clone();
        parts.tasks.spawn(async move { streams.watch(store, clock, end).await });
        Self { parts }
    }

    /// Whether the store can write, and what is damaged in it.
    pub async fn store_health(&self) -> StoreHealth {
        self.parts.store.health().await
    }

    /// Resumes the runs that were active when the last process ended, and the messages that were queued; returns how many
    /// runs. A run that was active in several crashes in a row is ended instead (`session/recover.rs`).
    pub async fn recover(&self) -> Result<usize, EngineError> {
        self.parts.store.begin_recovery(self.parts.settings.alone_from()).await?;
        let running = self.parts.store.active_runs().await?;
        let count = running.len();
        let mut keys: Vec<_> = running.into_iter().map(|active| active.session).collect();
        for key in self.parts.store.sessions_with_queue().await? {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            match self.parts.store.session_by_key(key).await {
                Ok(Some(record)) => {
                    self.parts.sessions.tell(&self.parts, (record.workspace, record.id), Command::Recover)?;
                }
                Ok(None) => {}
                // One that cannot be read does not keep the others.
                Err(error @ StoreError::Corrupt(_)) => {
                    tracing::error!(%error, chat = key.0, "an unfinished chat cannot be read");
                }
                Err(error) => return Err(error.into()),
            }
        }
        let store = Arc::clone(&self.parts.store);
        self.parts.tasks.spawn(async move {
            match store.sweep_files().await {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, "files that nobody refers to were removed"),
                Err(error) => tracing::warn!(%error, "files that nobody refers to could not be removed"),
            }
        });
        Ok(count)
    }

    /// A message, an edit, a retry or answers; gives the stream of what comes of it, now or when its turn comes.
    pub async fn send(&self, request: SendRequest) -> Result<Following, EngineError> {
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
        let name = (request.workspace.clone(), request.session.clone());
        self.ask(name.0, name.1, |reply| Command::Send { request: Box::new(request), reply }).await
    }

    /// The stream of the run that is on: from the beginning of its message, or after an event the client has.
    pub async fn watch(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        after: Option<Seq>,
    ) -> Result<Option<Viewer>, EngineError> {
        if let Some(SubAgentChat { session: owner, frame, .. }) = self.sub_chat(&workspace, &session).await? {
            return self.watch_frame(workspace, owner, frame, after).await;
        }
        self.ask(workspace, session, |reply| Command::Watch { after, reply }).await
    }

    /// Ends the run and takes back what waits, or only what `at` names: a message that waits, or the run that
    /// answers it. Returns when the run has ended. A sub-agent's chat ends that agent alone.
    pub async fn stop(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        at: Option<MessageId>,
    ) -> Result<Stopped, EngineError> {
        if let Some(SubAgentChat { session: owner, frame, .. }) = self.sub_chat(&workspace, &session).await? {
            let stopped = self.stop_frame(workspace, owner, frame).await?;
            return Ok(if stopped { Stopped::Cancelled } else { Stopped::Idle });
        }
        self.ask(workspace, session, |reply| Command::Stop { at, reply }).await
    }

    /// The messages that wait behind the run, the first first.
    pub async fn queue(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<Vec<UiMessage>, EngineError> {
        let record = self.record(workspace, session).await?;
        let queued = self.parts.store.queued(record.key).await?;
        Ok(queued.into_iter().map(|queued| queued.message).collect())
    }

    /// Makes the branch through this message (its newest revision unless named) the active one; gives its leaf.
    pub async fn choose_branch(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        at: MessageId,
        revision: Option<u32>,
    ) -> Result<MessageRef, EngineError> {
        self.ask(workspace, session, |reply| Command::Branch { at, revision, reply }).await
    }

    /// A page of the active branch as JSON messages, oldest first: those before `before`, else the newest. The
    /// message of a run in progress is left out.
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
                let message = self.parts.store.message(record.key, id).await?;
                message.ok_or_else(|| EngineError::MessageNotFound(id.clone()))?.parent
            }
            None => self.visible_leaf(&record).await?,
        };
        let branch = match leaf {
            Some(leaf) => self.parts.store.branch(record.key, &leaf, limit).await?,
            None => Vec::new(),
        };
        let first = branch.first().filter(|first| first.parent.is_some());
        let next_before = first.map(|first| first.reference.id.clone());
        Ok(HistoryPage { messages: self.show(record.key, branch).await?, next_before })
    }

    async fn visible_leaf(&self, record: &SessionRecord) -> Result<Option<MessageRef>, EngineError> {
        if let Some(LastRun { message: id, status: RunStatus::Running }) = &record.last_run
            && let Some(run) = self.parts.store.run_of_message(record.key, id).await?
        {
            // While a run goes on after a pause, the message as it was at the pause is all there is to show.
            let paused = self.parts.store.message(record.key, &run.message).await?;
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
        let pinned = !self.parts.store.pinned(&[record.key]).await?.is_empty();
        Ok(info(record, pinned))
    }

    pub async fn sessions(
        &self,
        workspace: &WorkspaceId,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<SessionList, EngineError> {
        let before = cursor.map(parse_cursor).transpose()?;
        let page = self.parts.store.sessions(workspace, before, limit).await?;
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
        let given = title.map(|title| crate::title::given(&title)).transpose();
        let title =
            given.map_err(|wrong| EngineError::InvalidMessage(format!("The title {wrong}.")))?.flatten();
        let record = self.record(workspace, session).await?;
        self.parts.store.rename_session(record.key, title).await?;
        self.parts.note_change(workspace, session);
        self.session(workspace, session).await
    }

    /// Stops what runs and removes everything of the session.
    pub async fn delete(&self, workspace: WorkspaceId, session: SessionId) -> Result<(), EngineError> {
        self.ask(workspace, session, |reply| Command::Delete { reply }).await
    }

    /// What model calls of the workspace used and cost.
    pub async fn usage(
        &self,
        workspace: &WorkspaceId,
        request: UsageRequest,
    ) -> Result<UsageReport, EngineError> {
        usage::report(&*self.parts.store, workspace, request).await
    }

    /// The model that answers when nobody chose one, for the landing page.
    pub fn model_name(&self) -> String {
        self.parts.catalog.default_model().name
    }

    /// The models that can be chosen.
    pub fn models(&self, filter: &Filter<'_>) -> ModelList {
        self.parts.catalog.list(filter)
    }

    /// The agents a person can talk to and delegate to.
    pub fn agents(&self) -> &Arc<AgentRegistry> {
        &self.parts.agents
    }

    pub fn tool_specs(&self) -> &[ToolSpec] {
        &self.parts.tool_specs
    }

    /// What the engine holds in memory, for the diagnostics route.
    pub fn load(&self, workspace: &WorkspaceId) -> EngineLoad {
        let (live_sessions, sessions) = self.parts.sessions.look(workspace);
        EngineLoad { live_sessions, history_cache_bytes: self.parts.histories.bytes(), sessions }
    }

    /// Takes no new work, gives runs the grace period, and leaves the rest to be taken up by the next process.
    pub async fn shut_down(&self, grace: Duration) {
        self.parts.ending.cancel();
        self.parts.tasks.close();
        if tokio::time::timeout(grace, self.parts.tasks.wait()).await.is_err() {
            tracing::info!("runs that are still active will be taken up at the next start");
        }
        // Otherwise the next process would take this end for a crash of the runs that are still active.
        if let Err(error) = self.parts.store.note_clean_end().await {
            tracing::warn!(%error, "it could not be stored that the server was asked to end");
        }
    }

    pub(crate) async fn record(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<SessionRecord, EngineError> {
        let record = self.parts.store.session(workspace, session).await?;
        record.ok_or(EngineError::SessionNotFound)
    }

    pub(crate) async fn ask<T>(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.parts.sessions.tell(&self.parts, (workspace, session), command(reply))?;
        answer.await.map_err(|_| EngineError::ShuttingDown)?
    }
}

pub(crate) fn info(record: SessionRecord, pinned: bool) -> SessionInfo {
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
