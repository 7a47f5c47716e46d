//! Messages inside messages: live, at the end, at depth, and again from what is stored.

use serde_json::json;

use super::*;
use crate::{
    event::{FinishReason, FrameEnd, FrameParent, SegmentKind},
    id::SessionId,
    tool::ToolCall,
};

fn id(text: &str) -> MessageId {
    MessageId::new(text)
}

fn opened(message: &str, parent: &str, call: &str, background: bool) -> SessionEvent {
    let parent = FrameParent {
        message: id(parent),
        call: ToolCallId::new(call),
        root: id("top"),
        chat: SessionId::new(format!("sub_{message}")),
        task: "t".to_owned(),
        context: Value::Null,
        background,
    };
    SessionEvent::FrameOpened {
        message: id(message),
        metadata: Box::default(),
        parent: Some(Box::new(parent)),
    }
}

fn says(message: &str, text: &str) -> Vec<SessionEvent> {
    let kind = SegmentKind::Text;
    vec![
        SessionEvent::StepStarted { message: id(message) },
        SessionEvent::SegmentOpened { message: id(message), segment: 0, kind },
        SessionEvent::SegmentDelta { message: id(message), segment: 0, kind, delta: text.to_owned() },
        SessionEvent::SegmentClosed { message: id(message), segment: 0, kind, provider: None },
    ]
}

fn calls(message: &str, call: &str) -> SessionEvent {
    let call = ToolCall { id: ToolCallId::new(call), name: "sub-agent".to_owned(), input: json!({"n": 1}) };
    SessionEvent::ToolRequested { message: id(message), call, provider: None }
}

fn settled(message: &str, call: &str) -> SessionEvent {
    let outcome = ToolOutcome::Done { output: json!({"ok": true}) };
    SessionEvent::ToolSettled { message: id(message), call: ToolCallId::new(call), outcome }
}

fn closed(message: &str) -> SessionEvent {
    let end = FrameEnd::Finished { reason: FinishReason::Stop };
    SessionEvent::FrameClosed { message: id(message), end, metadata: Box::default() }
}

fn take_all(nested: &mut Nested, events: impl IntoIterator<Item = SessionEvent>) {
    for event in events {
        nested.take(&event).unwrap();
    }
}

fn output<'a>(message: &'a UiMessage, call: &str) -> (&'a Value, bool) {
    let part = message.tool_parts().find(|tool| tool.call.as_str() == call).unwrap();
    match &part.state {
        ToolState::OutputAvailable { output, preliminary, .. } => (output, *preliminary),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_two_levels_down_is_inside_the_one_above_it() {
    let mut nested = Nested::new(id("top"));
    take_all(&mut nested, [opened("a", "top", "c1", false), calls("a", "c2"), opened("b", "a", "c2", false)]);
    let change = nested.take(&says("b", "deep")[0]).unwrap().unwrap();
    assert_eq!((change.top_call.as_str(), change.call.as_str(), change.border), ("c1", "c2", true));
    take_all(&mut nested, says("b", "deep"));
    let live = nested.snapshot(&ToolCallId::new("c1")).unwrap();
    let (inner, preliminary) = output(&live, "c2");
    assert!(preliminary && inner.to_string().contains("deep"));
    take_all(&mut nested, [closed("b"), settled("a", "c2"), closed("a")]);
    let outcome = ToolOutcome::Done { output: Value::Null };
    let whole = nested.settle(&id("top"), &ToolCallId::new("c1"), &outcome).unwrap();
    let (inner, preliminary) = output(&whole, "c2");
    assert!(!preliminary && inner["id"] == "b", "{inner}");
    assert!(nested.is_empty());
}

#[test]
fn messages_that_are_not_below_the_top_are_passed_over() {
    let mut nested = Nested::new(id("a"));
    assert_eq!(nested.take(&opened("x", "top", "c9", false)).unwrap(), None);
    assert_eq!(nested.take(&says("top", "t")[0]).unwrap(), None);
    assert!(nested.is_empty());
}

#[test]
fn a_failed_delegation_gives_no_message() {
    let mut nested = Nested::new(id("top"));
    take_all(&mut nested, [opened("a", "top", "c1", false)]);
    let failed = ToolOutcome::Failed { message: "no".to_owned() };
    assert_eq!(nested.settle(&id("top"), &ToolCallId::new("c1"), &failed), None);
    assert!(nested.is_empty());
}

#[test]
fn a_background_agent_goes_on_after_its_call_was_settled() {
    let mut nested = Nested::new(id("top"));
    take_all(&mut nested, [opened("a", "top", "c1", true)]);
    let done = ToolOutcome::Done { output: Value::Null };
    assert!(nested.settle(&id("top"), &ToolCallId::new("c1"), &done).is_some());
    assert!(nested.is_detached(&ToolCallId::new("c1")));
    take_all(&mut nested, says("a", "later"));
    let change = nested.take(&closed("a")).unwrap().unwrap();
    assert!(change.ended.unwrap().text().contains("later"));
    assert!(nested.is_empty());
}

#[test]
fn what_is_stored_expands_to_what_was_streamed() {
    let part = |call: &str, output: Value| json!({"type": "tool-sub-agent", "toolCallId": call, "state": "output-available", "input": {}, "output": output});
    let mut top: UiMessage = serde_json::from_value(
        json!({"id": "top", "role": "assistant", "parts": [part("c1", json!({"ok": true}))]}),
    )
    .unwrap();
    let a = json!({"id": "a", "role": "assistant", "parts": [part("c2", json!({"ok": true}))]});
    let b = json!({"id": "b", "role": "assistant", "parts": [{"type": "text", "text": "deep"}]});
    expand(&mut top, &mut |message, call| {
        let found = match (message.as_str(), call.as_str()) {
            ("top", "c1") => &a,
            ("a", "c2") => &b,
            _ => return None,
        };
        let message = serde_json::from_value(found.clone()).unwrap();
        Some(NestedMessage { message, at_work: false })
    });
    let (inner, preliminary) = output(&top, "c1");
    assert!(!preliminary);
    assert_eq!(inner["parts"][0]["output"]["parts"][0]["text"], "deep");
}
