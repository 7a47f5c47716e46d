//! What must hold of an idle session: tables and history equal a fresh fold of the log.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testkit::{
    Chat, TestApp,
    protocol::{
        LogEntry, MessageFold, MessageId, Part, SessionEvent, SessionId, TextState, ToolState, UiMessage,
        normalize::normalize,
    },
    store::{Interactions, Log, Messages, RunStatus, Runs, SessionKey, Sessions},
};

use crate::script::workspace;

/// Who answered a question cannot be said in the common profile; everything else is compared.
pub fn without_answers(message: &UiMessage) -> UiMessage {
    let mut message = message.clone();
    for part in &mut message.parts {
        let Part::Tool(tool) = part else { continue };
        if let ToolState::OutputAvailable { approval: Some(approval), .. }
        | ToolState::OutputError { approval: Some(approval), .. }
        | ToolState::OutputDenied { approval: Some(approval), .. } = &mut tool.state
        {
            approval.approved = None;
            approval.reason = None;
        }
    }
    message
}

pub async fn session(app: &TestApp, chat: &Chat) {
    let session = app.store.session(&workspace(), &SessionId::new(chat.id.as_str())).await.unwrap().unwrap();
    let log = whole_log(app, session.key).await;
    let mut planted = 0;
    let mut accepted = BTreeSet::new();
    let mut answers = BTreeMap::new();
    for entry in &log {
        match &entry.event {
            SessionEvent::HistoryPlanted { messages } => planted += messages.len(),
            SessionEvent::MessageAccepted { message, revision, .. } => {
                assert!(accepted.insert((message.id.clone(), *revision)), "{} is there twice", message.id);
            }
            SessionEvent::RunStarted { run, message, .. } => {
                assert!(answers.insert(message.clone(), run.clone()).is_none(), "two runs write {message}");
            }
            _ => {}
        }
    }
    for message in answers.keys() {
        answer(app, session.key, message, &log).await;
    }
    let count = planted + accepted.len() + answers.len();
    assert_eq!(session.message_count, count as u64, "the session counts its messages");
    history(app, session.key, chat, &log).await;
}

async fn whole_log(app: &TestApp, key: SessionKey) -> Vec<LogEntry> {
    let mut log: Vec<LogEntry> = Vec::new();
    loop {
        let after = log.last().map_or(0, |entry| entry.seq);
        let more = app.store.read_log(key, after, 1 << 20).await.unwrap();
        if more.is_empty() {
            break;
        }
        log.extend(more);
    }
    assert!(log.windows(2).all(|pair| pair[0].seq < pair[1].seq), "numbers go up");
    log
}

/// A stored answer is the fold of its events, it has one end, and every call is settled or waits.
async fn answer(app: &TestApp, key: SessionKey, id: &MessageId, log: &[LogEntry]) {
    let run = app.store.run_of_message(key, id).await.unwrap().expect("a run has its row");
    let stored = app.store.message(key, id).await.unwrap().map(|record| record.message().unwrap());
    let events: Vec<_> = log.iter().filter(|entry| entry.event.message() == Some(id)).cloned().collect();
    let fold = MessageFold::of(id, &events).unwrap_or_else(|error| panic!("{id}: {error}")).into_message();
    let stored = stored.unwrap_or_else(|| panic!("{id} has no message, its run is {:?}", run.status));
    let last = &events.last().unwrap().event;
    let asked = app.store.interactions_of_message(key, id).await.unwrap();
    let pending = asked.iter().filter(|question| is_pending(&json!(question.status))).count();
    let open = stored.tool_parts().filter(|tool| !tool.state.is_settled()).count();
    match run.status {
        RunStatus::Running => panic!("{id} is stuck: its run still counts as running"),
        RunStatus::Parked => {
            assert!(matches!(last, SessionEvent::RunParked { .. }), "{id}: {last:?}");
            assert_eq!(json!(stored), json!(normalize(fold)), "{id} is not the fold of its events");
            assert!(open > 0, "{id} waits for nothing");
        }
        RunStatus::Ended(_) => {
            assert!(matches!(last, SessionEvent::RunEnded { .. }), "{id}: {last:?}");
            assert_eq!(json!(stored), json!(fold), "{id} is not the fold of its events");
            assert_eq!((open, pending), (0, 0), "{id} ended with something open");
        }
    }
    let calls: Vec<_> = stored.tool_parts().map(|tool| tool.call.clone()).collect();
    assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), calls.len(), "{id} has a call twice");
    for part in &stored.parts {
        if let Part::Text { state, .. } | Part::Reasoning { state, .. } = part {
            assert_eq!(*state, Some(TextState::Done), "{id} is half written");
        }
    }
}

fn is_pending(status: &Value) -> bool {
    status == "pending"
}

/// The history route gives the stored messages of one branch, each once.
async fn history(app: &TestApp, key: SessionKey, chat: &Chat, log: &[LogEntry]) {
    let history = chat.history().await;
    let ids: BTreeSet<_> = history.iter().map(|message| message.id.clone()).collect();
    assert_eq!(ids.len(), history.len(), "a message is shown twice");
    for message in history {
        let stored = app.store.message(key, &message.id).await.unwrap().unwrap();
        let is_newest = stored.message().unwrap() == message;
        let is_older = log.iter().any(|entry| {
            matches!(&entry.event, SessionEvent::MessageAccepted { message: old, .. } if *old == message)
        });
        assert!(is_newest || is_older, "{} is shown otherwise than it is kept", message.id);
    }
}
