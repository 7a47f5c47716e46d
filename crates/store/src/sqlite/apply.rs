//! The tables are folds over the log: what each event means to them, in the same transaction as its row.

use protocol::{
    DataPart, MessageId, MessageRef, Planted, RunEnd, RunId, SessionEvent, Timestamp, UiMessage,
    event::LogEntry, interaction::InteractionStatus,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::{artifacts, chain, checksum, frames, interactions, json, queue, signed};
use crate::{FrameStatus, Row, SessionKey, StoreError};

/// A history of up to this many messages gets its rows with the event.
const PLANTED_AT_ONCE: usize = 64;

/// What the events of one append change in the session's own row; written once, at the end.
#[derive(Default)]
pub(super) struct SessionPatch {
    leaf: Option<i64>,
    added: usize,
    title: Option<String>,
    last_run: Option<MessageId>,
    /// A run began or went on, or paused or ended.
    running: Option<bool>,
    preface: Option<(String, String)>,
    /// A long history was planted; its rows come later.
    planted: bool,
    planted_child: Option<i64>,
    /// How many more messages wait than before.
    queued: i64,
    /// Whether a person would call the session changed.
    changed: bool,
}

impl SessionPatch {
    /// Nothing yet, for an append of these rows.
    pub(super) fn of(rows: &[Row]) -> Self {
        let planted = |row: &Row| match row {
            Row::Event(entry) => entry.event.planted().map_or(0, Planted::len),
            Row::Deltas(_) => 0,
        };
        let planted = rows.iter().map(planted).sum::<usize>() > PLANTED_AT_ONCE;
        Self { planted, ..Self::default() }
    }

    fn leaf(&mut self, leaf: i64, added: usize) {
        self.leaf = Some(leaf);
        self.added += added;
        self.changed = true;
    }

    /// Whether lists of sessions move it up.
    fn is_news(&self) -> bool {
        self.changed || self.last_run.is_some()
    }

    pub(super) fn write(
        &self,
        connection: &Connection,
        session: SessionKey,
        at: Timestamp,
        high_water: Option<i64>,
    ) -> Result<(), StoreError> {
        if self.planted {
            connection
                .prepare_cached("UPDATE sessions SET planted = 0, planted_child = ?2 WHERE key = ?1")?
                .execute(params![session.0, self.planted_child])?;
        }
        if self.queued != 0 {
            connection
                .prepare_cached("UPDATE sessions SET queued = queued + ?2 WHERE key = ?1")?
                .execute(params![session.0, self.queued])?;
        }
        let known = if self.is_news() || self.running.is_some() || self.preface.is_some() {
            connection
                .prepare_cached(
                    "UPDATE sessions SET high_water = coalesce(?2, high_water), updated_at = max(updated_at, ?3),
                       leaf = coalesce(?4, leaf), message_count = message_count + ?5,
                       title = coalesce(title, ?6), last_run = coalesce(?7, last_run),
                       running = coalesce(?8, running), preface = coalesce(?9, preface),
                       preface_agent = coalesce(?10, preface_agent)
                     WHERE key = ?1",
                )?
                .execute(params![
                    session.0,
                    high_water,
                    if self.is_news() { at.0 } else { 0 },
                    self.leaf,
                    count(self.added),
                    self.title,
                    self.last_run.as_ref().map(MessageId::as_str),
                    self.running,
                    self.preface.as_ref().map(|(_, text)| text),
                    self.preface.as_ref().map(|(agent, _)| agent)
                ])?
        } else if high_water.is_some() {
            connection
                .prepare_cached("UPDATE sessions SET high_water = ?2 WHERE key = ?1")?
                .execute(params![session.0, high_water])?
        } else {
            // Nothing to write, but nothing may be stored for a session that is gone either.
            usize::from(
                connection.prepare_cached("SELECT 1 FROM sessions WHERE key = ?1")?.exists([session.0])?,
            )
        };
        if known == 1 { Ok(()) } else { Err(StoreError::Conflict) }
    }
}

pub(super) fn apply(
    connection: &Connection,
    session: SessionKey,
    patch: &mut SessionPatch,
    entry: &LogEntry,
    bodies: &[(MessageId, String)],
) -> Result<(), StoreError> {
    protocol::crash_point!(
        "store",
        if let SessionEvent::ToolRequested { call, .. } = &entry.event {
            call.input.to_string()
        } else {
            String::new()
        }
    );
    match &entry.event {
        SessionEvent::HistoryPlanted { messages } => plant(connection, session, patch, entry.at, messages),
        SessionEvent::MessageAccepted { message, revision, parent, facts } => {
            let parent = match parent {
                Some(_) if patch.planted => None,
                Some(parent) => Some(node(connection, session, parent)?),
                None => None,
            };
            let body = json(message)?;
            let facts = facts.as_ref().map(json).transpose()?;
            let new = NewMessage { revision: *revision, parent, facts: facts.as_deref() };
            let node = insert_message(connection, session, &message.id, &body, new, entry.at)?;
            patch.leaf(node, 1);
            patch.planted_child = Some(node);
            patch.title = patch.title.take().or_else(|| title_of(message));
            Ok(())
        }
        SessionEvent::PrefaceWritten { agent, text } => {
            patch.preface = Some((agent.clone(), text.clone()));
            Ok(())
        }
        SessionEvent::MessageQueued { .. } => {
            patch.queued += count(queue::insert(connection, session, entry.seq, &entry.event)?);
            Ok(())
        }
        SessionEvent::QueueLeft { queued, .. } => {
            patch.queued -= count(queue::remove(connection, session, queued)?);
            Ok(())
        }
        SessionEvent::RunStarted { run, answers, message, options } => {
            let answers = node(connection, session, answers)?;
            connection
                .prepare_cached(
                    "INSERT INTO runs (session, message, id, answers, status, first_seq, options, started_at)
                     VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7)",
                )?
                .execute(params![
                    session.0,
                    message.as_str(),
                    run.as_str(),
                    answers,
                    signed(entry.seq),
                    json(options)?,
                    entry.at.0
                ])?;
            patch.last_run = Some(message.clone());
            patch.running = Some(true);
            Ok(())
        }
        SessionEvent::RunParked { message, .. } => {
            let run = connection
                .prepare_cached("UPDATE runs SET status = 'parked' WHERE session = ?1 AND message = ?2")?
                .execute(params![session.0, message.as_str()])?;
            // Not so for a sub-agent, which parks with its run.
            if run == 1 {
                patch.running = Some(false);
            }
            put_answer(connection, session, patch, message, FrameStatus::Parked, bodies, entry.at)
        }
        SessionEvent::RunResumed { message, .. } => {
            let run = connection
                .prepare_cached(
                    // After a crash it was running: clients still go on from where a person let it go on.
                    "UPDATE runs SET status = 'running', ended_at = NULL,
                       last_resume = CASE status WHEN 'running' THEN last_resume ELSE ?3 END
                     WHERE session = ?1 AND message = ?2",
                )?
                .execute(params![session.0, message.as_str(), signed(entry.seq)])?;
            if run == 1 {
                patch.running = Some(true);
                return Ok(());
            }
            frames::resume(connection, session, message, entry.seq)
        }
        SessionEvent::RunEnded { message, end, .. } => {
            let run = connection
                .prepare_cached(
                    "UPDATE runs SET status = ?3, ended_at = ?4 WHERE session = ?1 AND message = ?2",
                )?
                .execute(params![session.0, message.as_str(), end_name(*end), entry.at.0])?;
            if run == 1 {
                patch.running = Some(false);
            }
            Ok(())
        }
        SessionEvent::FrameOpened { message, parent: Some(parent), .. } => {
            frames::open(connection, session, message, parent, entry.seq, entry.at)
        }
        SessionEvent::FrameClosed { message, end, .. } => {
            put_answer(connection, session, patch, message, frames::status_of(end), bodies, entry.at)
        }
        SessionEvent::ModelCalled { message, run, agent, model, usage, cost, duration_ms, failed } => {
            connection
                .prepare_cached(
                    "INSERT INTO usage (session, seq, at, message, model, input_tokens, output_tokens, total_tokens,
                       cached_input_tokens, reasoning_tokens, duration_ms, run, agent, cache_write_tokens, cost, failed)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                )?
                .execute(params![
                    session.0,
                    signed(entry.seq),
                    entry.at.0,
                    message.as_str(),
                    model,
                    signed(usage.input_tokens),
                    signed(usage.output_tokens),
                    signed(usage.total_tokens),
                    signed(usage.cached_input_tokens),
                    signed(usage.reasoning_tokens),
                    signed(*duration_ms),
                    run.as_ref().map(RunId::as_str),
                    (!agent.is_empty()).then(|| agent.join("/")),
                    signed(usage.cache_write_tokens),
                    cost.map(|cost| signed(cost.0)),
                    failed
                ])?;
            Ok(())
        }
        SessionEvent::DataPushed { message, .. }
        | SessionEvent::AgentSteered { message, .. }
        | SessionEvent::BackgroundReported { message, .. }
        | SessionEvent::CompactionChanged { message, .. } => match entry.event.data_part() {
            Some(part) if !part.transient => keep_data(connection, session, message, &part),
            _ => Ok(()),
        },
        SessionEvent::ArtifactKept { message, artifact } => {
            artifacts::insert(connection, session, message, artifact, entry.at)
        }
        SessionEvent::ApprovalAsked { message, approval, call, raised: false } => {
            connection
                .prepare_cached(
                    "INSERT INTO interactions
                       (id, session, run, message, tool_call, tool, input, status, asked_at, asked_seq)
                     VALUES (?1, ?2, (SELECT id FROM runs WHERE session = ?2 AND message =
                         coalesce((SELECT root FROM frames WHERE session = ?2 AND message = ?3), ?3)), ?3, ?4, ?5, ?6, 'pending', ?7, ?8)",
                )?
                .execute(params![
                    approval.as_str(),
                    session.0,
                    message.as_str(),
                    call.id.as_str(),
                    call.name,
                    json(&call.input)?,
                    entry.at.0,
                    signed(entry.seq)
                ])?;
            Ok(())
        }
        SessionEvent::ApprovalAnswered { approval, approved, reason, withdrawn, raised: false, .. } => {
            let status = match (approved, withdrawn) {
                (true, _) => InteractionStatus::Approved,
                (false, false) => InteractionStatus::Denied,
                (false, true) => InteractionStatus::Withdrawn,
            };
            // First answer wins, once.
            let changed = connection
                .prepare_cached(
                    "UPDATE interactions SET status = ?2, reason = ?3, answered_at = ?4
                     WHERE id = ?1 AND status = 'pending'",
                )?
                .execute(params![approval.as_str(), interactions::status_name(status), reason, entry.at.0])?;
            if changed == 1 { Ok(()) } else { Err(StoreError::Conflict) }
        }
        SessionEvent::InputEdited { approval, input, raised: false, .. } => {
            connection
                .prepare_cached("UPDATE interactions SET edited = ?2 WHERE id = ?1")?
                .execute(params![approval.as_str(), json(input)?])?;
            Ok(())
        }
        SessionEvent::GrantGiven { grant, .. } => {
            connection
                .prepare_cached(
                    "UPDATE sessions SET grants = json_insert(coalesce(grants, '[]'), '$[#]', json(?2))
                     WHERE key = ?1 AND NOT EXISTS (
                         SELECT 1 FROM json_each(coalesce(sessions.grants, '[]')) g WHERE g.value = json(?2))",
                )?
                .execute(params![session.0, json(grant)?])?;
            Ok(())
        }
        SessionEvent::FrameOpened { parent: None, .. }
        | SessionEvent::ApprovalAsked { raised: true, .. }
        | SessionEvent::ApprovalAnswered { raised: true, .. }
        | SessionEvent::InputEdited { raised: true, .. }
        | SessionEvent::StepStarted { .. }
        | SessionEvent::StepFinished { .. }
        | SessionEvent::MetadataAdded { .. }
        | SessionEvent::DelegationStarted { .. }
        | SessionEvent::AgentStuck { .. }
        | SessionEvent::SegmentOpened { .. }
        | SessionEvent::SegmentDelta { .. }
        | SessionEvent::SegmentClosed { .. }
        | SessionEvent::SourceCited { .. }
        | SessionEvent::ToolInputStarted { .. }
        | SessionEvent::ToolInputDelta { .. }
        | SessionEvent::ToolRequested { .. }
        | SessionEvent::ToolRejected { .. }
        | SessionEvent::ToolProgress { .. }
        | SessionEvent::ToolSettled { .. } => Ok(()),
    }
}

/// Keeps the newest data part of each name. Those of sub-agents belong to their own messages only.
fn keep_data(
    connection: &Connection,
    session: SessionKey,
    message: &MessageId,
    part: &DataPart<'_>,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO notes (session, name, data) SELECT ?1, ?2, ?3
             WHERE NOT EXISTS (SELECT 1 FROM frames WHERE session = ?1 AND message = ?4)",
        )?
        .execute(params![session.0, part.name, json(&part.data)?, message.as_str()])?;
    Ok(())
}

fn plant(
    connection: &Connection,
    session: SessionKey,
    patch: &mut SessionPatch,
    at: Timestamp,
    messages: &Planted,
) -> Result<(), StoreError> {
    if patch.planted {
        patch.added += messages.len();
        return Ok(());
    }
    let mut parent = patch.leaf;
    for message in messages.messages().map_err(StoreError::Corrupt)? {
        let new = NewMessage { parent, ..NewMessage::default() };
        parent = Some(insert_message(connection, session, &message.id, &json(&message)?, new, at)?);
    }
    if let Some(leaf) = parent {
        patch.leaf(leaf, messages.len());
    }
    Ok(())
}

/// Writes an agent's message when its run pauses or ends; the same message again replaces it.
fn put_answer(
    connection: &Connection,
    session: SessionKey,
    patch: &mut SessionPatch,
    id: &MessageId,
    status: FrameStatus,
    bodies: &[(MessageId, String)],
    at: Timestamp,
) -> Result<(), StoreError> {
    let (_, body) = bodies
        .iter()
        .find(|(message, _)| message == id)
        .ok_or_else(|| StoreError::Corrupt(format!("the folded message {id} is missing")))?;
    let replaced = connection
        .prepare_cached(
            "UPDATE messages SET body = ?3, crc = ?4 WHERE session = ?1 AND id = ?2 AND revision = 0",
        )?
        .execute(params![
            session.0,
            id.as_str(),
            body,
            checksum::of_message(session, id.as_str(), 0, body)
        ])?;
    patch.changed = true;
    if replaced == 1 {
        return Ok(());
    }
    let parent: Option<i64> = connection
        .prepare_cached("SELECT answers FROM runs WHERE session = ?1 AND message = ?2")?
        .query_row(params![session.0, id.as_str()], |row| row.get(0))
        .optional()?;
    if parent.is_none() && frames::put(connection, session, id, status, body)? {
        return Ok(());
    }
    let new = NewMessage { parent, ..NewMessage::default() };
    let node = insert_message(connection, session, id, body, new, at)?;
    patch.leaf(node, 1);
    Ok(())
}

/// What a message's row says beside its content.
#[derive(Default)]
pub(super) struct NewMessage<'a> {
    pub(super) revision: u32,
    pub(super) parent: Option<i64>,
    pub(super) facts: Option<&'a str>,
}

pub(super) fn insert_message(
    connection: &Connection,
    session: SessionKey,
    id: &MessageId,
    body: &str,
    new: NewMessage<'_>,
    at: Timestamp,
) -> Result<i64, StoreError> {
    let spot = match new.parent {
        Some(parent) => chain::next_of(connection, parent)?,
        None => None,
    };
    connection
        .prepare_cached(
            "INSERT INTO messages (session, id, revision, parent, created_at, body, facts, chain, place, crc)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            session.0,
            id.as_str(),
            new.revision,
            new.parent,
            at.0,
            body,
            new.facts,
            spot.map(|spot| spot.chain),
            spot.map_or(0, |spot| spot.place),
            checksum::of_message(session, id.as_str(), new.revision, body)
        ])?;
    let node = connection.last_insert_rowid();
    match (spot, new.parent) {
        (Some(spot), _) => chain::lengthen(connection, spot.chain, node)?,
        (None, Some(parent)) => chain::hang(connection, session, node, parent)?,
        (None, None) => {}
    }
    Ok(node)
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A session is called after its first words until somebody gives it a title.
fn title_of(message: &UiMessage) -> Option<String> {
    const LONGEST: usize = 80;
    let text = message.text();
    let mut title = String::new();
    for word in text.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
        if title.len() > 4 * LONGEST {
            break;
        }
    }
    let title: String = title.chars().take(LONGEST).collect();
    (!title.is_empty()).then_some(title)
}

pub(super) fn node(
    connection: &Connection,
    session: SessionKey,
    reference: &MessageRef,
) -> Result<i64, StoreError> {
    connection
        .prepare_cached("SELECT node FROM messages WHERE session = ?1 AND id = ?2 AND revision = ?3")?
        .query_row(params![session.0, reference.id.as_str(), reference.revision], |row| row.get(0))
        .optional()?
        .ok_or(StoreError::Conflict)
}

pub(super) fn end_name(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Finished => "finished",
        RunEnd::Cancelled => "cancelled",
        RunEnd::Failed => "failed",
        RunEnd::Withdrawn => "withdrawn",
    }
}
