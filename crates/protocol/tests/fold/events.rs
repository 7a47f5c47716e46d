//! The events surface over generated logs: numbers, ends, results, growing texts, and the replay from every place.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    LogEntry, SessionEvent, SessionId,
    project::events::{EventsFold, Growth},
    wire::events::ServerEvent,
};
use serde_json::Value;
use test_support::Rng;

use crate::{cases, log::log};

const EVERYDAY: u64 = 300;
const EVERYDAY_AT_EVERY_PLACE: u64 = 60;

fn fold() -> EventsFold {
    EventsFold::new(SessionId::new("ses_1"), "conn_1".to_owned())
}

/// What a client is told that asks for growing texts after some of the entries.
fn told(log: &[LogEntry], growth: Growth, rng: &mut Rng) -> Vec<ServerEvent> {
    let mut fold = fold();
    let mut events = Vec::new();
    for entry in log {
        events.extend(fold.take(entry, true));
        if rng.percent(50) {
            events.extend(fold.growing(growth));
            assert!(!fold.has_grown());
        }
    }
    events
}

fn is_growing(event: &ServerEvent) -> bool {
    event.data["streaming"] == true
}

fn finished(events: &[ServerEvent]) -> Vec<&ServerEvent> {
    events.iter().filter(|event| !is_growing(event)).collect()
}

fn for_logs(everyday: u64, check: impl Fn(u64, &[LogEntry], &mut Rng)) {
    for seed in 0..cases("FOLD_LOGS", everyday) {
        let mut log = log(seed);
        // A run that goes on after its end in the same message is a matter of the chat surface.
        let end = log.iter().position(|entry| matches!(entry.event, SessionEvent::RunEnded { .. }));
        log.truncate(end.expect("a generated log ends") + 1);
        check(seed, &log, &mut Rng::new(seed));
    }
}

#[test]
fn numbers_go_up_and_every_event_belongs_to_the_session() {
    for_logs(EVERYDAY, |seed, log, rng| {
        for growth in [Growth::Whole, Growth::Deltas] {
            let mut last = 0;
            for event in told(log, growth, rng) {
                let seq = event.seq.expect("a number");
                assert!(seq > last, "seed {seed}: {seq} after {last}");
                last = seq;
                assert_eq!(event.session_id, Some(SessionId::new("ses_1")), "seed {seed}");
                assert!(event.run_id.is_some(), "seed {seed}: {event:?}");
                assert!(event.data.is_object());
            }
        }
    });
}

#[test]
fn a_run_begins_with_its_message_and_ends_with_one_complete() {
    for_logs(EVERYDAY, |seed, log, rng| {
        let events = told(log, Growth::Whole, rng);
        let role = |event: &ServerEvent| event.data["role"].as_str().unwrap_or_default().to_owned();
        assert_eq!((role(&events[0]).as_str(), role(&events[1]).as_str()), ("system", "user"), "seed {seed}");
        let ends = events.iter().filter(|event| event.kind == "complete").count();
        assert_eq!((ends, events.last().map(|event| event.kind)), (1, Some("complete")), "seed {seed}");
        let is_failed = events.last().is_some_and(|event| event.data["status"] == "failed");
        let errors = events.iter().filter(|event| event.kind == "error").count();
        assert_eq!(errors, usize::from(is_failed), "seed {seed}: one error with a failed run");
    });
}

#[test]
fn every_call_has_one_result_and_every_question_one_end() {
    for_logs(EVERYDAY, |seed, log, rng| {
        let events = told(log, Growth::Whole, rng);
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        let mut questions: BTreeSet<String> = BTreeSet::new();
        for event in &events {
            let text = |name: &str| event.data[name].as_str().unwrap_or_default();
            match event.kind {
                "tool_call" => {
                    assert_eq!(calls.insert(text("toolCallId"), 0), None, "seed {seed}: told twice");
                    assert_eq!(event.data["function"]["name"], event.data["name"]);
                }
                "tool_result" => {
                    let results = calls.get_mut(text("toolCallId"));
                    *results.unwrap_or_else(|| panic!("seed {seed}: no call for {event:?}")) += 1;
                }
                "tool_confirmation_request" => {
                    assert!(questions.insert(event.request_id.clone().expect("an id")), "seed {seed}");
                }
                "interaction_resolved" => {
                    assert!(questions.remove(text("requestId")), "seed {seed}: {event:?}");
                }
                _ => {}
            }
        }
        assert!(calls.values().all(|results| *results == 1), "seed {seed}: {calls:?}");
        let ended = log.iter().any(|entry| {
            matches!(&entry.event, SessionEvent::ApprovalAsked { approval, .. } if questions.contains(approval.as_str()))
        });
        let cut_off = events.last().is_some_and(|event| event.data["status"] != "finished");
        assert!(
            !ended || cut_off,
            "seed {seed}: only a run that was cut off leaves questions: {questions:?}"
        );
    });
}

/// The text that a client shows for each segment, checked at every state.
fn texts(seed: u64, events: &[ServerEvent]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut closed = BTreeSet::new();
    for event in events.iter().filter(|event| event.data["segment"].is_u64()) {
        let key = format!("{} {} {}", event.kind, event.data["messageId"], event.data["segment"]);
        assert!(!closed.contains(&key), "seed {seed}: {key} goes on after its end");
        let text = texts.entry(key.clone()).or_default();
        let before = text.clone();
        match (&event.data["content"], &event.data["delta"]) {
            (Value::String(content), Value::Null) => *text = content.clone(),
            (Value::Null, Value::String(delta)) => text.push_str(delta),
            other => panic!("seed {seed}: {other:?}"),
        }
        assert!(text.starts_with(&before) && !text.is_empty(), "seed {seed}: {before:?}, then {text:?}");
        if !is_growing(event) {
            closed.insert(key);
        }
    }
    assert_eq!(closed.len(), texts.len(), "seed {seed}: every segment ends");
    texts
}

#[test]
fn states_of_a_growing_text_are_prefixes_and_end_with_the_whole() {
    for_logs(EVERYDAY, |seed, log, rng| {
        let whole = texts(seed, &told(log, Growth::Whole, rng));
        assert_eq!(texts(seed, &told(log, Growth::Deltas, rng)), whole, "seed {seed}");
        let written: String = log
            .iter()
            .filter_map(|entry| match &entry.event {
                SessionEvent::SegmentDelta { delta, .. } => Some(delta.as_str()),
                _ => None,
            })
            .collect();
        let length: usize = whole.values().map(String::len).sum();
        assert_eq!(length, written.len(), "seed {seed}: nothing is lost");
    });
}

#[test]
fn the_replay_after_any_entry_is_the_rest() {
    for_logs(EVERYDAY_AT_EVERY_PLACE, |seed, log, rng| {
        let all = told(log, Growth::Whole, rng);
        for cut in 0..=log.len() {
            for growth in [Growth::Whole, Growth::Deltas] {
                let mut fold = fold();
                for entry in &log[..cut] {
                    fold.take(entry, false);
                }
                // The client has the text up to here.
                fold.growing(growth);
                let mut rest = Vec::new();
                for entry in &log[cut..] {
                    rest.extend(fold.take(entry, true));
                    if rng.percent(30) {
                        rest.extend(fold.growing(growth));
                    }
                }
                let seen = log[..cut].last().map_or(0, |entry| entry.seq);
                let wanted: Vec<&ServerEvent> = finished(&all)
                    .into_iter()
                    .filter(|event| event.seq.is_some_and(|seq| seq / 64 > seen))
                    .collect();
                assert_eq!(finished(&rest), wanted, "seed {seed}, cut {cut}");
            }
        }
    });
}

#[test]
fn what_was_told_does_not_depend_on_when_texts_were_asked_for() {
    for_logs(EVERYDAY, |seed, log, rng| {
        let [one, two] = [told(log, Growth::Whole, rng), told(log, Growth::Deltas, rng)];
        assert_eq!(finished(&one), finished(&two), "seed {seed}");
    });
}
