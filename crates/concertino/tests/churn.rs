//! Chats are made, used and deleted without end: the server's memory and its files stay what they were.
//!
//! The real binary, a scripted model, people active at the same time, each of whom has one chat at a time and deletes it
//! after use. `cargo xtask soak churn` takes 30 minutes on the release build and compares the resident memory of the last
//! ten with the ten before; `CHURN_SECONDS` makes it shorter or longer, and a third of the time takes the place of ten
//! minutes. The everyday run takes seconds, which say nothing about a plateau: it proves that nothing of the chats is left.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "churn/left.rs"]
mod left;
#[path = "scale/memory.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod memory;
#[path = "churn/person.rs"]
mod person;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod process;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use memory::{mib, resident};
use parking_lot::Mutex;
use person::{Kind, Person};
use process::Process;
use testkit::{Rng, upstream::Upstream};
use tokio::task::{JoinSet, block_in_place};

/// Active at the same time.
const PEOPLE: usize = 8;
/// From this length on the plateau is judged.
const LONG: Duration = Duration::from_secs(600);
/// How far the memory of the last third may be from the third before, in either direction: memory that still falls
/// is no plateau either. The data folder may shrink.
const PLATEAU: f64 = 0.05;

fn length() -> Duration {
    let given = std::env::var("CHURN_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(given.unwrap_or(8))
}

/// What was seen at one moment.
struct Sample {
    at: Duration,
    resident: u64,
    disk: u64,
}

fn median(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> u64 {
    let mut values: Vec<u64> = samples.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// The samples from one moment to another.
fn between(samples: &[Sample], from: Duration, to: Duration) -> &[Sample] {
    let place = |moment| samples.partition_point(|sample| sample.at < moment);
    &samples[place(from)..place(to)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_that_are_deleted_leave_nothing_in_memory_and_on_disk() {
    let length = length();
    let upstream = Upstream::forgetful().await;
    let mut rng = Rng::new(31);
    let mut process = Process::new(upstream.base_url(), &mut rng);
    block_in_place(|| process.start());
    let began = Instant::now();
    let done: Arc<Mutex<BTreeMap<Kind, usize>>> = Arc::default();
    let mut people = JoinSet::new();
    for number in 0..PEOPLE {
        let mut person = Person::new(number, &process.url(), rng.fork());
        let done = Arc::clone(&done);
        people.spawn(async move {
            while began.elapsed() < length {
                let kind = person.one_chat().await;
                *done.lock().entry(kind).or_default() += 1;
            }
        });
    }
    let mut samples = Vec::new();
    while began.elapsed() < length {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let disk = block_in_place(|| left::bytes_below(process.folder()));
        samples.push(Sample { at: began.elapsed(), resident: resident(process.pid()), disk });
        if let Some(ended) = people.try_join_next() {
            ended.unwrap();
        }
    }
    while let Some(ended) = people.join_next().await {
        ended.unwrap();
    }
    report(&samples, length, &done.lock());
    let done = done.lock().clone();
    assert!(Kind::ALL.iter().all(|kind| done.contains_key(kind)), "not every kind was at work: {done:?}");
    left::nothing_in_memory(&process.url()).await;
    block_in_place(|| left::nothing_on_disk(&process));
    let complaints = process.complaints();
    let bad = complaints.lines().filter(|line| line.contains("panicked") || line.contains(" ERROR "));
    assert_eq!(bad.take(5).collect::<Vec<_>>(), Vec::<&str>::new());
    judge(&samples, length);
}

fn report(samples: &[Sample], length: Duration, done: &BTreeMap<Kind, usize>) {
    let chats: usize = done.values().sum();
    println!("churn: {chats} chats in {length:?}, each deleted after use: {done:?}");
    let minutes = length.as_secs().div_ceil(60);
    for minute in 0..if minutes > 1 { minutes } else { 0 } {
        let of = between(samples, Duration::from_secs(minute * 60), Duration::from_secs(minute * 60 + 60));
        println!(
            "churn: minute {:>2}: {:>6.1} MiB resident, {:>6.1} MiB on disk (medians)",
            minute + 1,
            mib(median(of, |sample| sample.resident)),
            mib(median(of, |sample| sample.disk))
        );
    }
}

/// The last third beside the third before.
fn judge(samples: &[Sample], length: Duration) {
    let before = between(samples, length / 3, length * 2 / 3);
    let last = between(samples, length * 2 / 3, length + Duration::from_secs(60));
    let change = |of: fn(&Sample) -> u64| {
        let (before, last) = (median(before, of) as f64, median(last, of) as f64);
        (last - before) / before
    };
    let (memory, disk) = (change(|sample| sample.resident), change(|sample| sample.disk));
    println!(
        "churn: the last third beside the third before: {:+.1} % of resident memory, {:+.1} % on disk",
        memory * 100.0,
        disk * 100.0
    );
    if length >= LONG {
        assert!(memory.abs() <= PLATEAU, "memory changes by {:+.1} % in a third of the time", memory * 100.0);
        assert!(disk <= PLATEAU, "the data folder grows: {:+.1} % in a third of the time", disk * 100.0);
    }
}
