//! Ends a run whose log must not be folded again, from what the tables hold. Its events stay in the log; its message
//! keeps what it had when it last parked, and says the reason.

use protocol::{
    ErrorCode, FrameEnd, MessageId, Part, Role, RunEnd, SessionEvent, ToolState, UiMessage,
    interaction::InteractionStatus,
};
use serde_json::{Map, Value, json};
use store::{FrameStatus, RunRecord, SessionKey, Store, StoreError};

use super::end::{CRASHED, EndOfRun};

pub(super) async fn end_from_tables(
    store: &dyn Store,
    key: SessionKey,
    run: &RunRecord,
    text: &str,
) -> Result<EndOfRun, StoreError> {
    let mut events = Vec::new();
    let mut messages = Vec::new();
    for question in store.interactions_of_message(key, &run.message).await? {
        if question.status == InteractionStatus::Pending {
            events.push(SessionEvent::ApprovalAnswered {
                message: question.message,
                approval: question.id,
                approved: false,
                reason: Some(CRASHED.to_owned()),
                withdrawn: true,
                raised: false,
            });
        }
    }
    for frame in store.frames_of_runs(key, vec![run.message.clone()]).await? {
        if matches!(frame.status, FrameStatus::Running | FrameStatus::Parked) {
            let body = frame.body.as_deref().and_then(|body| serde_json::from_str(body).ok());
            let metadata = facts("cancelled", None);
            messages.push(closed(body, &frame.message, &metadata));
            events.extend(closing(frame.message, metadata, FrameEnd::Cancelled));
        }
    }
    let paused = store.message(key, &run.message).await?.and_then(|paused| paused.message().ok());
    let metadata = facts("failed", Some(text));
    messages.push(closed(paused, &run.message, &metadata));
    let end = FrameEnd::Failed { message: text.to_owned() };
    events.extend(closing(run.message.clone(), metadata, end));
    let (id, message) = (run.id.clone(), run.message.clone());
    events.push(SessionEvent::RunEnded { run: id, message, end: RunEnd::Failed });
    Ok(EndOfRun { events, messages })
}

fn closing(message: MessageId, metadata: Map<String, Value>, end: FrameEnd) -> [SessionEvent; 2] {
    [
        SessionEvent::MetadataAdded { message: message.clone(), metadata },
        SessionEvent::FrameClosed { message, end, metadata: Map::new() },
    ]
}

fn facts(status: &str, error: Option<&str>) -> Map<String, Value> {
    let mut facts = Map::from_iter([("status".to_owned(), json!(status))]);
    if let Some(error) = error {
        facts.insert("error".to_owned(), json!(error));
        facts.insert("errorCode".to_owned(), json!(ErrorCode::Internal));
    }
    facts
}

/// The message as it was when it last parked, with a result for every call.
fn closed(paused: Option<UiMessage>, id: &MessageId, facts: &Map<String, Value>) -> UiMessage {
    let mut message = paused.unwrap_or_else(|| UiMessage {
        id: id.clone(),
        role: Role::Assistant,
        metadata: None,
        parts: Vec::new(),
    });
    match &mut message.metadata {
        Some(Value::Object(into)) => protocol::json::merge(into, facts),
        other => *other = Some(Value::Object(facts.clone())),
    }
    for part in &mut message.parts {
        if let Part::Tool(tool) = part
            && !tool.state.is_settled()
        {
            tool.state = ToolState::OutputError {
                input: tool.state.input().cloned(),
                error_text: CRASHED.to_owned(),
                approval: tool.state.approval(),
            };
        }
    }
    message
}
