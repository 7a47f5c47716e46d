//! What must hold of an idle chat, whatever its model wrote.

use std::collections::BTreeMap;

use serde_json::json;
use testkit::{
    TestApp,
    protocol::{LogEntry, MessageFold, MessageId, SessionEvent, SessionId, UiMessage, WorkspaceId},
    store::{Messages, Sessions},
};

/// Everything that is wrong.
pub async fn problems(app: &TestApp, chat: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let log = app.log(chat).await;
    for (run, (started, ended)) in runs(&log) {
        if (started, ended) != (1, 1) {
            problems.push(format!("the run {run} began {started} times and ended {ended} times"));
        }
    }
    for ((message, call), results) in calls(&log) {
        if results != 1 {
            problems.push(format!("the call {call} of {message} has {results} results"));
        }
    }
    let key = app.store.session(&WorkspaceId::default_workspace(), &SessionId::new(chat)).await;
    let key = key.unwrap().unwrap().key;
    for entry in &log {
        if let SessionEvent::RunEnded { message, .. } = &entry.event {
            let stored = app.store.message(key, message).await.unwrap();
            let stored = stored.map(|stored| stored.message().unwrap());
            problems.extend(differs(&log, message, stored));
        }
    }
    for frame in app.frames(chat).await {
        let stored = frame.body.as_deref().map(|body| serde_json::from_str(body).unwrap());
        problems.extend(differs(&log, &frame.message, stored));
    }
    problems
}

fn runs(log: &[LogEntry]) -> BTreeMap<String, (usize, usize)> {
    let mut runs: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for entry in log {
        match &entry.event {
            SessionEvent::RunStarted { run, .. } => runs.entry(run.to_string()).or_default().0 += 1,
            SessionEvent::RunEnded { run, .. } => runs.entry(run.to_string()).or_default().1 += 1,
            _ => {}
        }
    }
    runs
}

fn calls(log: &[LogEntry]) -> BTreeMap<(String, String), usize> {
    let mut calls: BTreeMap<(String, String), usize> = BTreeMap::new();
    for entry in log {
        let (message, call, result) = match &entry.event {
            SessionEvent::ToolInputStarted { message, call, .. } => (message, call, 0),
            SessionEvent::ToolRequested { message, call, .. }
            | SessionEvent::ApprovalAsked { message, call, .. } => (message, &call.id, 0),
            SessionEvent::ToolRejected { message, call, .. }
            | SessionEvent::ToolSettled { message, call, .. } => (message, call, 1),
            _ => continue,
        };
        *calls.entry((message.to_string(), call.to_string())).or_default() += result;
    }
    calls
}

fn differs(log: &[LogEntry], message: &MessageId, stored: Option<UiMessage>) -> Option<String> {
    let Some(stored) = stored else { return Some(format!("{message} is not stored")) };
    match MessageFold::of(message, log) {
        Ok(fold) if json!(fold.message()) == json!(stored) => None,
        Ok(_) => Some(format!("{message} is stored otherwise than its log says")),
        Err(error) => Some(format!("the log of {message} makes no message: {error}")),
    }
}
