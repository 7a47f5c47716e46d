//! A process is killed while it changes many files: afterwards all of them are new, or all are old.
//!
//! `FILES_KILLS` sets how often.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use files::{
    ContentStore, FileDomain, HardLinks, LogicalPath, NewContent, NewFile, Staged, apply, complete, stage,
};
use protocol::{Durability, FileChange, FileState};
use test_support::Rng;

const FILES: usize = 200;
/// A file that every round changes, one of the first.
const EARLY: &str = "work/d1/g/f22.txt";
const WORK: &str = "FILES_CRASH_FOLDER";
const DURABILITY: &str = "FILES_CRASH_DURABILITY";

/// The files of the work directory, by path.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn open(folder: &Path) -> (FileDomain, ContentStore) {
    let domain = FileDomain::open(&folder.join("work"), &[folder.join("data")], HardLinks::Refuse).unwrap();
    let durability = std::env::var(DURABILITY).map_or(Durability::Power, |text| text.parse().unwrap());
    (domain, ContentStore::open(&folder.join("data/contents"), durability).unwrap())
}

/// Every round changes most files, creates some and deletes others.
fn next_round(old: &BTreeMap<String, Vec<u8>>, round: usize) -> BTreeMap<String, Vec<u8>> {
    let mut new = BTreeMap::new();
    for place in 0..FILES {
        let path =
            if place % 3 == 0 { format!("f{place}.txt") } else { format!("d{}/g/f{place}.txt", place % 7) };
        match place % 5 {
            0 if old.contains_key(&path) => {}
            1 if round % 3 == 1 && old.contains_key(&path) => {
                drop(new.insert(path.clone(), old[&path].clone()))
            }
            _ => drop(new.insert(path, format!("{round} {}", "x".repeat(place * 4)).into_bytes())),
        }
    }
    new
}

fn changes(
    domain: &FileDomain,
    contents: &ContentStore,
    old: &BTreeMap<String, Vec<u8>>,
    new: &BTreeMap<String, Vec<u8>>,
) -> Staged {
    let paths: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let files: Vec<NewContent> = paths
        .into_iter()
        .map(|path| {
            let path = LogicalPath::parse(path).unwrap();
            let before = old.get(path.relative()).map(|_| domain.read(&path, 1 << 20).unwrap().state);
            let after = new.get(path.relative()).map(|bytes| NewFile { bytes: bytes.clone(), mode: None });
            NewContent { path, before, after }
        })
        .collect();
    stage(domain, contents, files).unwrap()
}

/// What the killed process does: one round after the other. It is not a test of its own.
#[test]
fn helper_that_changes_files_until_it_is_killed() {
    let Ok(folder) = std::env::var(WORK) else { return };
    let folder = PathBuf::from(folder);
    let (domain, contents) = open(&folder);
    let mut old = tree(&folder.join("work"));
    for round in 0.. {
        let new = next_round(&old, round);
        let staged = changes(&domain, &contents, &old, &new);
        write_journal(&folder, staged.changes());
        // Both ways to make the changes: with the new contents at hand, and with the kept ones.
        match round % 2 {
            0 => staged.apply(&domain, &contents).unwrap(),
            _ => apply(&domain, &contents, staged.changes()).unwrap(),
        }
        fs::remove_file(folder.join("data/journal")).unwrap();
        old = new;
    }
}

fn state(state: Option<&FileState>) -> String {
    state.map_or("-".to_owned(), |state| format!("{} {} {}", state.content, state.bytes, state.mode))
}

fn write_journal(folder: &Path, changes: &[FileChange]) {
    let lines: Vec<String> = changes
        .iter()
        .map(|change| {
            format!("{}|{}|{}", change.path, state(change.before.as_ref()), state(change.after.as_ref()))
        })
        .collect();
    fs::write(folder.join("data/journal.new"), lines.join("\n")).unwrap();
    fs::rename(folder.join("data/journal.new"), folder.join("data/journal")).unwrap();
}

fn read_journal(folder: &Path) -> Option<Vec<FileChange>> {
    let text = fs::read_to_string(folder.join("data/journal")).ok()?;
    let state = |text: &str| {
        let mut words = text.split(' ');
        let content = words.next().filter(|word| *word != "-")?.to_owned();
        let (bytes, mode) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(FileState { content, bytes, mode })
    };
    let change = |line: &str| {
        let parts: Vec<&str> = line.split('|').collect();
        FileChange { path: parts[0].to_owned(), before: state(parts[1]), after: state(parts[2]) }
    };
    Some(text.lines().map(change).collect())
}

/// Returns when the files are being exchanged.
fn wait_for_a_change(file: &Path) {
    let inode = || fs::metadata(file).map(|metadata| metadata.ino()).ok();
    let (before, end) = (inode(), Instant::now() + Duration::from_secs(10));
    while inode() == before && Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn a_killed_change_set_is_completed() {
    kill_and_complete(Durability::Power);
}

#[test]
fn a_killed_change_set_is_completed_without_a_sync() {
    kill_and_complete(Durability::Process);
}

fn kill_and_complete(durability: Durability) {
    let kills = std::env::var("FILES_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("work")).unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    let mut rng = Rng::new(7);
    let (mut completed, mut half) = (0, 0);
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["helper_that_changes_files_until_it_is_killed", "--exact", "--nocapture"])
            .env(WORK, folder)
            .env(DURABILITY, durability.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        if rng.percent(30) {
            std::thread::sleep(Duration::from_micros(rng.between(5_000_u64, 300_000_u64)));
        } else {
            wait_for_a_change(&folder.join(EARLY));
            std::thread::sleep(Duration::from_micros(rng.below(2_500_u64)));
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it ended before it was killed");
        let (domain, contents) = open(folder);
        if let Some(changes) = read_journal(folder) {
            completed += 1;
            let is = |change: &&FileChange, state: &Option<FileState>| {
                let path = LogicalPath::parse(&change.path).unwrap();
                domain.read(&path, 1 << 20).ok().map(|found| found.state) == *state
            };
            let new = changes.iter().filter(|change| is(change, &change.after)).count();
            half += usize::from(new > 0 && new < changes.len());
            let done = complete(&domain, &contents, &changes).unwrap();
            assert_eq!((done.changed.len(), done.left), (changes.len(), vec![]), "kill {kill}");
            for change in &changes {
                assert!(is(&change, &change.after), "kill {kill}: {} is not new", change.path);
            }
            fs::remove_file(folder.join("data/journal")).unwrap();
        }
        let names = tree(&folder.join("work"));
        assert!(names.keys().all(|name| !name.contains(".concertino-")), "kill {kill}: {:?}", names.keys());
        // All files are of one round, or were left as they were by it.
        for (name, bytes) in &names {
            let place: usize = name.rsplit('f').next().unwrap().trim_end_matches(".txt").parse().unwrap();
            assert_eq!(bytes.iter().filter(|byte| **byte == b'x').count(), place * 4, "kill {kill}: {name}");
        }
    }
    eprintln!("{durability}: {kills} kills, {completed} change sets completed, {half} of them half done");
}
