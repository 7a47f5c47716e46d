//! Text and tool turns beside a proxy that only forwards bytes, in the same run: never a time, only their ratio.
//!
//! The bound is wide. It is there for the change that makes the server ten times slower, not for the one that makes it
//! a tenth slower; `cargo xtask bench` measures those.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use client::{Timed, number};
use process::Process;
use serde_json::{Value, json};
use testkit::{
    Forwarder, Rng,
    upstream::{Act, Script, Upstream},
};
use tokio::task::{JoinSet, block_in_place};

const CLIENTS: usize = 8;
const ROUNDS: usize = 5;
/// Ours may be this much slower than the bound, persistence included.
const SLOWEST: f64 = 20.0;

#[derive(Clone, Copy, Debug)]
enum Turn {
    Text,
    Tool,
}

impl Turn {
    fn script(self, name: &str) -> String {
        let text = Act::Text { text: "and so on, ".repeat(80) };
        let steps = match self {
            Self::Text => vec![vec![text]],
            Self::Tool => {
                let input = json!({ "text": name });
                vec![vec![Act::Call { tool: "conf_echo".to_owned(), input }], vec![text]]
            }
        };
        Script { pace_ms: 0, piece: 6, steps }.text()
    }
}

/// One turn of the real server.
async fn served(http: &Timed, turn: Turn, name: &str) {
    let parts = json!([{ "type": "text", "text": turn.script(name) }]);
    let message = json!({ "id": "u", "role": "user", "parts": parts });
    let answer = http.open("/api/chat", &json!({ "id": name, "messages": [message] })).await;
    let text = answer.text().await.unwrap();
    assert!(text.contains("\"type\":\"finish\"") && text.ends_with("data: [DONE]\n\n"), "{text}");
}

/// The same with nobody in between: the client itself runs the loop.
async fn forwarded(http: &Timed, turn: Turn, name: &str) {
    let mut messages = vec![json!({ "role": "user", "content": turn.script(name) })];
    let calls = match turn {
        Turn::Text => 1,
        Turn::Tool => 2,
    };
    for call in 0..calls {
        let body = json!({ "model": "any", "stream": true, "messages": messages });
        let text = http.open("/v1/chat/completions", &body).await.text().await.unwrap();
        assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
        if call + 1 < calls {
            let arguments = json!({ "text": name }).to_string();
            let function = json!({ "name": "conf_echo", "arguments": arguments });
            let made = json!([{ "id": "c", "type": "function", "function": function }]);
            messages.push(json!({ "role": "assistant", "content": "", "tool_calls": made }));
            messages.push(json!({ "role": "tool", "tool_call_id": "c", "content": "{}" }));
        }
    }
}

/// Runs this many turns, by all clients together.
async fn time(url: &str, ours: bool, turn: Turn, turns: usize, round: usize) -> Duration {
    let clients: Vec<_> = (0..CLIENTS).map(|_| Arc::new(Timed::new(url))).collect();
    let began = Instant::now();
    let mut running = JoinSet::new();
    for (client, http) in clients.into_iter().enumerate() {
        running.spawn(async move {
            for number in 0..turns / CLIENTS {
                let name = format!("{turn:?}-{round}-{client}-{number}");
                if ours { served(&http, turn, &name).await } else { forwarded(&http, turn, &name).await }
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_keeps_up_with_a_proxy_that_only_forwards_bytes() {
    let turns = number("SMOKE_TURNS", 64);
    let upstream = Upstream::start().await;
    let bound = Forwarder::start(upstream.address()).await;
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(21));
    block_in_place(|| process.start());
    let mut slow: Vec<Value> = Vec::new();
    for turn in [Turn::Text, Turn::Tool] {
        let mut ratios = Vec::new();
        // The first round is for caches and connections.
        for round in 0..=ROUNDS {
            let least = time(&bound.url(), false, turn, turns, round).await;
            let ours = time(&process.url(), true, turn, turns, round).await;
            if round > 0 {
                ratios.push(ours.as_secs_f64() / least.as_secs_f64());
            }
        }
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ROUNDS / 2];
        println!(
            "smoke: {turn:?} turns, {turns} by {CLIENTS} clients, {ROUNDS} rounds: {ratio:.2} times the bound, \
             {:.0} % of it (at least {:.0} %)",
            100.0 / ratio,
            100.0 / SLOWEST
        );
        if ratio > SLOWEST {
            slow.push(json!({ "turn": format!("{turn:?}"), "times": ratio }));
        }
    }
    assert!(slow.is_empty(), "slower than {SLOWEST} times the bound: {slow:?}");
}
