//! Where a session's log ends, and what a new run must know of the session. From here a log is opened to append to it.

use std::sync::Arc;

use protocol::{Rule, Seq, SessionEvent, UiMessage};
use store::{PrefaceRecord, SessionRecord, SessionTarget};

use crate::{EngineError, log::session_log::SessionLog, services::Services, session_name::SessionName};

/// A session with at most so many messages may be without a title because its first answers failed.
const YOUNG: u64 = 4;

pub(crate) struct LogEnd {
    name: SessionName,
    target: SessionTarget,
    high_water: Seq,
    pub(crate) preface: Option<PrefaceRecord>,
    /// The model that the session uses unless a request names another.
    pub(crate) chat_model: Option<ChatModel>,
    /// The session's own rules.
    pub(crate) rules: Vec<Rule>,
    /// Whether the session may be without a title.
    pub(crate) is_young: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChatModel {
    pub(crate) id: String,
    pub(crate) source: Option<String>,
}

impl LogEnd {
    /// The log of a session that is not stored yet.
    pub(super) fn of_new(session: &SessionName) -> Self {
        Self {
            name: session.clone(),
            target: SessionTarget::New { workspace: session.workspace.clone(), id: session.session.clone() },
            high_water: 0,
            preface: None,
            chat_model: None,
            rules: Vec::new(),
            is_young: true,
        }
    }

    /// The log of the session, which others may have opened before.
    pub(crate) fn open(&self, services: &Services) -> Arc<SessionLog> {
        services.logs.get_or_open(&self.name, || {
            let (store, clock) = (Arc::clone(&services.store), Arc::clone(&services.clock));
            SessionLog::new(store, clock, self.target.clone(), self.high_water)
        })
    }
}

impl From<&SessionRecord> for LogEnd {
    fn from(record: &SessionRecord) -> Self {
        let model = |id| ChatModel { id, source: record.chat_model_source.clone() };
        Self {
            name: SessionName::new(record.workspace.clone(), record.id.clone()),
            target: SessionTarget::Known(record.key),
            high_water: record.high_water,
            preface: record.preface.clone(),
            chat_model: record.chat_model_id.clone().map(model),
            rules: record.rules.clone(),
            is_young: is_young(record),
        }
    }
}

pub(crate) fn is_young(record: &SessionRecord) -> bool {
    !record.is_titled && record.message_count <= YOUNG
}

/// Appends to the log of a session that has no active run.
pub(crate) async fn append_without_run(
    services: &Services,
    record: &SessionRecord,
    events: Vec<SessionEvent>,
    messages: Vec<UiMessage>,
) -> Result<Seq, EngineError> {
    Ok(LogEnd::from(record).open(services).append_without_run(events, messages).await?)
}
