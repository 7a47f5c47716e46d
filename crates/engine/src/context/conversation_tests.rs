//! What holds for every branch and every place a compaction may cut it.

use protocol::{ToolCallId, UiMessage};
use serde_json::{Value, json};
use test_support::Rng;

use super::*;
use crate::context::cut::{self, Keep, Room};

fn message(value: Value) -> UiMessage {
    serde_json::from_value(value).unwrap()
}

fn asks(id: &str, text: &str) -> UiMessage {
    message(json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] }))
}

fn compaction(keep: Value, clip: Option<u64>, summary: &str) -> Value {
    let mut data = json!({ "status": "done", "trigger": "window", "summary": summary, "keep": keep });
    if let Some(clip) = clip {
        data["clip"] = json!(clip);
    }
    json!({ "type": "data-compaction", "id": summary, "data": data })
}

/// A call in any state that a stored message can have.
fn call(rng: &mut Rng, id: &str) -> Value {
    let mut part = json!({ "type": "tool-t", "toolCallId": id, "input": { "n": rng.below(9) } });
    let more = match rng.below(5) {
        0 => json!({ "state": "output-error", "errorText": "broken" }),
        1 => json!({ "state": "output-denied", "approval": { "id": format!("p{id}"), "approved": false } }),
        2 => json!({ "state": "input-available" }),
        _ => json!({ "state": "output-available", "output": "r".repeat(rng.below(900)) }),
    };
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    part
}

/// A branch with compactions in it: most cut at a place that is there, some at one that is not.
fn branch(seed: u64) -> Vec<UiMessage> {
    let rng = &mut Rng::new(seed);
    let mut messages = Vec::new();
    let mut conversation = Conversation::default();
    let mut calls = 0;
    for turn in 0..1 + rng.below(12) {
        let text = if rng.below(15) == 0 { "/compact".to_owned() } else { format!("question {turn}") };
        let asked = asks(&format!("u{turn}"), &text);
        conversation.push(&asked, None);
        messages.push(asked);
        let mut parts = Vec::new();
        for step in 0..rng.below(5) {
            if rng.below(4) == 0 {
                let mut marks: Vec<(String, u64)> = conversation
                    .marks()
                    .iter()
                    .map(|mark| (mark.message.to_string(), u64::from(mark.step)))
                    .collect();
                marks.extend((0..=step).map(|step| (format!("a{turn}"), step)));
                marks.push(("nobody".to_owned(), 3));
                let (id, at) = marks[rng.below(marks.len())].clone();
                let clip = (rng.below(3) == 0).then(|| 50 + rng.below(300));
                let keep = json!({ "messageId": id, "step": at });
                parts.push(compaction(keep, clip, &format!("summary {turn}.{step}")));
            }
            parts.push(json!({ "type": "step-start" }));
            if rng.below(2) == 0 {
                parts.push(json!({ "type": "text", "text": format!("said {turn}.{step}"), "state": "done" }));
            }
            for _ in 0..rng.below(4) {
                calls += 1;
                parts.push(call(rng, &format!("c{calls}")));
            }
            if rng.below(6) == 0 {
                parts.push(json!({ "type": "data-steering", "id": format!("s{turn}.{step}"), "data": { "text": "go on" } }));
            }
            if rng.below(6) == 0 {
                let steps = json!([{ "step": format!("plan {turn}.{step}"), "status": "pending" }]);
                parts.push(json!({ "type": "data-plan", "id": "plan", "data": { "steps": steps } }));
            }
        }
        let answer =
            message(json!({ "id": format!("a{turn}"), "role": "assistant", "metadata": {}, "parts": parts }));
        conversation.push(&answer, None);
        messages.push(answer);
    }
    messages
}

fn fold(messages: &[UiMessage]) -> Conversation {
    let mut conversation = Conversation::default();
    messages.iter().for_each(|message| conversation.push(message, None));
    conversation
}

/// Each call is followed at once by its results in order, and there is no result without its call.
#[track_caller]
fn assert_pairs_are_whole(messages: &[Arc<ModelMessage>], seed: u64) {
    let mut open: Vec<ToolCallId> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        match &**message {
            ModelMessage::Tool { call, .. } => {
                assert!(!open.is_empty(), "seed {seed}: the result of {call} at {place} has no call");
                assert_eq!(open.remove(0), *call, "seed {seed}: results come in call order");
            }
            ModelMessage::User { .. } => assert!(open.is_empty(), "seed {seed}: no result for {open:?}"),
            ModelMessage::Assistant { content } => {
                assert!(open.is_empty(), "seed {seed}: no result for {open:?}");
                open.extend(content.iter().filter_map(|content| match content {
                    AssistantContent::ToolCall { call, .. } => Some(call.id.clone()),
                    _ => None,
                }));
            }
        }
    }
    assert!(open.is_empty(), "seed {seed}: no result for {open:?}");
}

const BRANCHES: u64 = 800;

#[test]
fn for_every_branch_and_every_cut_each_call_has_its_results_and_a_restart_changes_nothing() {
    let (mut compacted, mut cut_in_turns) = (0, 0);
    for seed in 0..BRANCHES {
        let messages = branch(seed);
        let whole = fold(&messages);
        assert_pairs_are_whole(whole.messages(), seed);
        let begins_with_summary = |conversation: &Conversation| {
            conversation.messages().first().is_some_and(|first| {
                matches!(&**first, ModelMessage::User { content }
                    if matches!(content.first(), Some(UserContent::Facts(text)) if is_summary(text)))
            })
        };
        compacted += u64::from(begins_with_summary(&whole));
        // What a process that is gone had folded, from what is stored.
        let stored: Vec<UiMessage> = messages
            .iter()
            .map(|message| serde_json::from_str(&serde_json::to_string(message).unwrap()).unwrap())
            .collect();
        for cut in 0..=stored.len() {
            let mut again = fold(&stored[..cut]);
            assert_pairs_are_whole(again.messages(), seed);
            stored[cut..].iter().for_each(|message| again.push(message, None));
            assert_eq!(again, whole, "seed {seed}, kept after {cut} messages");
        }
        // What a run sends is what the next run reads of it.
        let (last, before) = messages.split_last().unwrap();
        assert_eq!(fold(before).sent(last).messages, whole.messages(), "seed {seed}");
        for mark in whole.marks() {
            let first = whole.messages().get(mark.at).map(|message| &**message);
            let is_right = match first {
                Some(ModelMessage::User { .. }) => mark.is_user,
                Some(ModelMessage::Assistant { .. }) => !mark.is_user,
                _ => false,
            };
            assert!(is_right, "seed {seed}: {mark:?} {first:?}");
        }
        let summaries = whole.messages().iter().skip(1).filter(|message| {
            matches!(&***message, ModelMessage::User { content }
                if content.iter().any(|content| matches!(content, UserContent::Facts(text) if is_summary(text))))
        });
        assert_eq!(summaries.count(), 0, "seed {seed}: there is one summary, and it comes first");
        cut_in_turns += u64::from(
            begins_with_summary(&whole)
                && matches!(whole.marks().get(1), Some(mark) if !mark.is_user && mark.at == 1),
        );
    }
    println!("{BRANCHES} branches, {compacted} compacted, {cut_in_turns} of them within a turn");
    assert!(compacted > BRANCHES / 4 && cut_in_turns > BRANCHES / 20, "{compacted} {cut_in_turns}");
}

#[test]
fn wherever_the_planner_cuts_the_pairs_stay_whole_and_the_conversation_gets_shorter() {
    let mut cuts = 0;
    for seed in 0..BRANCHES {
        let messages = branch(seed);
        let before = fold(&messages);
        let room = Room { window: 400 + seed % 1_500, fixed: 50 };
        let keep = if seed % 5 == 0 { Keep::Little } else { Keep::Much };
        let Some(plan) = cut::plan(&before, &room, keep) else { continue };
        cuts += 1;
        let part = json!({ "type": "data-compaction", "id": "c", "data": { "status": "done", "trigger": "window",
            "summary": "short", "keep": plan.keep, "clip": plan.clip } });
        let answer = message(json!({ "id": "z", "role": "assistant", "parts": [part] }));
        let mut after = before.clone();
        after.push(&answer, None);
        assert_pairs_are_whole(after.messages(), seed);
        assert_eq!(
            after.messages().len(),
            match &plan.keep {
                Some(cut) if cut.step == 0 => before.messages().len() - plan.replaced,
                Some(_) => before.messages().len() - plan.replaced + 1,
                None => before.messages().len(),
            },
            "seed {seed}: {plan:?}"
        );
    }
    assert!(cuts > BRANCHES / 2, "{cuts}");
}

#[test]
fn a_cut_within_a_turn_keeps_the_request_and_a_cut_before_a_turn_stands_before_its_words() {
    let work = |id: &str, more: Option<Value>| {
        let mut parts = vec![];
        for step in 0..3 {
            parts.push(json!({ "type": "step-start" }));
            parts.push(
                json!({ "type": "tool-t", "toolCallId": format!("{id}{step}"), "state": "output-available",
                               "input": {}, "output": "r" }),
            );
        }
        parts.extend(more);
        message(json!({ "id": id, "role": "assistant", "parts": parts }))
    };
    let keep = |id: &str, step: u32| Some(compaction(json!({ "messageId": id, "step": step }), None, "S"));
    let words = |conversation: &Conversation| match &*conversation.messages()[0] {
        ModelMessage::User { content } => content
            .iter()
            .map(|content| match content {
                UserContent::Text(text) => text.clone(),
                UserContent::Facts(text) => summary_of(text),
                UserContent::Attached(text) => text.clone(),
                UserContent::File { .. } => "file".to_owned(),
            })
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let within = fold(&[asks("u", "first"), work("a", None), asks("v", "second"), work("b", keep("b", 3))]);
    assert_eq!(words(&within), ["S", "second"]);
    assert_eq!(within.messages().len(), 3, "the words, the newest step and its result");
    let before = fold(&[asks("u", "first"), work("a", None), asks("v", "second"), work("b", keep("v", 0))]);
    assert_eq!(words(&before), ["S", "second"]);
    assert_eq!(before.messages().len(), 7);
    // Again, on what was compacted before: one summary in place of the other.
    let mut again = within.clone();
    again.push(&asks("w", "third"), None);
    again.push(&work("c", keep("c", 2)), None);
    assert_eq!(words(&again), ["S", "third"]);
}

fn summary_of(text: &str) -> String {
    super::super::compaction::summary_in(text).trim().to_owned()
}

#[test]
fn a_branch_that_leaves_before_the_compaction_reads_everything() {
    let part = compaction(json!({ "messageId": "v", "step": 0 }), None, "S");
    let compacted =
        message(json!({ "id": "b", "role": "assistant", "parts": [part, { "type": "step-start" },
        { "type": "text", "text": "done", "state": "done" }] }));
    let start = [asks("u", "first"), asks("v", "second")];
    let mut other = fold(&start);
    other.push(
        &message(json!({ "id": "c", "role": "assistant", "parts": [{ "type": "step-start" },
        { "type": "text", "text": "otherwise", "state": "done" }] })),
        None,
    );
    assert_eq!(other.messages().len(), 3, "nothing is replaced on the other branch");
    let mut this = fold(&start);
    this.push(&compacted, None);
    assert_eq!(this.messages().len(), 2);
}

#[test]
fn a_command_and_its_answer_are_not_for_the_model_but_what_they_did_is() {
    let part = compaction(json!({ "messageId": "v", "step": 0 }), None, "S");
    let answer =
        message(json!({ "id": "b", "role": "assistant", "metadata": { "command": { "name": "compact" } },
        "parts": [part, { "type": "step-start" }, { "type": "text", "text": "Done.", "state": "done" }] }));
    let conversation = fold(&[asks("u", "first"), asks("v", "second"), asks("w", "/compact please"), answer]);
    assert_eq!(conversation.messages().len(), 1);
    assert_eq!(conversation.measured(), None);
}

#[test]
fn a_planted_history_is_the_same_now_and_when_it_is_read_again() {
    let brought = [
        json!({"id": "1", "role": "user", "parts": [{"type": "text", "text": "a\nb"},
            {"type": "file", "mediaType": "image/png", "url": "data:,", "filename": "f"}]}),
        json!({"id": "2", "role": "assistant", "parts": [{"type": "text", "text": ""},
            {"type": "step-start"}, {"type": "text", "text": "c"}]}),
        json!({"id": "3", "role": "user", "parts": []}),
        json!({"id": "4", "role": "assistant", "parts": [{"type": "file", "mediaType": "a/b", "url": "data:,"}]}),
        json!({"id": "5", "role": "user", "parts": [{"type": "text", "text": " /compact it"}]}),
    ];
    let text = brought.iter().map(Value::to_string).collect::<Vec<_>>().join(" , ");
    let text = bytes::Bytes::from(text);
    let whole = std::str::from_utf8(&text).unwrap();
    let (planted, now) =
        protocol::planted::Unread::of(&text, [whole]).read(Conversation::push_planted).unwrap();
    let [now] = now.try_into().unwrap();
    let later = fold(&planted[0].messages().unwrap());
    assert_eq!((now.messages(), now.bytes()), (later.messages(), later.bytes()));
    assert_eq!(later.messages().len(), 2);
    let user = |conversation: &Conversation| {
        conversation.marks().iter().filter(|mark| mark.is_user).cloned().collect::<Vec<_>>()
    };
    assert_eq!(user(&now), user(&later));
}
