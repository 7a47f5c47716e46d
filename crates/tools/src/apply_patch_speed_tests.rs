//! Compares the speed of `apply-patch` with the program `patch`. It is ignored by default, because it measures time:
//! `cargo test --release -p tools -- --ignored --nocapture speed`.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use super::*;
use crate::{erase, testing, testing::Folder, typed::Family};

const FILES: usize = 200;
const LINES: usize = 500;
/// Every so many lines one is changed.
const STEP: usize = 60;
const ROUNDS: usize = 7;

fn file(number: usize, changed: bool) -> String {
    let line = |line: usize| match changed && line % STEP == 30 {
        true => format!("    let changed_{line} = other({number});\n"),
        false => format!("    let value_{line} = compute({number}, {line});\n"),
    };
    (0..LINES).map(line).collect()
}

fn patch_text() -> String {
    let of_file = |number| {
        let (old, new) = (file(number, false), file(number, true));
        let diff = patch::diff(old.as_bytes(), new.as_bytes(), 3, usize::MAX);
        format!("--- a/dir{0}/f{number}.rs\n+++ b/dir{0}/f{number}.rs\n{1}", number % 10, diff.text)
    };
    (0..FILES).map(of_file).collect()
}

fn folder() -> Folder {
    let names: Vec<String> = (0..FILES).map(|number| format!("dir{}/f{number}.rs", number % 10)).collect();
    let texts: Vec<String> = (0..FILES).map(|number| file(number, false)).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    Folder::with(&files)
}

fn is_changed(folder: &Path) -> bool {
    (0..FILES).all(|number| {
        let path = folder.join(format!("dir{}/f{number}.rs", number % 10));
        fs::read_to_string(path).unwrap() == file(number, true)
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::test]
#[ignore = "measures time; run it in release mode on an idle machine"]
async fn the_speed_is_that_of_patch_and_sync() {
    let text = patch_text();
    let hunks = text.matches("\n@@ ").count();
    let (mut ours, mut drafting, mut theirs, mut synced) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let other = folder();
        let input = other.path.join("p.diff");
        fs::write(&input, &text).unwrap();
        let start = Instant::now();
        let status =
            Command::new("patch").args(["-s", "-p1", "-i", "p.diff"]).current_dir(&other.path).status();
        theirs.push(start.elapsed());
        assert!(status.unwrap().success() && is_changed(&other.path));
        // What `patch` leaves to the system, and we do before the call returns.
        for number in 0..FILES {
            let path = other.path.join(format!("dir{}/f{number}.rs", number % 10));
            fs::File::open(path).unwrap().sync_all().unwrap();
        }
        synced.push(start.elapsed());

        let folder = folder();
        let tool = erase(ApplyPatch, Family::Host);
        let start = Instant::now();
        drop(drafted(&folder.files, &text).await.unwrap());
        drafting.push(start.elapsed());
        let start = Instant::now();
        testing::call_in(folder.ctx(), tool, json!({ "patch": text })).await.unwrap();
        ours.push(start.elapsed());
        assert!(is_changed(&folder.path));
    }
    let [ours, drafting, theirs, synced] = [ours, drafting, theirs, synced].map(median);
    println!("{FILES} files, {hunks} hunks, {} bytes of patch, median of {ROUNDS}", text.len());
    println!(
        "apply-patch {ours:?} (of it without writing {drafting:?}), patch {theirs:?}, patch and sync {synced:?}"
    );
    // A call returns when its changes survive a power loss, so the fair comparison is with the time of `patch` and sync.
    if !cfg!(debug_assertions) {
        assert!(ours <= synced * 2, "apply-patch {ours:?}, patch and sync {synced:?}");
    }
}
