//! What a person does in a long session costs what it costs in a short one, and a long list what a short one does.
//!
//! Both sides are measured in one run, in turn, and only their ratio counts. `cargo xtask soak flat` runs the long
//! counts on the release build; the everyday run is short and its bound is wide, so that it fails for what grows with
//! the history and for nothing else.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::time::{Duration, Instant};

use testkit::Rng;

use client::{Stream, Timed, median, number, user};
use process::Process;
use serde_json::{Value, json};
use testkit::upstream::{Act, Upstream};
use tokio::{
    net::TcpListener,
    task::{JoinSet, block_in_place},
};

const SHORT: usize = 10;
const FEW: usize = 100;
/// How many ask at once while sessions are made.
const MAKERS: usize = 16;

fn says() -> Vec<Act> {
    vec![Act::Text { text: "Yes.".to_owned() }]
}

fn stalls() -> Vec<Act> {
    vec![Act::Text { text: "Working".to_owned() }, Act::Stall { ms: 60_000 }]
}

/// The times of one operation: in the short case and in the long one.
#[derive(Default)]
struct Pair {
    short: Vec<Duration>,
    long: Vec<Duration>,
}

impl Pair {
    fn conclude(self, what: &str, limit: f64) -> bool {
        let (short, long) = (median(self.short), median(self.long));
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        println!("flat: {what}: {short:?} and {long:?}, {ratio:.2} times (at most {limit})");
        ratio <= limit
    }
}

/// How many requests are made before a measurement that a model beside it would disturb.
const SETTLING: usize = 4;

/// A chat of so many messages; the last one of the user does what `acts` say.
async fn plant(http: &Timed, chat: &str, messages: usize, acts: Vec<Act>) -> Stream {
    let earlier = (0..messages - 2).map(|place| {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        let text = format!("Message {place} of this chat, as long as messages are.");
        json!({ "id": format!("h{place}"), "role": role, "parts": [{ "type": "text", "text": text }] })
    });
    let all: Vec<Value> = earlier.chain([user("last", acts)]).collect();
    Stream::of(http.open("/api/chat", &json!({ "id": chat, "messages": all })).await)
}

fn again(chat: &str) -> Value {
    // Only its id counts: the server has the message.
    json!({ "id": chat, "messages": [user("last", says())], "trigger": "regenerate-message" })
}

/// A server whose model takes the connection and reads nothing: what is measured is the server alone, not a model that
/// shares this process and reads ten thousand messages at the same moment.
struct Quiet {
    http: Timed,
    _model: TcpListener,
    _process: Process,
}

impl Quiet {
    async fn start(long: usize) -> Self {
        // The system accepts for it; nobody reads.
        let model = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", model.local_addr().unwrap());
        let mut process = Process::new(url, &mut Rng::new(9));
        block_in_place(|| process.start());
        let quiet = Self { http: Timed::new(&process.url()), _model: model, _process: process };
        for (chat, messages) in [("short", SHORT), ("long", long)] {
            let stream = plant(&quiet.http, chat, messages, says()).await;
            quiet.stop(chat, stream).await;
        }
        quiet
    }

    async fn regenerate(&self, chat: &str) -> Duration {
        let began = Instant::now();
        let mut stream = Stream::of(self.http.open("/api/chat", &again(chat)).await);
        stream.until("\"type\":\"start\"").await;
        let first = began.elapsed();
        self.stop(chat, stream).await;
        first
    }

    async fn stop(&self, chat: &str, stream: Stream) {
        self.http.post(&format!("/api/chat/{chat}/stop"), &json!({})).await;
        stream.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_session_costs_what_a_short_one_costs() {
    let (long, rounds) = (number("FLAT_MESSAGES", 2000), number("FLAT_ROUNDS", 15));
    let limit = if rounds > 50 { 1.5 } else { 4.0 };
    let upstream = Upstream::start().await;
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(7));
    block_in_place(|| process.start());
    let http = Timed::new(&process.url());
    for (chat, messages) in [("short", SHORT), ("long", long)] {
        plant(&http, chat, messages, says()).await.end().await;
        let mut stalling = plant(&http, &format!("{chat}-stop"), messages, stalls()).await;
        stalling.until("Working").await;
        http.post(&format!("/api/chat/{chat}-stop/stop"), &json!({})).await;
        stalling.end().await;
    }
    let quiet = Quiet::start(long).await;
    let (mut open, mut page, mut switch) = (Pair::default(), Pair::default(), Pair::default());
    let (mut regenerate, mut beside, mut stop) = (Pair::default(), Pair::default(), Pair::default());
    for round in 0..rounds {
        let mut sides = [("short", 0), ("long", 1)];
        sides.rotate_left(round % 2);
        for (chat, side) in sides {
            let add = |pair: &mut Pair, time| [&mut pair.short, &mut pair.long][side].push(time);
            let (looked, info) = http.get(&format!("/api/sessions/{chat}")).await;
            let (read, messages) = http.get(&format!("/api/chat/{chat}/messages?limit={SHORT}")).await;
            assert_eq!(messages.as_array().unwrap().len(), SHORT);
            add(&mut open, looked + read);
            let wanted = [SHORT, long][side].min(100);
            let (read, messages) = http.get(&format!("/api/chat/{chat}/messages")).await;
            assert!(messages.as_array().unwrap().len() >= wanted, "{info}");
            add(&mut page, read);

            let body = json!({ "messageId": "h0" });
            let (switched, leaf) = http.post(&format!("/api/chat/{chat}/branch"), &body).await;
            assert!(leaf["activeLeaf"].as_str().unwrap().starts_with("msg_"), "{leaf}");
            add(&mut switch, switched);

            add(&mut beside, http.chat(&again(chat)).await);
            add(&mut regenerate, quiet.regenerate(chat).await);

            let chat = format!("{chat}-stop");
            let mut stalling = Stream::of(http.open("/api/chat", &again(&chat)).await);
            stalling.until("Working").await;
            // By now the model in this process has put away the chat it read, which is not the server's cost.
            for _ in 0..SETTLING {
                http.get(&format!("/api/sessions/{chat}")).await;
            }
            let (stopped, answer) = http.post(&format!("/api/chat/{chat}/stop"), &json!({})).await;
            assert_eq!(answer["status"], "cancelled");
            add(&mut stop, stopped);
            stalling.end().await;
        }
    }
    println!("flat: sessions of {SHORT} and of {long} messages, {rounds} rounds, medians");
    page.conclude("the default page (100 messages beside 10)", f64::INFINITY);
    beside.conclude("regenerating, while a model in this process reads the whole chat", f64::INFINITY);
    let within = [
        open.conclude("opening", limit),
        switch.conclude("switching to the end of another branch", limit),
        regenerate.conclude("regenerating, to the first chunk", limit),
        stop.conclude("stopping", limit),
    ];
    assert!(within.iter().all(|within| *within), "see above");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_of_sessions_answers_like_a_short_one() {
    let (many, rounds) = (number("FLAT_SESSIONS", 400), number("FLAT_ROUNDS", 15));
    let limit = if rounds > 50 { 2.0 } else { 4.0 };
    let upstream = Upstream::start().await;
    let mut rng = Rng::new(8);
    let mut servers = Vec::new();
    for count in [FEW, many] {
        let mut process = Process::new(upstream.base_url(), &mut rng);
        block_in_place(|| process.start());
        let mut makers = JoinSet::new();
        for maker in 0..MAKERS {
            let http = Timed::new(&process.url());
            makers.spawn(async move {
                for place in (maker..count).step_by(MAKERS) {
                    let id = format!("s{place}");
                    http.chat(&json!({ "id": id, "messages": [user("u", says())] })).await;
                }
            });
        }
        while let Some(made) = makers.join_next().await {
            made.unwrap();
        }
        let http = Timed::new(&process.url());
        servers.push((process, http));
    }
    let (mut first, mut deep) = (Pair::default(), Pair::default());
    for round in 0..rounds {
        for side in [round % 2, (round + 1) % 2] {
            let add = |pair: &mut Pair, time| [&mut pair.short, &mut pair.long][side].push(time);
            let http = &servers[side].1;
            let (time, list) = http.get("/api/sessions").await;
            assert_eq!(list["sessions"].as_array().unwrap().len(), 50);
            add(&mut first, time);
            let cursor = list["nextCursor"].as_str().unwrap();
            let (time, list) = http.get(&format!("/api/sessions?cursor={cursor}")).await;
            assert_eq!(list["sessions"].as_array().unwrap().len(), 50);
            add(&mut deep, time);
        }
    }
    println!("flat: lists of {FEW} and of {many} sessions, {rounds} rounds, medians");
    let within = [first.conclude("the first page", limit), deep.conclude("the second page", limit)];
    assert!(within.iter().all(|within| *within), "see above");
}
