//! What the events of one append change in the row of their session. It is written once, at the end of the append.

use protocol::{MessageId, Planted, Timestamp, UiMessage};
use rusqlite::{Connection, params};

use crate::{PrefaceRecord, Row, SessionKey, StoreError};

/// A history of up to this many messages gets its message rows in the append that plants it.
const PLANTED_AT_ONCE: usize = 64;

#[derive(Default)]
pub(super) struct SessionPatch {
    /// Node of the message that the active branch ends with now.
    leaf: Option<i64>,
    /// Whether the active branch is empty now.
    has_no_leaf: bool,
    agent: Option<String>,
    added_messages: usize,
    title: Option<String>,
    last_run: Option<MessageId>,
    /// `true` when a run was started or resumed, `false` when it was parked or ended.
    running: Option<bool>,
    preface: Option<PrefaceRecord>,
    /// Whether a history was planted whose message rows are inserted later (`planted.rs`).
    history_is_pending: bool,
    /// Node of the first message after that history.
    history_child: Option<i64>,
    /// How many more messages are queued than before.
    queued: i64,
    /// Whether a message was added or replaced.
    has_new_message: bool,
}

impl SessionPatch {
    /// An empty patch for an append of these rows.
    pub(super) fn of(rows: &[Row]) -> Self {
        let planted = |row: &Row| match row {
            Row::Event(entry) => entry.event.planted().map_or(0, Planted::len),
            Row::Deltas(_) => 0,
        };
        let history_is_pending = rows.iter().map(planted).sum::<usize>() > PLANTED_AT_ONCE;
        Self { history_is_pending, ..Self::default() }
    }

    /// Whether the append plants a history whose message rows are inserted later.
    pub(super) fn history_is_pending(&self) -> bool {
        self.history_is_pending
    }

    pub(super) fn leaf(&self) -> Option<i64> {
        self.leaf
    }

    pub(super) fn add_pending_messages(&mut self, count: usize) {
        self.added_messages += count;
    }

    /// The active branch ends with the message `leaf` now; `added` rows of messages were inserted.
    pub(super) fn set_leaf(&mut self, leaf: i64, added: usize) {
        self.choose_leaf(Some(leaf));
        self.added_messages += added;
        self.has_new_message = true;
    }

    /// The active branch ends with this message of the past now, or is empty.
    pub(super) fn choose_leaf(&mut self, leaf: Option<i64>) {
        self.leaf = leaf;
        self.has_no_leaf = leaf.is_none();
    }

    pub(super) fn set_agent(&mut self, agent: &str) {
        self.agent = Some(agent.to_owned());
    }

    pub(super) fn accept_message(&mut self, node: i64, message: &UiMessage) {
        self.set_leaf(node, 1);
        self.history_child = Some(node);
        self.title = self.title.take().or_else(|| first_words(message));
    }

    pub(super) fn replace_message(&mut self) {
        self.has_new_message = true;
    }

    pub(super) fn set_preface(&mut self, agent: &str, text: &str) {
        self.preface = Some(PrefaceRecord { agent: agent.to_owned(), text: text.to_owned() });
    }

    pub(super) fn add_queued(&mut self, count: usize) {
        self.queued += signed(count);
    }

    pub(super) fn subtract_queued(&mut self, count: usize) {
        self.queued -= signed(count);
    }

    pub(super) fn start_run(&mut self, message: &MessageId) {
        self.last_run = Some(message.clone());
        self.running = Some(true);
    }

    pub(super) fn set_running(&mut self, running: bool) {
        self.running = Some(running);
    }

    /// Whether the session moves to the top of the list of sessions.
    fn updates_time(&self) -> bool {
        self.has_new_message || self.last_run.is_some()
    }

    fn has_columns(&self) -> bool {
        let has_leaf = self.leaf.is_some() || self.has_no_leaf;
        self.updates_time()
            || self.running.is_some()
            || self.preface.is_some()
            || has_leaf
            || self.agent.is_some()
    }

    /// Writes the row of the session; a conflict when the session was deleted.
    pub(super) fn write(
        &self,
        connection: &Connection,
        session: SessionKey,
        at: Timestamp,
        high_water: Option<i64>,
    ) -> Result<(), StoreError> {
        if self.history_is_pending {
            connection
                .prepare_cached("UPDATE sessions SET planted = 0, planted_child = ?2 WHERE key = ?1")?
                .execute(params![session.0, self.history_child])?;
        }
        if self.queued != 0 {
            connection
                .prepare_cached("UPDATE sessions SET queued = queued + ?2 WHERE key = ?1")?
                .execute(params![session.0, self.queued])?;
        }
        let found = if self.has_columns() {
            self.write_columns(connection, session, at, high_water)?
        } else if high_water.is_some() {
            connection
                .prepare_cached("UPDATE sessions SET high_water = ?2 WHERE key = ?1")?
                .execute(params![session.0, high_water])?
        } else {
            // Nothing to write, but nothing may be stored for a deleted session either.
            usize::from(
                connection.prepare_cached("SELECT 1 FROM sessions WHERE key = ?1")?.exists([session.0])?,
            )
        };
        if found == 1 { Ok(()) } else { Err(StoreError::Conflict) }
    }

    /// Returns how many rows were found: 0 or 1.
    fn write_columns(
        &self,
        connection: &Connection,
        session: SessionKey,
        at: Timestamp,
        high_water: Option<i64>,
    ) -> Result<usize, StoreError> {
        Ok(connection
            .prepare_cached(
                "UPDATE sessions SET high_water = coalesce(?2, high_water), updated_at = max(updated_at, ?3),
                   leaf = iif(?11, NULL, coalesce(?4, leaf)), message_count = message_count + ?5,
                   title = coalesce(title, ?6), last_run = coalesce(?7, last_run),
                   running = coalesce(?8, running), preface = coalesce(?9, preface),
                   preface_agent = coalesce(?10, preface_agent), agent = coalesce(?12, agent)
                 WHERE key = ?1",
            )?
            .execute(params![
                session.0,
                high_water,
                if self.updates_time() { at.0 } else { 0 },
                self.leaf,
                signed(self.added_messages),
                self.title,
                self.last_run.as_ref().map(MessageId::as_str),
                self.running,
                self.preface.as_ref().map(|preface| &preface.text),
                self.preface.as_ref().map(|preface| &preface.agent),
                self.has_no_leaf,
                self.agent
            ])?)
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The first words of a message, which are the title of its session until a person or a model writes one.
fn first_words(message: &UiMessage) -> Option<String> {
    const MAX_CHARS: usize = 80;
    let text = message.text();
    let mut title = String::new();
    for word in text.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
        if title.len() > 4 * MAX_CHARS {
            break;
        }
    }
    let title: String = title.chars().take(MAX_CHARS).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use protocol::{Part, Role, SessionEvent, event::LogEntry};

    use super::*;

    fn user(text: &str) -> UiMessage {
        let parts = vec![Part::Text { text: text.to_owned(), state: None }];
        UiMessage { id: MessageId::new("u"), role: Role::User, metadata: None, parts }
    }

    #[test]
    fn a_title_is_one_line_of_at_most_80_characters() {
        assert_eq!(first_words(&user("  two\n\n words ")).as_deref(), Some("two words"));
        assert_eq!(first_words(&user(" \n ")), None);
        let long = first_words(&user(&"会".repeat(500))).unwrap();
        assert_eq!(long.chars().count(), 80);
    }

    #[test]
    fn the_first_message_of_an_append_names_the_session() {
        let mut patch = SessionPatch::default();
        patch.accept_message(1, &user("first"));
        patch.accept_message(2, &user("second"));
        assert_eq!(patch.title.as_deref(), Some("first"));
        assert_eq!((patch.leaf, patch.added_messages), (Some(2), 2));
    }

    #[test]
    fn only_a_long_history_is_pending() {
        let rows = |count: usize| {
            let messages: Vec<_> =
                (0..count).map(|n| UiMessage { id: MessageId::new(format!("h{n}")), ..user("x") }).collect();
            let event = SessionEvent::HistoryPlanted { messages: Planted::of(&messages).unwrap() };
            [Row::Event(LogEntry { seq: 1, at: Timestamp(1), event })]
        };
        assert!(!SessionPatch::of(&rows(PLANTED_AT_ONCE)).history_is_pending());
        assert!(SessionPatch::of(&rows(PLANTED_AT_ONCE + 1)).history_is_pending());
    }

    #[test]
    fn a_patch_without_changes_still_refuses_a_deleted_session() {
        let connection = Connection::open_in_memory().unwrap();
        super::super::migrate::create(&connection).unwrap();
        let write = |patch: &SessionPatch| patch.write(&connection, SessionKey(1), Timestamp(9), None);
        assert!(matches!(write(&SessionPatch::default()), Err(StoreError::Conflict)));
        connection
            .execute_batch(
                "INSERT INTO sessions (key, workspace, id, created_at, updated_at, high_water)
                 VALUES (1, 'w', 's', 1, 1, 0)",
            )
            .unwrap();
        write(&SessionPatch::default()).unwrap();
        let updated_at = || -> i64 {
            connection.query_row("SELECT updated_at FROM sessions", [], |row| row.get(0)).unwrap()
        };
        let mut paused = SessionPatch::default();
        paused.set_running(false);
        write(&paused).unwrap();
        assert_eq!(updated_at(), 1, "a pause alone does not move the session up in the list");
        let mut started = SessionPatch::default();
        started.start_run(&MessageId::new("m"));
        write(&started).unwrap();
        assert_eq!(updated_at(), 9);
    }
}
