//! Killed in the middle of a compaction, the server takes it up again: the real binary, SIGKILL, the same data.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use client::{Stream, Timed};
use process::Process;
use serde_json::{Value, json};
use testkit::Rng;
use testkit::upstream::{Act, Script, Summaries, Upstream};
use tokio::task::block_in_place;

const WINDOW: u64 = 16_000;

fn message(number: usize) -> Value {
    let words = format!("Turn {number}. {}", "Some words that take room in the window. ".repeat(60));
    let fact = if number == 1 { "FACT[the cat is called Mo]" } else { "" };
    let script = Script::new(vec![vec![Act::Text { text: format!("That was {number}.") }]]);
    let text = format!("{fact} {words} {}", script.text());
    let part = json!({ "type": "text", "text": text });
    json!({ "id": "chat", "messages": [{ "id": format!("u{number}"), "role": "user", "parts": [part] }] })
}

fn compaction(message: &Value) -> Option<&Value> {
    let mut parts = message["parts"].as_array()?.iter();
    parts.find(|part| part["type"] == "data-compaction").map(|part| &part["data"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_in_the_middle_of_a_compaction_finishes_it_after_the_restart() {
    let upstream = Upstream::counting(WINDOW).await;
    upstream.summaries(Summaries::Stalling);
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(11));
    process.set("CONCERTINO_CONTEXT_WINDOW", &WINDOW.to_string());
    block_in_place(|| process.start());
    let http = Timed::new(&process.url());

    let mut number = 0;
    loop {
        number += 1;
        assert!(number < 60, "the window was never full");
        let mut stream = Stream::of(http.open("/api/chat", &message(number)).await);
        let end = stream.either("\"data-compaction\"", "\"type\":\"finish\"").await;
        if end == "\"data-compaction\"" {
            break;
        }
        stream.end().await;
    }
    // What was sent is stored; the summary is on its way.
    block_in_place(|| process.kill());
    upstream.summaries(Summaries::Written);
    block_in_place(|| process.start());
    let http = Timed::new(&process.url());
    // The run continues by itself; a client that sends the same message again follows it to its end.
    let stream = Stream::of(http.open("/api/chat", &message(number)).await);
    stream.end().await;

    let (_, history) = http.get("/api/chat/chat/messages?limit=1000").await;
    let history = history.as_array().unwrap();
    assert_eq!(history.len(), 2 * number, "no message is lost and none is there twice");
    let last = history.last().unwrap();
    let done = compaction(last).unwrap();
    assert_eq!((&done["status"], &done["method"]), (&json!("done"), &json!("summary")), "{done}");
    assert!(done["summary"].as_str().unwrap().contains("FACT[the cat is called Mo]"), "{done}");
    assert_eq!(last["metadata"]["status"], "finished");
    let asked: Value = serde_json::from_str(upstream.bodies().last().unwrap()).unwrap();
    assert!(asked.to_string().contains("<earlier>"), "the answer was given from the summary");
    let complaints = process.complaints();
    assert!(!complaints.contains("panicked") && !complaints.contains(" ERROR "), "{complaints}");
}
