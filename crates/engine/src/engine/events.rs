//! What the events surface asks of the engine: sessions made before their first message, the choice of the main agent,
//! following a whole session, the history as a list of items, and rollback.

use std::collections::{BTreeSet, HashMap};

use protocol::{
    Announcement, ApprovalId, MainAgent, MessageFold, MessageId, RunId, Seq, SessionId, Timestamp, UiMessage,
    WorkspaceId,
    interaction::{Interaction, InteractionStatus},
    project::events::{Growth, history},
    wire::events::{GROWTH, entry_of, event_number},
};
use serde_json::{Value, json};
use store::{LastRun, RunRecord, RunStatus, SessionRecord};

use crate::{
    AgentSwitch, Engine, EngineError, EventsReader, FollowFrom, Following, SendRequest,
    session::{
        actor::Command,
        follow::FollowRequest,
        main_agent::current_agent,
        rollback::{self, RollbackFiles, RollbackRequest},
    },
    session_name::SessionName,
    session_title,
};

const READ_BYTES: usize = 1 << 20;
/// The longest summary of a message, in characters.
const SUMMARY: usize = 120;
/// How many sessions a search finds at most.
const MOST_FOUND: u32 = 1_000;

/// Who follows a session, and from where.
pub struct Follow {
    /// The connection that its events are sent on.
    pub connection: String,
    /// The connection that it is taken from.
    pub taken_from: Option<String>,
    /// The number of the last event that the client has; none to begin with what happens from now on.
    pub after: Option<Seq>,
    pub growth: Growth,
}

/// A page of sessions.
pub struct SessionPageItems {
    pub sessions: Vec<Value>,
    pub total: u64,
}

impl Engine {
    /// The main agents that a session can be given, in the order in which they are offered.
    pub fn main_agents(&self, workspace: &WorkspaceId) -> Vec<MainAgent> {
        let agents = self.services.agents.registry.main_agents(workspace);
        let info = |agent: &std::sync::Arc<crate::agents::AgentDefinition>| MainAgent {
            id: agent.name.clone(),
            name: agent.display_name.clone(),
            description: agent.description.clone(),
        };
        agents.iter().map(info).collect()
    }

    /// Makes a session; returns its id.
    pub async fn create_session(
        &self,
        workspace: WorkspaceId,
        title: Option<&str>,
        agent: Option<String>,
    ) -> Result<SessionId, EngineError> {
        let title = title.map(session_title::validate).transpose();
        let title =
            title.map_err(|wrong| EngineError::InvalidMessage(format!("The title {wrong}.")))?.flatten();
        let session = SessionId::new(format!("ses_{}", self.services.ids.unguessable()));
        let command = |reply| Command::Create { title, agent, reply };
        self.command(workspace, session.clone(), command).await?;
        Ok(session)
    }

    pub async fn switch_agent(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        agent: String,
        request: Option<String>,
    ) -> Result<AgentSwitch, EngineError> {
        self.command(workspace, session, |reply| Command::SwitchAgent { agent, request, reply }).await
    }

    /// The main agent that answers next in a session.
    pub async fn current_agent(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<String, EngineError> {
        Ok(current_agent(&self.services.agents, &self.record(workspace, session).await?))
    }

    /// Tells the clients at a session something.
    pub async fn announce(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        announcement: Announcement,
    ) -> Result<(), EngineError> {
        self.command(workspace, session, |reply| Command::Announce { announcement, reply }).await
    }

    /// Follows a whole session; `None` if the log does not have the event that the client names.
    pub async fn follow(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        follow: Follow,
    ) -> Result<Option<EventsReader>, EngineError> {
        let Follow { connection, taken_from, after, growth } = follow;
        let from = match after {
            None => FollowFrom::Now,
            Some(0) => FollowFrom::After(0),
            Some(number) if number == event_number(entry_of(number), GROWTH) => {
                FollowFrom::After(entry_of(number))
            }
            Some(number) => FollowFrom::Within(entry_of(number)),
        };
        let id = session.clone();
        let command = |reply| Command::Follow { request: FollowRequest { from, taken_from }, reply };
        let follower = self.command(workspace, session, command).await?;
        let told = after.unwrap_or_default();
        Ok(follower.map(|follower| EventsReader::new(follower, id, connection, growth, told)))
    }

    fn last_entry(&self, record: &SessionRecord) -> Seq {
        let name = SessionName::new(record.workspace.clone(), record.id.clone());
        self.services.logs.visible(&name).unwrap_or(record.high_water)
    }

    /// The number of the newest event of a session.
    pub async fn last_event(&self, workspace: &WorkspaceId, session: &SessionId) -> Result<Seq, EngineError> {
        let record = self.record(workspace, session).await?;
        Ok(event_number(self.last_entry(&record), GROWTH))
    }

    /// Starts a run and returns when it is accepted.
    pub async fn start(&self, request: SendRequest) -> Result<RunId, EngineError> {
        let (workspace, session) = (request.workspace.clone(), request.session.clone());
        let Following::Run(viewer) = self.send(request).await? else { return Err(EngineError::Busy) };
        let record = self.record(&workspace, &session).await?;
        let run = self.services.store.run_of_message(record.key, viewer.message()).await?;
        Ok(run.ok_or(EngineError::Busy)?.id)
    }

    /// Denies a call and ends its run.
    pub async fn reject(&self, workspace: WorkspaceId, approval: ApprovalId) -> Result<(), EngineError> {
        let asked = self.services.store.interaction(&workspace, &approval).await?;
        let session = asked.ok_or(EngineError::ApprovalNotFound)?.session;
        self.command(workspace, session, |reply| Command::Reject { approval, reply }).await
    }

    /// A name that nobody can guess.
    pub fn unguessable(&self) -> String {
        self.services.ids.unguessable()
    }

    pub fn new_message(&self) -> MessageId {
        self.services.ids.message()
    }

    pub fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// Whether the caller's workspace has this session.
    pub async fn has_session(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<bool, EngineError> {
        Ok(self.services.store.session(workspace, session).await?.is_some())
    }

    /// A session with its history up to the entry `cut`, as `/session/load` returns it.
    pub async fn load_session(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        cut: Option<Seq>,
    ) -> Result<Value, EngineError> {
        let record = self.record(workspace, session).await?;
        let cut = cut.unwrap_or_else(|| self.last_entry(&record));
        let mut items = Vec::new();
        if let Some(leaf) = self.visible_leaf(&record).await? {
            for stored in self.services.store.branch_after(record.key, &leaf, None).await? {
                items.extend(history::items(&stored.message()?, stored.created_at));
            }
        }
        let mut pending = Vec::new();
        if let Some(LastRun { message, status: RunStatus::Running | RunStatus::Parked }) = &record.last_run
            && let Some(run) = self.services.store.run_of_message(record.key, message).await?
        {
            if run.status == RunStatus::Running {
                items.extend(self.unfinished(&record, &run, cut).await?);
            }
            let asked = self.services.store.interactions_of_message(record.key, message).await?;
            pending = asked.into_iter().filter(|asked| asked.status == InteractionStatus::Pending).collect();
        }
        let mut info = self.session_item(&record);
        info["messages"] = Value::from(items);
        info["pendingInteractions"] = pending.iter().map(pending_item).collect();
        info["lastSeq"] = Value::from(event_number(cut, GROWTH));
        Ok(info)
    }

    /// The items of a message that is being written, as far as `cut`.
    async fn unfinished(
        &self,
        record: &SessionRecord,
        run: &RunRecord,
        cut: Seq,
    ) -> Result<Vec<Value>, EngineError> {
        let mut fold = MessageFold::new(run.message.clone());
        let mut at = run.first_seq.saturating_sub(1);
        while at < cut {
            let entries = self.services.store.read_log(record.key, at, READ_BYTES).await?;
            let Some(last) = entries.last() else { break };
            at = last.seq;
            for entry in entries.iter().filter(|entry| entry.seq <= cut) {
                if entry.event.message() == Some(&run.message) {
                    // A part of a log that cannot be folded is told by its events instead.
                    drop(fold.event(&entry.event));
                }
            }
        }
        Ok(history::items(&fold.into_message(), self.services.clock.now()))
    }

    fn session_item(&self, record: &SessionRecord) -> Value {
        let status = match record.last_run {
            Some(LastRun { status: RunStatus::Running, .. }) => "running",
            Some(LastRun { status: RunStatus::Parked, .. }) => "awaiting_interaction",
            _ => "idle",
        };
        let current = current_agent(&self.services.agents, record);
        let title = record.title.clone().unwrap_or_default();
        let mut item = json!({
            "id": record.id, "title": title, "summary": title, "createdAt": record.created_at,
            "updatedAt": record.updated_at, "messageCount": record.message_count, "currentAgentId": current,
            "status": status,
        });
        if let Some(chosen) = record.agent.as_ref().filter(|chosen| **chosen != current) {
            item["agentFallbackFrom"] = Value::from(chosen.as_str());
        }
        item
    }

    /// A page of sessions, newest first; with a text, those whose title or messages contain it.
    pub async fn session_items(
        &self,
        workspace: &WorkspaceId,
        text: Option<&str>,
        page: u64,
        page_size: u32,
    ) -> Result<SessionPageItems, EngineError> {
        let skip = page.saturating_mul(u64::from(page_size));
        let store = &self.services.store;
        let (records, total) = match text {
            Some(text) => {
                let found = store.search_sessions(workspace, text, MOST_FOUND).await?;
                let total = found.len() as u64;
                let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                (found.into_iter().skip(skip).take(page_size as usize).collect::<Vec<_>>(), total)
            }
            None => {
                let total = store.session_count(workspace).await?;
                (store.sessions_from(workspace, skip, page_size).await?, total)
            }
        };
        Ok(SessionPageItems {
            sessions: records.iter().map(|record| self.session_item(record)).collect(),
            total,
        })
    }

    /// The messages of the user that the conversation can be put back before, as `/session/rollback-points` lists them.
    pub async fn rollback_points(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
    ) -> Result<Vec<Value>, EngineError> {
        let record = self.record(workspace, session).await?;
        let Some(leaf) = &record.active_leaf else { return Ok(Vec::new()) };
        let points = rollback::points(&self.services, record.key, leaf).await?;
        let changes = self.services.store.file_changes(record.key).await?;
        let mut files: HashMap<&MessageId, (BTreeSet<&str>, Timestamp)> = HashMap::new();
        for change in &changes {
            let of_run = files.entry(&change.root).or_insert_with(|| (BTreeSet::new(), change.set.at));
            of_run.0.extend(change.set.files.iter().map(|file| file.path.as_str()));
        }
        let mut items = Vec::with_capacity(points.len());
        for point in &points {
            let message: UiMessage = point.message.message()?;
            let all: BTreeSet<&str> = point
                .answers
                .iter()
                .filter_map(|answer| files.get(answer))
                .flat_map(|(paths, _)| paths)
                .copied()
                .collect();
            let own = point.answers.first().and_then(|answer| files.get(answer));
            let mut item = json!({
                "messageIndex": point.index, "role": "user", "timestamp": point.message.created_at,
                "summary": summary(&message.text()), "hasSnapshot": own.is_some(), "filesToRollbackCount": all.len(),
            });
            if let Some((paths, at)) = own {
                item["snapshot"] = json!({ "timestamp": at, "fileCount": paths.len() });
            }
            items.push(item);
        }
        Ok(items)
    }

    /// Puts the conversation back to what it was before a message of the user. The clients at the session are told.
    pub async fn roll_back(
        &self,
        workspace: WorkspaceId,
        session: SessionId,
        message_index: usize,
        files: RollbackFiles,
        request: Option<String>,
    ) -> Result<(), EngineError> {
        let request = RollbackRequest { message_index, files, request };
        self.command(workspace, session, |reply| Command::RollBack { request, reply }).await
    }
}

fn pending_item(asked: &Interaction) -> Value {
    json!({
        "requestId": asked.id, "toolCallId": asked.tool_call, "toolName": asked.tool, "arguments": asked.input,
        "askedAt": asked.asked_at,
    })
}

/// The first words, with white space collapsed.
fn summary(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(SUMMARY).collect()
}
