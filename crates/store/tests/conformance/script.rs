//! Writes a session as the engine does: events are numbered, and consecutive deltas share a row.

use std::sync::Arc;

use protocol::{
    ApprovalId, FinishReason, FrameEnd, InteractionKind, MessageId, MessageRef, Part, Role, RunEnd, RunId,
    RunOptions, SegmentKind, Seq, SessionEvent, SessionId, Timestamp, ToolCall, ToolCallId, UiMessage,
    WorkspaceId, event::LogEntry,
};
use serde_json::json;
use store::{
    Append, DeltaRow, LastRun, Row, RunStatus, SessionKey, SessionRecord, SessionTarget, Store, StoreError,
};

pub const AT: Timestamp = Timestamp(1_000);

pub struct Script {
    pub store: Arc<dyn Store>,
    pub target: SessionTarget,
    pub last: Seq,
    pub at: Timestamp,
    /// Everything that was appended, event by event.
    pub written: Vec<LogEntry>,
}

impl Script {
    pub fn new(store: &Arc<dyn Store>, id: &str) -> Self {
        Self::in_workspace(store, "default", id)
    }

    pub fn in_workspace(store: &Arc<dyn Store>, workspace: &str, id: &str) -> Self {
        let target = SessionTarget::New { workspace: WorkspaceId::new(workspace), id: SessionId::new(id) };
        Self { store: Arc::clone(store), target, last: 0, at: AT, written: Vec::new() }
    }

    pub fn key(&self) -> SessionKey {
        match self.target {
            SessionTarget::Known(key) => key,
            SessionTarget::New { .. } => panic!("nothing is stored yet"),
        }
    }

    pub async fn append(&mut self, events: Vec<SessionEvent>) -> SessionKey {
        self.append_with(events, Vec::new()).await
    }

    pub async fn append_with(&mut self, events: Vec<SessionEvent>, messages: Vec<UiMessage>) -> SessionKey {
        self.try_append(events, messages).await.unwrap()
    }

    /// Appends events. After a failure their numbers are used again.
    pub async fn try_append(
        &mut self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<SessionKey, StoreError> {
        let mut rows: Vec<Row> = Vec::new();
        let mut entries = Vec::new();
        for (seq, event) in (self.last + 1..).zip(events) {
            let joined = match rows.last_mut() {
                Some(Row::Deltas(row)) => row.extend(seq, &event),
                _ => false,
            };
            let entry = LogEntry { seq, at: self.at, event };
            if !joined {
                rows.push(match DeltaRow::start(seq, self.at, &entry.event) {
                    Some(row) => Row::Deltas(row),
                    None => Row::Event(entry.clone()),
                });
            }
            entries.push(entry);
        }
        let high_water = entries.last().map_or(self.last, |entry| entry.seq);
        let append =
            Append { target: self.target.clone(), at: self.at, rows, messages, high_water: Some(high_water) };
        let key = self.store.append(Arc::new(append)).await?;
        self.target = SessionTarget::Known(key);
        self.last = high_water;
        self.written.extend(entries);
        Ok(key)
    }

    /// A user's message and the start of its run.
    pub async fn ask(&mut self, user: &str, parent: Option<MessageRef>, answer: &str) -> SessionKey {
        let accepted = accepted(user, 0, parent);
        self.append(vec![accepted, started(answer, MessageRef::first(id(user))), opened(answer)]).await
    }

    /// Ends the run with an answer.
    pub async fn finish(&mut self, answer: &str, text: &str) {
        let events = vec![closed(answer), ended(answer, RunEnd::Finished)];
        self.append_with(events, vec![assistant(answer, text)]).await;
    }

    /// A user's message and its complete answer.
    pub async fn turn(&mut self, user: &str, parent: Option<MessageRef>, answer: &str) {
        self.ask(user, parent, answer).await;
        self.finish(answer, "done").await;
    }
}

pub fn id(text: &str) -> MessageId {
    MessageId::new(text)
}

pub fn first(text: &str) -> MessageRef {
    MessageRef::first(id(text))
}

pub fn run_of(message: &str) -> RunId {
    RunId::new(format!("run of {message}"))
}

pub fn user(name: &str, text: &str) -> UiMessage {
    let parts = vec![Part::Text { text: text.to_owned(), state: None }];
    UiMessage { id: id(name), role: Role::User, metadata: None, parts }
}

pub fn assistant(name: &str, text: &str) -> UiMessage {
    let parts = vec![Part::Text { text: text.to_owned(), state: None }];
    UiMessage { id: id(name), role: Role::Assistant, metadata: Some(json!({ "a": 1 })), parts }
}

pub fn accepted(name: &str, revision: u32, parent: Option<MessageRef>) -> SessionEvent {
    let message = user(name, &format!("{name} in version {revision}"));
    SessionEvent::MessageAccepted { message, revision, parent, facts: None }
}

pub fn started(message: &str, answers: MessageRef) -> SessionEvent {
    let options = RunOptions { timezone: Some("Europe/Berlin".to_owned()), ..RunOptions::default() };
    SessionEvent::RunStarted { run: run_of(message), answers, message: id(message), options: options.into() }
}

pub fn opened(message: &str) -> SessionEvent {
    SessionEvent::FrameOpened { message: id(message), metadata: Box::default(), parent: None }
}

pub fn closed(message: &str) -> SessionEvent {
    let end = FrameEnd::Finished { reason: FinishReason::Stop };
    SessionEvent::FrameClosed { message: id(message), end, metadata: Box::default() }
}

pub fn ended(message: &str, end: RunEnd) -> SessionEvent {
    SessionEvent::RunEnded { run: run_of(message), message: id(message), end }
}

pub fn parked(message: &str) -> SessionEvent {
    SessionEvent::RunParked { run: run_of(message), message: id(message) }
}

pub fn resumed(message: &str) -> SessionEvent {
    SessionEvent::RunResumed { run: run_of(message), message: id(message) }
}

pub fn delta(message: &str, segment: u32, text: &str) -> SessionEvent {
    let kind = SegmentKind::Text;
    SessionEvent::SegmentDelta { message: id(message), segment, kind, delta: text.to_owned() }
}

pub fn input_delta(message: &str, call: &str, text: &str) -> SessionEvent {
    SessionEvent::ToolInputDelta { message: id(message), call: ToolCallId::new(call), delta: text.to_owned() }
}

pub fn asked(message: &str, approval: &str) -> SessionEvent {
    let call = ToolCall {
        id: ToolCallId::new(format!("call of {approval}")),
        name: "tool".to_owned(),
        input: json!({ "b": 1, "a": [null, 2.5] }),
    };
    SessionEvent::ApprovalAsked {
        message: id(message),
        approval: ApprovalId::new(approval),
        call,
        question: None,
        kind: InteractionKind::Approval,
        raised: false,
    }
}

pub fn answered(message: &str, approval: &str, approved: bool, withdrawn: bool) -> SessionEvent {
    SessionEvent::ApprovalAnswered {
        message: id(message),
        approval: ApprovalId::new(approval),
        approved,
        reason: Some("because".to_owned()),
        withdrawn,
        kind: InteractionKind::Approval,
        answers: None,
        by: None,
        raised: false,
    }
}

/// Joins consecutive deltas of one target: readers do not depend on how deltas were split into rows.
pub fn joined(entries: impl IntoIterator<Item = LogEntry>) -> Vec<(Seq, SessionEvent)> {
    let mut out: Vec<(Seq, SessionEvent)> = Vec::new();
    for entry in entries {
        let is_joined = match (out.last_mut(), &entry.event) {
            (
                Some((seq, SessionEvent::SegmentDelta { message, segment, delta, .. })),
                SessionEvent::SegmentDelta { message: other, segment: number, delta: more, .. },
            ) if message == other && segment == number => {
                delta.push_str(more);
                *seq = entry.seq;
                true
            }
            (
                Some((seq, SessionEvent::ToolInputDelta { message, call, delta })),
                SessionEvent::ToolInputDelta { message: other, call: name, delta: more },
            ) if message == other && call == name => {
                delta.push_str(more);
                *seq = entry.seq;
                true
            }
            _ => false,
        };
        if !is_joined {
            out.push((entry.seq, entry.event));
        }
    }
    out
}

pub fn workspace() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

pub async fn record(store: &Arc<dyn Store>, key: SessionKey) -> SessionRecord {
    store.session_by_key(key).await.unwrap().unwrap()
}

pub async fn branch_ids(store: &Arc<dyn Store>, key: SessionKey, leaf: &MessageRef) -> Vec<String> {
    let branch = store.branch(key, leaf, u32::MAX).await.unwrap();
    branch.iter().map(|message| format!("{}.{}", message.reference.id, message.reference.revision)).collect()
}

pub fn last_run(message: &str, status: RunStatus) -> Option<LastRun> {
    Some(LastRun { message: id(message), status })
}

pub fn is_conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}");
}
