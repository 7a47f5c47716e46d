//! The model server through the real adapter: cuts at every byte, stalls, repeats, half characters, garbage.

use std::time::Duration;

use serde_json::json;
use testkit::{
    TestApp, join_all,
    models::Limits,
    protocol::{Chunk, Part, UiMessage},
};

use crate::{
    Tally, bounded, rounds,
    upstream_server::{Play, RawServer},
};

/// A recorded answer with reasoning, text of one to four bytes a character, and, for `tools`, two calls.
fn recorded(tools: bool) -> Vec<String> {
    let delta = |delta: serde_json::Value| event(&json!({ "choices": [{ "index": 0, "delta": delta }] }));
    let call = |index: u32, id: &str, name: &str, arguments: &str| {
        json!({ "tool_calls": [{ "index": index, "id": id, "type": "function",
            "function": { "name": name, "arguments": arguments } }] })
    };
    let more = |index: u32, arguments: &str| json!({ "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] });
    let mut events = vec![
        delta(json!({ "role": "assistant", "content": "", "reasoning_content": "Grübeln" })),
        delta(json!({ "content": "Für " })),
        delta(json!({ "content": "会议🎻" })),
    ];
    if tools {
        events.push(delta(call(0, "a", "conf_echo", "")));
        events.push(delta(more(0, "{\"text\":\"ei")));
        events.push(delta(more(0, "ns 会\"}")));
        events.push(delta(call(1, "b", "conf_echo", "{\"text\":\"zwei\"}")));
    }
    let reason = if tools { "tool_calls" } else { "stop" };
    events.push(event(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })));
    events.push(event(&json!({ "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 4 } })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

const TEXT: &str = "Für 会议🎻";

fn event(json: &serde_json::Value) -> String {
    format!("data: {json}\n\n")
}

fn whole(tools: bool) -> Vec<u8> {
    recorded(tools).concat().into_bytes()
}

/// Many answers at the same time must not look like silence; only the tests of silence have short limits.
fn patient() -> Limits {
    Limits { attempts: 2, backoff_base: Duration::from_millis(1), ..Limits::default() }
}

const HEALTHY: &str = "and now properly";

/// Which case a request is about; `None` when it is to be answered well: a healthy question, or after tools.
fn case_of(request: &str) -> Option<usize> {
    let (_, rest) = request.rsplit_once("case-number ")?;
    if rest.contains(HEALTHY) || rest.contains("\"role\":\"tool\"") {
        return None;
    }
    rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// Plays each case in a chat of its own; then the same chat must give the right answer to a healthy request.
async fn play_all(name: &str, cases: Vec<Play>, limits: Limits) -> Vec<(UiMessage, Chunk<'static>)> {
    let count = cases.len();
    let server = RawServer::start(move |request| match case_of(request) {
        Some(number) => cases[number].clone(),
        None => Play::Whole(whole(false)),
    })
    .await;
    let app = TestApp::builder().model(server.model(limits)).start().await;
    let mut tally = Tally::default();
    let mut all = Vec::with_capacity(count);
    let numbers: Vec<usize> = (0..count).collect();
    for group in numbers.chunks(16) {
        let played = group.iter().map(|number| one(&app, *number));
        for (message, end) in join_all(played).await {
            match &end {
                Chunk::Error { .. } => tally.broken += 1,
                _ => tally.succeeded += 1,
            }
            all.push((message, end));
        }
        tally.succeeded += group.len() as u64;
    }
    println!("{name}: {count} answers, each followed by a healthy one; {tally}");
    assert!(tally.succeeded >= count as u64);
    all
}

async fn one(app: &TestApp, number: usize) -> (UiMessage, Chunk<'static>) {
    let chat = app.chat(&format!("chat{number}"));
    let mut turn = bounded("the request", chat.send(&format!("case-number {number}"))).await;
    let end = bounded("the answer", turn.end()).await;
    let message = turn.shown();
    match &end {
        Chunk::Error { error_text } => {
            assert!(error_text.starts_with("The model's server"), "{error_text}");
            assert!(!error_text.contains("127.0.0.1"), "{error_text}");
        }
        Chunk::Finish { .. } => {}
        other => panic!("case {number} ends with {other:?}"),
    }
    chat.assert_history_is_what_the_tab_shows().await;
    let mut healthy = bounded("a healthy request", chat.send(HEALTHY)).await;
    assert_eq!(bounded("a healthy answer", healthy.text()).await, TEXT, "after case {number}");
    chat.assert_history_is_what_the_tab_shows().await;
    (message, end)
}

/// What was said is a beginning of what was sent: no character is made up or halved.
fn assert_is_a_beginning(number: usize, message: &UiMessage) {
    let said: String = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!("GrübelnGrübeln".starts_with(&said), "case {number}: {said:?}");
    let text = message.text();
    assert!(TEXT.starts_with(&text) || text == format!("{TEXT}{TEXT}"), "case {number}: {text:?}");
}

#[tokio::test]
async fn a_stream_that_is_cut_at_any_byte_is_an_error_or_the_right_answer() {
    for tools in [false, true] {
        let bytes = whole(tools);
        let step = if rounds(1) > 1 { 1 } else { 3 };
        let cuts: Vec<usize> = (0..=bytes.len()).step_by(step).collect();
        let cases = cuts.iter().map(|cut| Play::Cut(bytes[..*cut].to_vec())).collect();
        let finish = b"\"finish_reason\":";
        let told = bytes.windows(finish.len()).position(|window| window == finish).unwrap();
        let name = if tools { "cut with tools" } else { "cut" };
        let answers = play_all(name, cases, patient()).await;
        for ((message, end), cut) in answers.iter().zip(cuts) {
            assert_is_a_beginning(cut, message);
            if cut < told {
                assert!(matches!(end, Chunk::Error { .. }), "cut at {cut}: {end:?}");
            } else if !matches!(end, Chunk::Error { .. }) {
                assert!(message.text().starts_with(TEXT), "cut at {cut}: {:?}", message.text());
            }
            assert!(message.tool_parts().all(|tool| tool.state.is_settled()), "cut at {cut}");
        }
        let whole = answers.last().unwrap();
        assert!(matches!(whole.1, Chunk::Finish { .. }), "everything but the end of the body: {:?}", whole.1);
    }
}

#[tokio::test]
async fn a_stream_that_falls_silent_anywhere_is_an_error_after_the_idle_limit() {
    let limits = Limits { first_byte: Duration::from_secs(2), idle: Duration::from_millis(300), ..patient() };
    let events = recorded(true);
    // After the finish reason an answer is complete.
    let told = events.iter().position(|event| event.contains("finish_reason")).unwrap();
    let mut cases: Vec<_> =
        (1..=told).map(|count| Play::Stall(events[..count].concat().into_bytes())).collect();
    let half = events[0].len() + events[1].len() + events[2].find('会').unwrap() + 1;
    cases.push(Play::Stall(whole(true)[..half].to_vec()));
    cases.push(Play::Mute);
    for (number, (message, end)) in play_all("silence", cases, limits).await.iter().enumerate() {
        assert!(matches!(end, Chunk::Error { .. }), "case {number}: {end:?}");
        assert_is_a_beginning(number, message);
    }
}

#[tokio::test]
async fn an_event_that_comes_twice_leaves_a_sound_message() {
    for tools in [false, true] {
        let events = recorded(tools);
        let repeat = |place: usize| {
            let mut all = events.clone();
            all.insert(place, events[place].clone());
            Play::Whole(all.concat().into_bytes())
        };
        let cases = (0..events.len()).map(repeat).collect();
        for (number, (message, end)) in play_all("repeated", cases, patient()).await.iter().enumerate() {
            assert!(message.tool_parts().all(|tool| tool.state.is_settled()), "case {number}: {message:?}");
            if matches!(end, Chunk::Finish { .. }) {
                assert!(message.text().contains("会议🎻"), "case {number}: {:?}", message.text());
            }
        }
    }
}

#[tokio::test]
async fn garbage_between_two_events_is_an_error_or_is_passed_over() {
    let events = recorded(true);
    let garbage: [&[u8]; 7] = [
        b"data: {not json\n\n",
        b"data: \xff\xfe\x00\x01\n\n",
        b"\xf0\x9f\x8e",
        b"data: []\n\ndata: 17\n\ndata: null\n\n",
        b"data: {\"choices\":\"none\"}\n\n",
        b"<html><body>Bad gateway</body></html>\n\n",
        b"event: error\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\n",
    ];
    let mut cases = Vec::new();
    for place in 0..events.len() {
        for garbage in garbage {
            let mut bytes = events[..place].concat().into_bytes();
            bytes.extend_from_slice(garbage);
            bytes.extend_from_slice(events[place..].concat().as_bytes());
            cases.push(Play::Whole(bytes));
        }
    }
    for (number, (message, end)) in play_all("garbage", cases, patient()).await.iter().enumerate() {
        assert!(message.tool_parts().all(|tool| tool.state.is_settled()), "case {number}: {message:?}");
        let text = message.text();
        assert!(!text.contains(char::REPLACEMENT_CHARACTER), "case {number}: {text}");
        assert!(matches!(end, Chunk::Error { .. }) || text.ends_with(TEXT), "case {number}: {text}");
    }
}
