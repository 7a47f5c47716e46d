//! A server that is killed while a patch changes many files: after the restart all of them are new, or all are old, and the
//! list of changes says which.
//!
//! The real binary, a scripted model server, SIGKILL. `FILE_KILLS` makes it longer; `cargo xtask soak files` does.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod process;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use client::{Timed, number};
use process::Process;
use serde_json::{Value, json};
use testkit::{
    Rng,
    upstream::{Act, Script, Upstream},
};
use tokio::{task::block_in_place, time::sleep};

const FILES: usize = 300;
/// No chat takes longer, unless it is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The files of a folder, by name.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// Every round changes most files, creates some and deletes others.
fn next_round(old: &BTreeMap<String, String>, round: usize) -> BTreeMap<String, String> {
    let mut new = BTreeMap::new();
    for place in 0..FILES {
        let name = format!("f{place:02}.txt");
        if place % 5 == 0 && old.contains_key(&name) {
            continue;
        }
        new.insert(name, format!("round {round}\n{}\n", "line of text\n".repeat(place % 50).trim_end()));
    }
    new
}

/// The patch that makes the new files of the old ones.
fn patch(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> String {
    let mut text = String::from("*** Begin Patch\n");
    for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
        match (old.get(name), new.get(name)) {
            (Some(_), None) => writeln!(text, "*** Delete File: work/{name}").unwrap(),
            (None, Some(content)) => {
                writeln!(text, "*** Add File: work/{name}").unwrap();
                content.lines().for_each(|line| writeln!(text, "+{line}").unwrap());
            }
            (Some(before), Some(after)) => {
                let first = |content: &str| content.lines().next().unwrap().to_owned();
                writeln!(text, "*** Update File: work/{name}\n@@").unwrap();
                writeln!(text, "-{}\n+{}", first(before), first(after)).unwrap();
            }
            (None, None) => {}
        }
    }
    text + "*** End Patch\n"
}

/// From before the patch is read until after it was applied, most often in the middle.
fn wait_for_the_moment(work: &Path, old: &BTreeMap<String, String>, rng: &mut Rng) {
    let began = Instant::now();
    // Written by every round, as one of the first.
    let first = work.join("f01.txt");
    let before = old.get("f01.txt").cloned();
    match rng.between(0, 3) {
        0 => std::thread::sleep(Duration::from_millis(rng.between(0, 400))),
        // The new contents are being written, under temporary names.
        1 => while fs::read_dir(work).unwrap().count() == old.len() && began.elapsed() < PATIENCE {},
        // The old files are being exchanged for the new ones.
        _ => while fs::read_to_string(&first).ok() == before && began.elapsed() < PATIENCE {},
    }
}

/// Waits until the chat is idle; returns the changes it lists.
async fn settled(http: &Timed, chat: &str) -> Vec<Value> {
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "{chat} does not come to its end");
        let (_, session) = http.get(&format!("/api/sessions/{chat}")).await;
        if session["status"] == "idle" && !session["lastRun"].is_null() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let (_, list) = http.get(&format!("/api/chat/{chat}/changes")).await;
    let runs = list["runs"].as_array().unwrap_or_else(|| panic!("{list}"));
    runs.iter().flat_map(|run| run["files"].as_array().unwrap().clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_of_a_patch_all_files_are_old_or_all_are_new() {
    let kills = number("FILE_KILLS", 8);
    let mut rng = Rng::new(number("FILE_SEED", 3) as u64);
    let upstream = Upstream::start().await;
    let mut process = Process::new(upstream.base_url(), &mut rng);
    process.set("CONCERTINO_MAX_CRASHES", "1000000");
    process.set("CONCERTINO_APPROVALS", "yolo");
    let work = process.folder().join("work");
    fs::create_dir(&work).unwrap();
    block_in_place(|| process.start());
    let mut old = BTreeMap::new();
    let (mut kept_old, mut made_new, mut in_the_middle) = (0, 0, 0);
    for round in 0..kills {
        let new = next_round(&old, round);
        let chat = format!("patch-{round}");
        let call = Act::Call { tool: "apply-patch".to_owned(), input: json!({ "patch": patch(&old, &new) }) };
        let steps = vec![vec![call], vec![Act::Text { text: "done".to_owned() }]];
        let text = Script { pace_ms: 0, piece: 4_000, steps }.text();
        let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": text }] });
        let http = Timed::new(&process.url());
        drop(http.open("/api/chat", &json!({ "id": chat, "messages": [message] })).await);
        block_in_place(|| wait_for_the_moment(&work, &old, &mut rng));
        block_in_place(|| process.kill());
        let left: BTreeMap<_, _> =
            tree(&work).into_iter().filter(|(name, _)| !name.starts_with('.')).collect();
        in_the_middle += u64::from(left != old && left != new);
        block_in_place(|| process.start());
        let http = Timed::new(&process.url());
        // The first answer means that what was interrupted is finished.
        http.get(&format!("/api/sessions/{chat}")).await;
        let found = tree(&work);
        assert!(found == old || found == new, "round {round}: {:?}", found.keys());
        let changes = settled(&http, &chat).await;
        let found = tree(&work);
        assert!(found == old || found == new, "round {round}, after the run: {:?}", found.keys());
        if found == new {
            made_new += 1;
            let changed = old.keys().chain(new.keys()).collect::<BTreeSet<_>>().len();
            assert_eq!(changes.len(), changed, "round {round}: {changes:?}");
            old = new;
        } else {
            kept_old += 1;
            assert_eq!(changes, Vec::<Value>::new(), "round {round}");
        }
    }
    println!(
        "{kills} kills, {in_the_middle} between the first and the last file: {kept_old} times all old, {made_new} times all new"
    );
    assert!(made_new > 0);
    let complaints = process.complaints();
    let bad = complaints.lines().filter(|line| line.contains("panicked") || line.contains(" ERROR "));
    assert_eq!(bad.collect::<Vec<_>>(), Vec::<&str>::new());
}
