//! Many clients of the events surface at the real binary: each sees its own session only, and the agent that answers is the
//! one it chose. `cargo xtask soak events` has 2,000 connections, 200 of them at work for a minute, on the release build.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "events/connection.rs"]
mod connection;
#[path = "scale/memory.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod memory;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use connection::Client;
use memory::{mib, resident};
use process::Process;
use serde_json::{Value, json};
use testkit::{
    Rng,
    upstream::{Act, Script, Upstream},
};
use tokio::task::{JoinSet, block_in_place};

const AGENTS: usize = 5;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Agents `a0` to `a4`, each with a role that names it.
fn agents() -> String {
    let agent = |n: usize| {
        format!(
            "[agents.a{n}]\nmainAgentRole = \"ROLE-OF-a{n}\"\n[agents.a{n}.basicInfo]\nname = \"Agent {n}\"\n"
        )
    };
    (0..AGENTS).map(agent).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_sees_their_own_session_and_is_answered_by_the_agent_they_chose() {
    let (all, active) = (number("EVENTS_CONNECTIONS", 60), number("EVENTS_ACTIVE", 12));
    let length = Duration::from_secs(number("EVENTS_SECONDS", 4) as u64);
    let upstream = Upstream::recording().await;
    let mut rng = Rng::new(17);
    let mut process = Process::new(upstream.base_url(), &mut rng);
    let file = process.folder().join("agents.toml");
    std::fs::write(&file, agents()).unwrap();
    process.set("CONCERTINO_MAIN_AGENTS", file.to_str().unwrap());
    process.set("CONCERTINO_HEARTBEAT_MS", "5000");
    block_in_place(|| process.start());
    let address = process.url().trim_start_matches("http://").to_owned();
    let mut idle = Vec::new();
    for _ in active..all {
        idle.push(Client::connect(&address).await);
    }
    let began = Instant::now();
    let mut people = JoinSet::new();
    for _ in 0..active {
        let (address, mut rng) = (address.clone(), rng.fork());
        people.spawn(async move {
            let mut person = Person::new(&address).await;
            while began.elapsed() < length {
                person.turn(&mut rng).await;
            }
            person
        });
    }
    let mut samples = Vec::new();
    while began.elapsed() < length {
        tokio::time::sleep(Duration::from_millis(500)).await;
        samples.push(resident(process.pid()));
    }
    let (mut turns, mut events) = (0, 0);
    while let Some(person) = people.join_next().await {
        let person = person.unwrap();
        turns += person.turns;
        events += person.events;
    }
    assert_eq!(wrong_agents(&upstream.bodies()), Vec::<String>::new());
    let (first, last) = (samples[samples.len() / 3], samples[samples.len() - 1]);
    println!(
        "events: {all} connections, {active} at work for {length:?}: {turns} turns, {events} events, no event of another \
         session, no other agent in {} model requests; {:.1} MiB resident after a third, {:.1} at the end",
        upstream.calls(),
        mib(first),
        mib(last)
    );
    assert!(turns > active, "the clients did something");
    // The history of every chat grows, so memory may, a little.
    assert!(last < first + first / 2 + (32 << 20), "{first} bytes became {last}");
    drop(idle);
    let complaints = process.complaints();
    let bad = complaints.lines().filter(|line| line.contains("panicked") || line.contains(" ERROR "));
    assert_eq!(bad.take(5).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// The server is killed in the middle of an answer that clients of both surfaces read. Both come back with what they have and
/// read the same answer to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_in_the_middle_is_survived_by_clients_of_both_surfaces() {
    let upstream = Upstream::forgetful().await;
    let mut rng = Rng::new(19);
    let mut process = Process::new(upstream.base_url(), &mut rng);
    for _ in 0..number("EVENTS_KILLS", 3) {
        block_in_place(|| process.start());
        let address = process.url().trim_start_matches("http://").to_owned();
        let mut client = Client::connect(&address).await;
        let steps = vec![vec![Act::Fill { bytes: 3_000 }]];
        let content = Script { pace_ms: 4, piece: 10, steps }.text();
        let (status, reply) = client.send(json!({ "type": "chat", "content": content })).await;
        assert_eq!(status, 200, "{reply}");
        let session = reply["sessionId"].as_str().unwrap().to_owned();
        let mut seen = Vec::new();
        let wanted = 4 + rng.below(8);
        while seen.len() < wanted {
            seen.push(client.next().await);
        }
        block_in_place(|| process.kill());
        while let Some(event) = client.next_or_end().await {
            seen.push(event);
        }
        block_in_place(|| process.start());
        // A delta that was told and not stored is a gap, which the server says.
        let last = format!("{session}.{}", seen.last().unwrap()["seq"]);
        let mut client = Client::resume(&address, Some(&last)).await;
        let mut followed = client.next().await;
        if followed["type"] == "resync" {
            assert_eq!(followed["data"]["reason"], "gap", "{followed}");
            let load = json!({ "sessionId": session, "connectionId": client.id.clone() });
            let (status, reply) = client.post("/session/load", &load).await;
            assert_eq!(status, 200, "{reply}");
            if reply["session"]["status"] == "idle" {
                followed = json!({ "type": "complete", "data": { "status": "finished" } });
            } else {
                followed = client.next().await;
            }
        }
        while followed["type"] != "complete" {
            followed = client.next().await;
        }
        assert_eq!(followed["data"]["status"], "finished", "{followed}");
        let shown = connection::get(&address, &format!("/api/chat/{session}/messages")).await;
        let load = json!({ "sessionId": session, "connectionId": client.id.clone() });
        let loaded = client.post("/session/load", &load).await.1["session"]["messages"].clone();
        let answers =
            |of: &Value, role: &str| of.as_array().unwrap().iter().filter(|m| m["role"] == role).count();
        assert_eq!((answers(&shown, "user"), answers(&shown, "assistant")), (1, 1), "{shown}");
        assert_eq!(shown[1]["id"], loaded[1]["id"], "both surfaces have the same message");
        let texts: String =
            shown[1]["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect();
        let items: String =
            loaded.as_array().unwrap()[1..].iter().filter_map(|item| item["content"].as_str()).collect();
        assert_eq!(texts, items);
        block_in_place(|| process.kill());
    }
}

/// The processor time of long answers on both surfaces, with the same number of clients, one after the other. The figures
/// are printed; the long run holds them against each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delta_costs_about_the_same_on_both_surfaces() {
    let (streams, deltas) = (number("EVENTS_STREAMS", 4), number("EVENTS_DELTAS", 200));
    let upstream = Upstream::forgetful().await;
    let mut process = Process::new(upstream.base_url(), &mut Rng::new(18));
    block_in_place(|| process.start());
    let address = process.url().trim_start_matches("http://").to_owned();
    let steps = vec![vec![Act::Fill { bytes: 10 * deltas }]];
    let content = Script { pace_ms: 2, piece: 10, steps }.text();
    let mut spent = Vec::new();
    for round in 0..3 {
        for surface in ["chat", "events"] {
            let before = processor_time(process.pid());
            let mut clients = JoinSet::new();
            for number in 0..streams {
                let (address, content) = (address.clone(), content.clone());
                let name = format!("{surface}-{round}-{number}");
                clients.spawn(async move {
                    match surface {
                        "chat" => connection::chat(&address, &name, &content).await,
                        _ => events(&address, &content).await,
                    }
                });
            }
            while let Some(client) = clients.join_next().await {
                client.unwrap();
            }
            spent.push((surface, processor_time(process.pid()) - before));
        }
    }
    let best = |surface| spent.iter().filter(|(of, _)| *of == surface).map(|(_, time)| *time).min().unwrap();
    let (chat, events) = (best("chat"), best("events"));
    let ratio = events as f64 / chat.max(1) as f64;
    println!(
        "events: {streams} answers of {deltas} deltas: {chat} ticks of processor time on the chat surface, {events} on the \
         events surface, {ratio:.2} times (best of 3)"
    );
    // Fewer ticks say nothing.
    assert!(chat < 100 || ratio <= 1.5, "{spent:?}");
}

/// One answer, read to its end on the events surface.
async fn events(address: &str, content: &str) {
    let mut client = Client::connect(address).await;
    let (status, reply) = client.send(json!({ "type": "chat", "content": content })).await;
    assert_eq!(status, 200, "{reply}");
    while client.next().await["type"] != "complete" {}
}

/// In ticks of the system's clock.
fn processor_time(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Requests whose system message is not the role of the agent that the user's text names.
fn wrong_agents(bodies: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    for body in bodies {
        let body: Value = serde_json::from_str(body).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let system = messages[0]["content"].to_string();
        let asked =
            messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"].to_string();
        let named = (0..AGENTS).find(|n| asked.contains(&format!("<agent a{n}>")));
        let roles: Vec<usize> = (0..AGENTS).filter(|n| system.contains(&format!("ROLE-OF-a{n}"))).collect();
        if roles != named.into_iter().collect::<Vec<_>>() {
            wrong.push(format!("asked for {named:?}, got {roles:?}"));
        }
    }
    wrong
}

/// One client that has a session and switches its agent before every message.
struct Person {
    client: Client,
    session: String,
    agent: Option<usize>,
    turns: usize,
    events: usize,
    last: HashMap<String, u64>,
}

impl Person {
    async fn new(address: &str) -> Self {
        let mut client = Client::connect(address).await;
        let (status, reply) =
            client.post("/session/create", &json!({ "connectionId": client.id.clone() })).await;
        assert_eq!(status, 200, "{reply}");
        let session = reply["session"]["id"].as_str().unwrap().to_owned();
        Self { client, session, agent: None, turns: 0, events: 0, last: HashMap::new() }
    }

    /// The next event of a type; every event on the way belongs to this client's session.
    async fn wait(&mut self, kind: &str) -> Value {
        loop {
            let event = self.client.next().await;
            self.events += 1;
            assert_eq!(event["sessionId"], self.session.as_str(), "{event}");
            let seq = event["seq"].as_u64().unwrap();
            let before = self.last.insert(self.session.clone(), seq);
            assert!(before.is_none_or(|before| before < seq), "{before:?} then {event}");
            if event["type"] == kind {
                return event;
            }
        }
    }

    async fn turn(&mut self, rng: &mut Rng) {
        let agent = rng.below(AGENTS);
        let (status, reply) =
            self.client.send(json!({ "type": "switch_agent", "agentId": format!("a{agent}") })).await;
        assert_eq!((status, &reply["success"]), (200, &json!(true)), "{reply}");
        let switched = self.wait("agent_switched").await;
        let previous = self.agent.map_or("general".to_owned(), |agent| format!("a{agent}"));
        assert_eq!(switched["data"]["previousAgentId"], previous.as_str());
        self.agent = Some(agent);
        let script = Script::new(vec![vec![Act::Fill { bytes: 200 + rng.below(400) }]]);
        let content = format!("<agent a{agent}> {}", script.text());
        let (status, reply) = self.client.send(json!({ "type": "chat", "content": content })).await;
        assert_eq!(status, 200, "{reply}");
        let complete = self.wait("complete").await;
        assert_eq!(complete["data"]["status"], "finished", "{complete}");
        assert_eq!(complete["data"]["agentId"], format!("a{agent}").as_str());
        self.turns += 1;
    }
}
