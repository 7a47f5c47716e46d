//! What slow readers cost others, and what idle sessions and live streams cost the server, as the kernel counts it.
//!
//! The real binary, real sockets, a scripted model. `cargo xtask soak memory` runs the long counts on the release
//! build; the everyday run has the same code, less of everything, and bounds that only a leak or a queue breaks.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "scale/memory.rs"]
mod memory;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::time::{Duration, Instant};

use testkit::Rng;

use client::{Stream, Timed, median, number, user};
use memory::{Peak, mib, resident};
use process::Process;
use serde_json::{Value, json};
use testkit::upstream::{Act, Script, Upstream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    task::{JoinSet, block_in_place},
};

fn is_long() -> bool {
    number("MEMORY_LONG", 0) > 0
}

async fn start(seed: u64) -> (Upstream, Process) {
    let upstream = Upstream::start().await;
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(seed));
    block_in_place(|| process.start());
    (upstream, process)
}

/// Follows a chat at a thousand bytes a second, forever, and keeps nothing.
async fn read_slowly(url: &str, chat: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!("GET /api/chat/{chat}/stream HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut piece = [0; 100];
    loop {
        stream.read_exact(&mut piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// One long run with a reader that keeps up and perhaps one that does not: how long the one that keeps up took.
async fn long_run(process: &Process, chat: &str, bytes: usize, slow: bool) -> Duration {
    let http = Timed::new(&process.url());
    let body = json!({ "id": chat, "messages": [user("u", vec![Act::Fill { bytes }])] });
    let began = Instant::now();
    let mut stream = Stream::of(http.open("/api/chat", &body).await);
    let mut readers = JoinSet::new();
    if slow {
        stream.until("text-delta").await;
        let (url, chat) = (process.url(), chat.to_owned());
        readers.spawn(async move { read_slowly(&url, &chat).await });
    }
    let read = stream.end().await;
    let took = began.elapsed();
    assert!(read >= bytes, "{read} of {bytes} bytes");
    assert!(readers.try_join_next().is_none(), "the slow reader was cut off");
    // Only now may it go: it was there to the end.
    drop(readers);
    took
}

/// What it costs in memory is counted in `server/tests/run_heap.rs`, by the allocator.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_does_not_hold_up_others() {
    let (bytes, rounds) = if is_long() { (20 << 20, 11) } else { (4 << 20, 3) };
    let (_upstream, process) = start(11).await;
    for warm_up in 0..3 {
        long_run(&process, &format!("warm-{warm_up}"), bytes, warm_up % 2 == 0).await;
    }
    let slowest = if is_long() { 1.15 } else { 2.0 };
    let (mut all_alone, mut all_beside) = (Vec::new(), Vec::new());
    let (mut alone, mut beside, mut ratio) = (Duration::ZERO, Duration::ZERO, f64::INFINITY);
    // Other processes take time from single rounds. A reader that really waits is slower in every one of them.
    while ratio >= slowest && all_alone.len() < 4 * rounds {
        for _ in 0..rounds {
            let round = all_alone.len();
            for slow in [round % 2 == 0, round % 2 == 1] {
                let side = if slow { &mut all_beside } else { &mut all_alone };
                side.push(long_run(&process, &format!("run-{round}-{slow}"), bytes, slow).await);
            }
        }
        (alone, beside) = (median(all_alone.clone()), median(all_beside.clone()));
        ratio = beside.as_secs_f64() / alone.as_secs_f64();
    }
    let rounds = all_alone.len();
    println!(
        "memory: a slow reader on a run of {} MiB, {rounds} rounds, medians: the other reader took {alone:?} and \
         {beside:?}, {ratio:.2} times",
        bytes >> 20,
    );
    assert!(ratio < slowest, "the other reader waits for the slow one: {ratio:.2}");
}

fn short_turn(chat: &str) -> Value {
    json!({ "id": chat, "messages": [user("u", vec![Act::Text { text: "Yes.".to_owned() }])] })
}

async fn use_once(process: &Process, name: &str, sessions: usize) {
    const AT_ONCE: usize = 16;
    let mut people = JoinSet::new();
    for person in 0..AT_ONCE {
        let (http, name) = (Timed::new(&process.url()), name.to_owned());
        people.spawn(async move {
            for place in (person..sessions).step_by(AT_ONCE) {
                http.chat(&short_turn(&format!("{name}-{place}"))).await;
            }
        });
    }
    while let Some(done) = people.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_were_used_once_cost_nothing_while_they_are_idle() {
    let (sessions, most) = if is_long() { (10_000, 20.0) } else { (600, 8.0) };
    let (_upstream, process) = start(12).await;
    let http = Timed::new(&process.url());
    use_once(&process, "warm", sessions / 10).await;
    let before = resident(process.pid());
    use_once(&process, "idle", sessions).await;
    let after = resident(process.pid());
    let more = mib(after) - mib(before);
    println!(
        "memory: {sessions} idle sessions that were used once: {:.1} MiB before, {:.1} after, {more:+.2} MiB",
        mib(before),
        mib(after)
    );
    let (_, load) = http.get("/api/diagnostics").await;
    assert_eq!(load["engine"]["liveSessions"], 0, "{load}");
    assert!(more < most, "{sessions} idle sessions cost {more:.2} MiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_live_slow_streams_all_come_to_their_end() {
    let (streams, pace_ms, deltas) = if is_long() { (5000, 1000, 30) } else { (200, 50, 20) };
    let (_upstream, process) = start(13).await;
    let before = resident(process.pid());
    let peak = Peak::watch(process.pid());
    let http = std::sync::Arc::new(Timed::new(&process.url()));
    let began = Instant::now();
    let mut running = JoinSet::new();
    for place in 0..streams {
        let http = std::sync::Arc::clone(&http);
        running.spawn(async move {
            let said: String = (0..deltas).map(|delta| format!("<{delta:04}>")).collect();
            let steps = vec![vec![Act::Text { text: said.clone() }]];
            let text = Script { pace_ms, piece: 6, steps }.text();
            let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": text }] });
            let body = json!({ "id": format!("live-{place}"), "messages": [message] });
            let mut stream = Stream::of(http.open("/api/chat", &body).await);
            // The last delta: all before it have come in order, or the history would not end with it.
            stream.until(&format!("<{:04}>", deltas - 1)).await;
            stream.end().await;
            let (_, history) = http.get(&format!("/api/chat/live-{place}/messages")).await;
            let parts = history[1]["parts"].as_array().cloned().unwrap_or_default();
            let kept = parts.iter().find(|part| part["type"] == "text").map(|part| part["text"].clone());
            assert_eq!(kept, Some(Value::from(said)), "live-{place}");
        });
    }
    let mut finished = 0;
    while let Some(done) = running.join_next().await {
        done.unwrap();
        finished += 1;
    }
    let most = peak.bytes();
    println!(
        "memory: {finished} of {streams} live slow streams finished in {:?}; {:.1} MiB at most, {:.1} KiB a stream",
        began.elapsed(),
        mib(most),
        (most.saturating_sub(before)) as f64 / 1024.0 / streams as f64
    );
    assert_eq!(finished, streams);
}
