//! Streams that break the protocol: what the client refuses, our fold refuses too, and the other way round.

use protocol::{Chunk, MessageFold, MessageId};
use serde_json::{Value, json};

/// Each ends with the chunk that must be refused; everything before it is fine.
pub fn streams() -> Vec<Vec<Value>> {
    let mut streams = vec![
        vec![json!({ "type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "{" })],
        vec![json!({ "type": "tool-output-available", "toolCallId": "c", "output": 1 })],
        vec![json!({ "type": "tool-output-error", "toolCallId": "c", "errorText": "no" })],
        vec![json!({ "type": "tool-output-denied", "toolCallId": "c" })],
        vec![json!({ "type": "tool-approval-request", "toolCallId": "c", "approvalId": "a" })],
    ];
    for part in ["text", "reasoning"] {
        let start = json!({ "type": format!("{part}-start"), "id": "s0" });
        let end = json!({ "type": format!("{part}-end"), "id": "s0" });
        let delta = |id: &str| json!({ "type": format!("{part}-delta"), "id": id, "delta": "x" });
        streams.push(vec![delta("s0")]);
        streams.push(vec![end.clone()]);
        streams.push(vec![start.clone(), delta("s1")]);
        streams.push(vec![start.clone(), end.clone(), delta("s0")]);
        streams.push(vec![start, end.clone(), end]);
    }
    for stream in &mut streams {
        stream.insert(0, json!({ "type": "start", "messageId": "m" }));
        stream.insert(1, json!({ "type": "start-step" }));
    }
    streams
}

#[test]
fn the_fold_refuses_exactly_the_last_chunk_of_a_broken_stream() {
    for stream in streams() {
        let mut fold = MessageFold::new(MessageId::new("m"));
        for (place, chunk) in stream.iter().enumerate() {
            let parsed: Chunk = serde_json::from_value(chunk.clone()).expect("a chunk of the protocol");
            let outcome = fold.apply(&parsed);
            assert_eq!(outcome.is_err(), place + 1 == stream.len(), "{chunk} in {stream:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_part_id_may_be_used_again_after_its_end() {
    let mut fold = MessageFold::new(MessageId::new("m"));
    for _ in 0..2 {
        fold.apply(&Chunk::TextStart { id: "s0".into() }).expect("legal");
        fold.apply(&Chunk::TextDelta { id: "s0".into(), delta: "x".into() }).expect("legal");
        fold.apply(&Chunk::TextEnd { id: "s0".into() }).expect("legal");
    }
    assert_eq!(fold.message().parts.len(), 2);
}
