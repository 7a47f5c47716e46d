//! The real client folds our chunks to the message we store: `tests/client/fold.mjs` runs the published package.
//!
//! Skipped without Node. The report is also written to the target folder, where `cargo xtask` reads it.

use std::{collections::BTreeSet, path::Path};

use protocol::{LogEntry, MessageFold, SessionEvent, ToolOutcome, wire::chat::Profile};
use serde_json::{Value, json};
use test_support::node;

use crate::{
    cases,
    log::{log, message_of},
    mix, reader, refused,
};

const EVERYDAY: u64 = 1_000;
/// So many conversations also go through the client's own chat class, pauses and answers included.
const CHATS: u64 = 50;

#[test]
fn the_real_client_folds_our_chunks_to_the_same_message() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fold-differential.txt");
    let count = cases("FOLD_STREAMS", EVERYDAY);
    let every = (count / CHATS).max(1);
    let refused = refused::streams().into_iter().map(|stream| json!({ "refused": stream }));
    let cases = refused.chain((0..count).map(|seed| case(seed, seed % every == 0)));
    let subject = "the differential test of the fold";
    node::compare("fold.mjs", subject, &report, cases.map(|case| case.to_string()));
}

/// One line for the client: the replay in both profiles, what we make of each, and perhaps the conversation.
fn case(seed: u64, with_chat: bool) -> Value {
    let log = log(seed);
    let stream = |name: &str, profile| {
        let chunks = reader::replay(&log, profile);
        let mut fold = MessageFold::new(message_of(&log));
        for chunk in &chunks {
            fold.apply(chunk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        json!({ "profile": name, "chunks": chunks, "expected": fold.message() })
    };
    let v7 = stream("v7", Profile::V7);
    let stored = MessageFold::of(&message_of(&log), &log).expect("a legal log").into_message();
    assert_eq!(v7["expected"], json!(stored), "seed {seed}: the replay says all that the log says");
    let mut case = json!({
        "seed": seed,
        "kinds": mix::kinds(&log),
        "allKinds": BTreeSet::from(mix::KINDS),
        "streams": [v7, stream("common", Profile::Common)],
    });
    if with_chat {
        case["chat"] = chat(&log);
    }
    case
}

fn chat(log: &[LogEntry]) -> Value {
    let turns = reader::turns(log, Profile::Common);
    let expected = reader::message_after(log, &turns, Profile::Common);
    let turns: Vec<Value> = turns
        .iter()
        .map(|turn| {
            let answers: Vec<Value> = turn.answers.iter().map(|event| answer(event)).collect();
            json!({ "answers": answers, "chunks": turn.told.chunks })
        })
        .collect();
    json!({ "turns": turns, "expected": expected })
}

/// How the client's own methods record an answer.
fn answer(event: &SessionEvent) -> Value {
    match event {
        SessionEvent::ApprovalAnswered { approval, approved, reason, .. } => {
            json!({ "kind": "approval", "id": approval, "approved": approved, "reason": reason })
        }
        SessionEvent::ToolSettled { call, outcome: ToolOutcome::Done { output }, .. } => {
            json!({ "kind": "output", "toolCallId": call, "output": output })
        }
        SessionEvent::ToolSettled { call, outcome: ToolOutcome::Failed { message }, .. } => {
            json!({ "kind": "output-error", "toolCallId": call, "errorText": message })
        }
        other => panic!("not an answer of a client: {other:?}"),
    }
}
