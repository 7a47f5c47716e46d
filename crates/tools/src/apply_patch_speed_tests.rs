//! Compares the speed of `apply-patch` with the program `patch`. It is ignored by default, because it measures time:
//! `cargo test --release -p tools -- --ignored --nocapture speed`.
//!
//! `patch` leaves its files to the operating system, as `apply-patch` does with `durability = "process"`. With `"power"` a
//! call returns when its changes are on disk, so that it is also compared with `patch` followed by a sync of its files.

use std::{
    env, fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use protocol::Durability;
use serde_json::json;

use super::*;
use crate::{erase, testing, testing::Folder, typed::Family};

/// Files of `lines` lines, of which every `step`th is changed.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    files: usize,
    lines: usize,
    step: usize,
}

const CASES: [Case; 5] = [
    Case { name: "1,000 files of 4 KB", files: 1_000, lines: 100, step: 50 },
    Case { name: "200 files of 20 KB", files: 200, lines: 500, step: 60 },
    Case { name: "100 files of 4 KB", files: 100, lines: 100, step: 50 },
    Case { name: "1 file of 4 MB", files: 1, lines: 100_000, step: 500 },
    Case { name: "1 file of 4 KB", files: 1, lines: 100, step: 50 },
];

impl Case {
    fn path(number: usize) -> String {
        format!("dir{}/f{number}.rs", number % 10)
    }

    fn file(&self, number: usize, changed: bool) -> String {
        let line = |line: usize| match changed && line % self.step == self.step / 2 {
            true => format!("    let changed_{line} = other({number});\n"),
            false => format!("    let value_{line} = compute({number}, {line});\n"),
        };
        (0..self.lines).map(line).collect()
    }

    fn patch(&self) -> String {
        let of_file = |number| {
            let (old, new) = (self.file(number, false), self.file(number, true));
            let diff = patch::diff(old.as_bytes(), new.as_bytes(), 3, usize::MAX);
            let path = Self::path(number);
            format!("--- a/{path}\n+++ b/{path}\n{}", diff.text)
        };
        (0..self.files).map(of_file).collect()
    }

    fn folder(&self, place: &Path, durability: Durability, texts: &[String]) -> Folder {
        let names: Vec<String> = (0..self.files).map(Self::path).collect();
        let files: Vec<(&str, &[u8])> =
            names.iter().zip(texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        Folder::within(place, durability, &files)
    }

    fn assert_changed(&self, folder: &Path, texts: &[String]) {
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(fs::read_to_string(folder.join(Self::path(number))).unwrap(), *text);
        }
    }
}

/// Nothing that was written before shall be synced with what is measured, and files are not as young as their edits.
fn settle() {
    Command::new("sync").status().unwrap();
    thread::sleep(Duration::from_millis(60));
}

/// The best and the median.
fn summary(mut times: Vec<Duration>) -> [f64; 2] {
    times.sort();
    [times[0], times[times.len() / 2]].map(|time| time.as_secs_f64() * 1000.0)
}

#[derive(Default)]
struct Times {
    patch: Vec<Duration>,
    patch_and_sync: Vec<Duration>,
    ours: [Vec<Duration>; 2],
    phases: [Vec<Duration>; 3],
}

async fn round(case: Case, place: &Path, texts: &[Vec<String>; 2], patch: &str, times: &mut Times) {
    let other = case.folder(place, Durability::Process, &texts[0]);
    let input = other.path.join("p.diff");
    fs::write(&input, patch).unwrap();
    settle();
    let start = Instant::now();
    let status = Command::new("patch").args(["-s", "-p1", "-i", "p.diff"]).current_dir(&other.path).status();
    times.patch.push(start.elapsed());
    assert!(status.unwrap().success());
    for number in 0..case.files {
        fs::File::open(other.path.join(Case::path(number))).unwrap().sync_all().unwrap();
    }
    times.patch_and_sync.push(start.elapsed());
    case.assert_changed(&other.path, &texts[1]);

    for (at, durability) in [Durability::Process, Durability::Power].into_iter().enumerate() {
        let folder = case.folder(place, durability, &texts[0]);
        let (tool, input) = (erase(ApplyPatch, Family::Host), json!({ "patch": patch }));
        settle();
        let start = Instant::now();
        testing::call_in(folder.ctx(), tool, input).await.unwrap();
        times.ours[at].push(start.elapsed());
        case.assert_changed(&folder.path, &texts[1]);
    }

    let folder = case.folder(place, Durability::Process, &texts[0]);
    settle();
    let start = Instant::now();
    let (_, draft) = drafted(&folder.files, patch).await.unwrap();
    times.phases[0].push(start.elapsed());
    let start = Instant::now();
    drop(diffs(&draft, DiffLimits::OUTPUT));
    times.phases[1].push(start.elapsed());
    let start = Instant::now();
    folder.files.record.change(draft.into_changes()).await.unwrap();
    times.phases[2].push(start.elapsed());
}

/// Measures and prints; returns how many times longer than `patch` the best round took with `durability = "process"`.
async fn measure(case: Case, place: &Path, rounds: usize) -> f64 {
    let texts = [false, true]
        .map(|changed| (0..case.files).map(|number| case.file(number, changed)).collect::<Vec<_>>());
    let patch = case.patch();
    let mut times = Times::default();
    for _ in 0..rounds {
        round(case, place, &texts, &patch, &mut times).await;
    }
    let [theirs, synced] = [times.patch, times.patch_and_sync].map(summary);
    let [process, power] = times.ours.map(summary);
    let phases = times.phases.map(summary).map(|[_, median]| format!("{median:.1}"));
    let ratios = |ours: [f64; 2], theirs: [f64; 2]| {
        format!("best {:.2}, median {:.2}", ours[0] / theirs[0], ours[1] / theirs[1])
    };
    println!("{} in {} (ms, best and median of {rounds})", case.name, place.display());
    println!("  patch {theirs:.1?}, patch and sync {synced:.1?}");
    println!("  process {process:.1?}: {} times patch", ratios(process, theirs));
    println!(
        "  power {power:.1?}: {} times patch; {} times patch and sync",
        ratios(power, theirs),
        ratios(power, synced)
    );
    println!("  read and patch {}, diff {}, write {}", phases[0], phases[1], phases[2]);
    process[0] / theirs[0]
}

#[tokio::test]
#[ignore = "measures time; run it in release mode on an idle machine"]
async fn the_speed_is_that_of_patch() {
    let rounds = env::var("SPEED_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let mut slow = Vec::new();
    for case in CASES {
        let ratio = measure(case, &env::temp_dir(), rounds).await;
        if ratio > 2.0 {
            slow.push(format!("{}: {ratio:.2}", case.name));
        }
    }
    // In memory, where `patch` has nothing to wait for; only shown.
    for case in CASES.into_iter().filter(|_| Path::new("/dev/shm").is_dir()) {
        measure(case, Path::new("/dev/shm"), rounds).await;
    }
    if !cfg!(debug_assertions) {
        assert!(slow.is_empty(), "slower than twice the time of patch: {slow:?}");
    }
}
