//! Ends a run whose log must not be folded again, from what the tables hold. Its events stay in the log; its message
//! keeps what it had when it last parked, and says the reason.

use protocol::{
    AnsweredBy, ErrorCode, FrameEnd, MessageFacts, MessageId, MessageStatus, Part, Role, RunEnd,
    SessionEvent, ToolState, UiMessage, interaction::InteractionStatus,
};
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
                kind: question.kind,
                answers: None,
                by: Some(AnsweredBy::Server),
                raised: false,
            });
        }
    }
    for frame in store.frames_of_runs(key, vec![run.message.clone()]).await? {
        if matches!(frame.status, FrameStatus::Running | FrameStatus::Parked) {
            let body = frame.body.as_deref().and_then(|body| serde_json::from_str(body).ok());
            let metadata = MessageFacts::of_status(MessageStatus::Cancelled);
            messages.push(closed(body, &frame.message, &metadata));
            events.extend(closing(frame.message, metadata, FrameEnd::Cancelled));
        }
    }
    let paused = store.message(key, &run.message).await?.and_then(|paused| paused.message().ok());
    let metadata = MessageFacts {
        error_code: Some(ErrorCode::Internal),
        error: Some(text.to_owned()),
        ..MessageFacts::of_status(MessageStatus::Failed)
    };
    messages.push(closed(paused, &run.message, &metadata));
    let end = FrameEnd::Failed { message: text.to_owned() };
    events.extend(closing(run.message.clone(), metadata, end));
    let (id, message) = (run.id.clone(), run.message.clone());
    events.push(SessionEvent::RunEnded { run: id, message, end: RunEnd::Failed });
    Ok(EndOfRun { events, messages })
}

fn closing(message: MessageId, facts: MessageFacts, end: FrameEnd) -> [SessionEvent; 2] {
    [
        SessionEvent::MetadataAdded { message: message.clone(), metadata: Box::new(facts) },
        SessionEvent::FrameClosed { message, end, metadata: Box::default() },
    ]
}

/// The message as it was when it last parked, with a result for every call.
fn closed(paused: Option<UiMessage>, id: &MessageId, facts: &MessageFacts) -> UiMessage {
    let mut message = paused.unwrap_or_else(|| UiMessage {
        id: id.clone(),
        role: Role::Assistant,
        metadata: None,
        parts: Vec::new(),
    });
    facts.merge_into(&mut message.metadata);
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
