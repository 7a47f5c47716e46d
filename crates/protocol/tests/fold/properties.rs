//! What holds for every legal log, at every cut point and for every reader.

use protocol::{
    Chunk, LogEntry, MessageFold, MessageId, Part, Role, SessionEvent, TextState, UiMessage,
    normalize::normalize, project::chat::chunk_of, wire::chat::Profile,
};
use serde_json::Value;

use crate::{
    cases,
    lint::{self, Approvals},
    log::{log, message_of},
    reader,
};

/// How many logs are read once, and how many again at every place of each.
const EVERYDAY: u64 = 400;
const EVERYDAY_AT_EVERY_PLACE: u64 = 120;

fn for_every_log(check: impl Fn(u64, &[LogEntry], &MessageId)) {
    for_logs(EVERYDAY, check);
}

fn for_logs(everyday: u64, check: impl Fn(u64, &[LogEntry], &MessageId)) {
    for seed in 0..cases("FOLD_LOGS", everyday) {
        let log = log(seed);
        check(seed, &log, &message_of(&log));
    }
}

fn folded(log: &[LogEntry], message: &MessageId) -> UiMessage {
    MessageFold::of(message, log).expect("a legal log").into_message()
}

fn empty(message: &MessageId) -> UiMessage {
    UiMessage { id: message.clone(), role: Role::Assistant, metadata: None, parts: Vec::new() }
}

fn through_json(message: &UiMessage) -> UiMessage {
    serde_json::from_str(&serde_json::to_string(message).expect("serialises")).expect("parses")
}

fn has_open_segment(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| {
        matches!(
            part,
            Part::Text { state: Some(TextState::Streaming), .. }
                | Part::Reasoning { state: Some(TextState::Streaming), .. }
        )
    })
}

#[test]
fn a_snapshot_at_any_cut_point_and_the_tail_give_the_whole_message() {
    for_logs(EVERYDAY_AT_EVERY_PLACE, |seed, log, message| {
        let whole = folded(log, message);
        let mut so_far = MessageFold::new(message.clone());
        for cut in 0..=log.len() {
            // A snapshot in memory can be taken anywhere, a stored one where no text is being written.
            let mut snapshots = vec![so_far.clone()];
            if !has_open_segment(so_far.message()) {
                snapshots.push(MessageFold::continuing(through_json(so_far.message())));
            }
            for mut fold in snapshots {
                for entry in &log[cut..] {
                    fold.event(&entry.event)
                        .unwrap_or_else(|error| panic!("seed {seed}, cut {cut}: {error}"));
                }
                assert_eq!(fold.message(), &whole, "seed {seed}, cut {cut}");
            }
            if let Some(entry) = log.get(cut) {
                so_far.event(&entry.event).expect("a legal log");
            }
        }
    });
}

#[test]
fn a_parked_message_as_it_is_stored_goes_on_to_the_same_end() {
    for_every_log(|seed, log, message| {
        let whole = folded(log, message);
        for (place, entry) in log.iter().enumerate() {
            if matches!(entry.event, SessionEvent::RunParked { .. }) {
                let stored = through_json(&normalize(folded(&log[..=place], message)));
                let mut fold = MessageFold::continuing(stored);
                for entry in &log[place + 1..] {
                    fold.event(&entry.event).expect("a legal log");
                }
                assert_eq!(fold.message(), &whole, "seed {seed}, parked at {place}");
            }
        }
    });
}

#[test]
fn merging_the_deltas_of_a_segment_changes_nothing() {
    for_every_log(|seed, log, message| {
        let merged = with_merged_deltas(log);
        assert!(merged.len() <= log.len());
        assert_eq!(folded(&merged, message), folded(log, message), "seed {seed}");
    });
}

fn with_merged_deltas(log: &[LogEntry]) -> Vec<LogEntry> {
    let mut merged: Vec<LogEntry> = Vec::new();
    for entry in log {
        let before = merged.last_mut().map(|entry| &mut entry.event);
        match (before, &entry.event) {
            (
                Some(SessionEvent::SegmentDelta { segment: before, delta: into, .. }),
                SessionEvent::SegmentDelta { segment, delta, .. },
            ) if before == segment => into.push_str(delta),
            (
                Some(SessionEvent::ToolInputDelta { call: before, delta: into, .. }),
                SessionEvent::ToolInputDelta { call, delta, .. },
            ) if before == call => into.push_str(delta),
            _ => merged.push(entry.clone()),
        }
    }
    merged
}

#[test]
fn every_message_on_the_way_survives_json_and_is_normalised_once() {
    for_every_log(|seed, log, message| {
        let mut fold = MessageFold::new(message.clone());
        for entry in log {
            fold.event(&entry.event).unwrap_or_else(|error| panic!("seed {seed}, {entry:?}: {error}"));
            let message = fold.message();
            assert_eq!(&through_json(message), message, "seed {seed}");
            let normal = normalize(message.clone());
            assert_eq!(normalize(normal.clone()), normal, "seed {seed}");
        }
        let whole = fold.into_message();
        assert_eq!(normalize(whole.clone()), whole, "seed {seed}: a finished message is normal");
        assert!(
            whole.tool_parts().all(|tool| tool.state.is_settled()),
            "seed {seed}: a call without outcome"
        );
    });
}

#[test]
fn every_event_survives_json() {
    for_every_log(|seed, log, _| {
        for entry in log {
            let text = serde_json::to_string(entry).expect("serialises");
            let again: LogEntry = serde_json::from_str(&text).expect("parses");
            assert_eq!(&again, entry, "seed {seed}");
        }
    });
}

#[test]
fn no_chunk_has_null_where_a_client_refuses_it() {
    for_every_log(|seed, log, _| {
        for chunk in log.iter().filter_map(|entry| chunk_of(&entry.event)) {
            let text = serde_json::to_string(&chunk).expect("serialises");
            assert!(!text.contains('\n'), "seed {seed}: a chunk is one line");
            assert_eq!(serde_json::from_str::<Chunk>(&text).expect("parses"), chunk, "seed {seed}");
            let Value::Object(fields) = serde_json::from_str(&text).expect("parses") else {
                panic!("seed {seed}: a chunk is an object: {text}");
            };
            for (field, value) in &fields {
                let free = matches!(field.as_str(), "input" | "output" | "data");
                assert!(free || !value.is_null(), "seed {seed}: `{field}` is null in {text}");
            }
        }
    });
}

#[test]
fn a_reader_that_comes_at_any_moment_gets_one_legal_stream_of_the_whole_message() {
    for_logs(EVERYDAY_AT_EVERY_PLACE, |seed, log, message| {
        for known in 0..=log.len() {
            for (profile, approvals) in [(Profile::V7, Approvals::Told), (Profile::Common, Approvals::Untold)]
            {
                let told = reader::whole_message(log, known, profile);
                assert_eq!(told.end, next_end(log, known), "seed {seed}, came at {known}");
                let problems = lint::problems(&told.chunks, &empty(message), approvals);
                assert_eq!(problems, [""; 0], "seed {seed}, came at {known}");
                let transient = told.chunks.iter().filter(|chunk| chunk.is_transient()).count();
                let pushed_since = log[known.min(told.end)..told.end].iter().filter(is_transient).count();
                assert_eq!(transient, pushed_since, "seed {seed}, came at {known}");
                let mut fold = MessageFold::new(message.clone());
                for chunk in &told.chunks {
                    fold.apply(chunk).unwrap_or_else(|error| panic!("seed {seed}, came at {known}: {error}"));
                }
                let expected = folded(&log[..told.end], message);
                let seen = fold.into_message();
                match profile {
                    Profile::V7 => assert_eq!(seen, expected, "seed {seed}, came at {known}"),
                    Profile::Common => assert_eq!(
                        serde_json::to_value(seen).expect("serialises"),
                        without_answers(&expected),
                        "seed {seed}, came at {known}"
                    ),
                }
            }
        }
    });
}

/// Where a stream ends that is opened when `known` entries are written: pauses the run has left behind do not count.
fn next_end(log: &[LogEntry], known: usize) -> usize {
    let resumed = |entry: &LogEntry| matches!(entry.event, SessionEvent::RunResumed { .. });
    let ends = |entry: &LogEntry| {
        matches!(entry.event, SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. })
    };
    let from = log[..known].iter().rposition(resumed).unwrap_or(0);
    from + log[from..].iter().position(ends).expect("every stream ends") + 1
}

fn is_transient(entry: &&LogEntry) -> bool {
    matches!(entry.event, SessionEvent::DataPushed { transient: true, .. })
}

/// The common profile cannot say that a person answered: the one thing a replay in it leaves out.
fn without_answers(message: &UiMessage) -> Value {
    let mut message = serde_json::to_value(message).expect("serialises");
    for part in message["parts"].as_array_mut().expect("parts") {
        if part["state"] == "approval-responded" {
            part["state"] = "approval-requested".into();
        }
        if let Some(approval) = part.get_mut("approval").and_then(Value::as_object_mut) {
            approval.retain(|field, _| field == "id");
        }
    }
    message
}

#[test]
fn a_client_that_stays_has_the_whole_message_after_every_pause() {
    for_every_log(|seed, log, message| {
        for profile in [Profile::V7, Profile::Common] {
            let turns = reader::turns(log, profile);
            for (place, turn) in turns.iter().enumerate() {
                let mut before = reader::client_message(empty(message), &turns[..place]);
                for event in &turn.answers {
                    let mut fold = MessageFold::continuing(before);
                    fold.event(event).expect("the client knows what it answers");
                    before = fold.into_message();
                }
                let problems = lint::problems(&turn.told.chunks, &before, Approvals::Told);
                assert_eq!(problems, [""; 0], "seed {seed}, turn {place}");
                assert_eq!(
                    reader::client_message(empty(message), &turns[..=place]),
                    reader::message_after(log, &turns[..=place], profile),
                    "seed {seed}, turn {place}"
                );
            }
        }
    });
}

#[test]
fn the_lint_notices_a_broken_stream() {
    let message = MessageId::new("m");
    let start = || Chunk::Start { message_id: "m".into(), message_metadata: None };
    let text = || Chunk::TextStart { id: "s0".into() };
    let streams: [(&str, Vec<Chunk<'_>>); 5] = [
        ("before `start`", vec![Chunk::StartStep, start(), Chunk::FinishStep, Chunk::Abort]),
        ("outside of a step", vec![start(), text(), Chunk::TextEnd { id: "s0".into() }, Chunk::Abort]),
        ("left open", vec![start(), Chunk::StartStep, text(), Chunk::FinishStep, Chunk::Abort]),
        ("after the end", vec![start(), Chunk::Abort, Chunk::StartStep]),
        ("without an end", vec![start()]),
    ];
    for (problem, chunks) in streams {
        let found = lint::problems(&chunks, &empty(&message), Approvals::Told).join("\n");
        assert!(found.contains(problem), "{problem}: {found}");
    }
}
