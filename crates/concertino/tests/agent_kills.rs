//! A tree of agents whose server is killed at any moment: what was finished is kept and not done again, the rest continues.
//!
//! The real binary, a scripted model server, SIGKILL. `AGENT_KILLS` makes it longer; `cargo xtask soak agents` does.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod process;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use testkit::Rng;

use client::{Timed, number};
use process::Process;
use protocol::{ToolState, UiMessage};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use testkit::upstream::{Act, Script, Upstream};
use tokio::{
    task::block_in_place,
    time::{sleep, timeout},
};

/// No tree takes longer, however often the server is killed in it, unless it is stuck.
const PATIENCE: Duration = Duration::from_secs(90);

/// What an agent does: two tools and those below it, then 2 kB of text and its last words. Agents named in `ask` ask first.
fn script(task: &str, fan_out: usize, depth: usize, ask: &BTreeSet<String>, pace_ms: u64) -> String {
    let call = |tool: &str, input: Value| Act::Call { tool: tool.to_owned(), input };
    let mut first = vec![
        call("conf_echo", json!({ "text": format!("{task} x") })),
        call("conf_echo", json!({ "text": format!("{task} y") })),
    ];
    if ask.contains(task) {
        first.push(call("conf_approve", json!({ "text": format!("{task} may I") })));
    }
    if depth > 0 {
        for place in 0..fan_out {
            let below = format!("{task}.{place}");
            let agent = format!("level{depth}");
            let input = json!({ "agent": agent, "task": script(&below, fan_out, depth - 1, ask, pace_ms) });
            first.push(call("conf_delegate", input));
        }
    }
    let last = vec![Act::Fill { bytes: 2_000 }, Act::Text { text: last_words(task) }];
    let script = Script { pace_ms, piece: 100, steps: vec![first, last] };
    format!("{task} {}", script.text())
}

fn last_words(task: &str) -> String {
    format!("<the end of {task}>")
}

/// The name a task begins with.
fn name(task: &str) -> String {
    task.split(' ').next().unwrap().to_owned()
}

/// Every name of a tree.
fn names(task: &str, fan_out: usize, depth: usize, all: &mut BTreeSet<String>) {
    all.insert(task.to_owned());
    for place in 0..if depth > 0 { fan_out } else { 0 } {
        names(&format!("{task}.{place}"), fan_out, depth - 1, all);
    }
}

/// What a dead server has left: of every agent whether it was finished, and its message.
fn stored(database: &Path) -> BTreeMap<String, (String, Option<String>)> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = connection.prepare("SELECT task, status, body FROM frames").unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut all = BTreeMap::new();
    for row in rows {
        let (task, status, body) = row.unwrap();
        let before = all.insert(name(&task), (status, body));
        assert!(before.is_none(), "{} was opened twice", name(&task));
    }
    all
}

/// The agents of a message, by their last words, with each agent's id.
fn agents(message: &UiMessage, found: &mut BTreeMap<String, String>) {
    let text = message.text();
    // Words that a kill cut off stand there too, before those that were said again.
    let own = text.rsplit_once("<the end of ").unwrap_or_else(|| panic!("no last words: {text}"));
    let own = own.1.strip_suffix('>').unwrap().to_owned();
    assert!(found.insert(own.clone(), message.id.to_string()).is_none(), "{own} is there twice");
    for part in message.tool_parts() {
        assert!(part.state.is_settled(), "{own}: {part:?}");
        if part.tool == "conf_delegate" {
            match &part.state {
                ToolState::OutputAvailable { output, .. } => {
                    agents(&serde_json::from_value(output.clone()).unwrap(), found);
                }
                // A kill came before the call was complete; the model made it again.
                ToolState::OutputError { error_text, .. } if error_text.contains("restarted before") => {}
                state => panic!("{own}: {state:?}"),
            }
        }
    }
}

/// Says yes to whatever is asked; returns whether the chat is done.
async fn attend(http: &Timed, chat: &str) -> bool {
    let (_, open) = http.get("/api/approvals").await;
    for waiting in open["approvals"].as_array().into_iter().flatten() {
        let id = waiting["approval"]["id"].as_str().unwrap_or_else(|| panic!("{open}"));
        http.post(&format!("/api/approvals/{id}"), &json!({ "approved": true })).await;
    }
    let (_, session) = http.get(&format!("/api/sessions/{chat}")).await;
    session["status"] == "idle" && !session["lastRun"].is_null()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_of_a_tree_finished_branches_are_kept_and_the_rest_goes_on() {
    let kills = number("AGENT_KILLS", 4);
    let mut rng = Rng::new(5);
    let upstream = Upstream::recording().await;
    let mut process = Process::new(upstream.base_url(), &mut rng);
    // Every end here comes from outside, so no run is ended for it.
    process.set("CONCERTINO_MAX_CRASHES", "1000000");
    block_in_place(|| process.start());
    let (mut killed, mut trees, mut kept, mut cut) = (0, 0, 0, 0);
    while killed < kills {
        trees += 1;
        let chat = format!("tree-{trees}");
        let root = format!("go{trees}");
        let mut all = BTreeSet::new();
        names(&root, 3, 2, &mut all);
        let asking = all.iter().filter(|_| rng.percent(15)).cloned().collect();
        let text = script(&root, 3, 2, &asking, rng.between(0, 2));
        let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": text }] });
        let http = Timed::new(&process.url());
        // The answer is not read: a run depends on no connection.
        drop(http.open("/api/chat", &json!({ "id": chat, "messages": [message] })).await);
        let began = Instant::now();
        let mut finished: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut left = 3;
        loop {
            assert!(began.elapsed() < PATIENCE, "{chat} does not come to its end");
            sleep(Duration::from_millis(rng.between(5, 250))).await;
            if left > 0 && killed < kills {
                has_begun(&process, &root).await;
                block_in_place(|| process.kill());
                (killed, left) = (killed + 1, left - 1);
                let now = stored(&process.database());
                let now = now.into_iter().filter(|(task, _)| name(task).split('.').next() == Some(&root));
                let mut open = 0;
                for (task, (status, body)) in now {
                    if status == "finished" {
                        let before = finished.entry(task.clone()).or_insert_with(|| body.clone());
                        assert_eq!(*before, body, "{task} was finished and has changed");
                    } else {
                        assert!(!finished.contains_key(&task), "{task} was finished and is {status}");
                        open += 1;
                    }
                }
                (kept, cut) = (kept + finished.len(), cut + open);
                let asked = upstream.bodies().len();
                block_in_place(|| process.start());
                not_asked_again(&upstream, asked, &finished).await;
            }
            if attend(&http, &chat).await {
                break;
            }
        }
        let (_, history) = http.get(&format!("/api/chat/{chat}/messages")).await;
        let answer: UiMessage = serde_json::from_value(history[1].clone()).unwrap();
        let mut found = BTreeMap::new();
        agents(&answer, &mut found);
        assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), all);
        for (task, body) in &finished {
            let body: UiMessage = serde_json::from_str(body.as_deref().unwrap()).unwrap();
            assert_eq!(found[task], body.id.to_string(), "{task} has another message now");
        }
    }
    println!(
        "{killed} kills in {trees} trees of 13 agents: {kept} finished agents were there at a kill and were kept, {cut} open \
         ones went on"
    );
    let complaints = process.complaints();
    let bad = complaints.lines().filter(|line| line.contains("panicked") || line.contains(" ERROR "));
    assert_eq!(bad.collect::<Vec<_>>(), Vec::<&str>::new());
    // How much a kill meets depends on the machine; over many it is enough of both.
    let enough = if kills >= 50 { 2 * kept >= kills && 2 * cut >= kills } else { kept + cut > 0 };
    assert!(enough, "too little was at work: {kept} kept, {cut} cut");
}

/// Waits until a sub-agent of this tree is stored: on a busy machine that may take longer than the moment of a kill.
async fn has_begun(process: &Process, root: &str) {
    let begun = async {
        while !stored(&process.database()).keys().any(|task| name(task).split('.').next() == Some(root)) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    // A tree of a single agent has none.
    timeout(Duration::from_secs(2), begun).await.unwrap_or_default();
}

/// Of what the model was asked since then, nothing was for an agent that had finished.
async fn not_asked_again(upstream: &Upstream, since: usize, finished: &BTreeMap<String, Option<String>>) {
    sleep(Duration::from_millis(20)).await;
    for body in upstream.bodies().iter().skip(since) {
        let body: Value = serde_json::from_str(body).unwrap();
        let asked = body["messages"].as_array().unwrap().iter().rfind(|message| message["role"] == "user");
        let content = &asked.unwrap()["content"];
        let text = content
            .as_str()
            .map(str::to_owned)
            .or_else(|| content.as_array()?.iter().find_map(|part| Some(part["text"].as_str()?.to_owned())));
        let task = name(&text.unwrap_or_default());
        assert!(!finished.contains_key(&task), "{task} was finished and its model was asked again");
    }
}
