//! Every store call fails with some probability, for many sessions with a seed each.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use testkit::Rng;
use testkit::faults::{Count, Effect, Method, When};
use tokio::task::JoinSet;

use crate::{Tally, rounds, script::Stage};

const AT_ONCE: usize = 4;
const STEPS: u64 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_store_call_in_twenty_fails() {
    sessions(50, rounds(8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_store_call_in_five_fails() {
    sessions(200, rounds(6)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn most_writes_fail_and_runs_break_off_in_the_middle() {
    sessions_with(Some(Method::Append), 600, rounds(4)).await;
}

async fn sessions(per_mille: u32, count: u64) {
    sessions_with(None, per_mille, count).await;
}

/// `method` alone fails, or every method.
async fn sessions_with(method: Option<Method>, per_mille: u32, count: u64) {
    let mut seeds = 0..count;
    let (mut tally, mut calls) = (Tally::default(), Count::default());
    let (mut running, mut wrong) = (JoinSet::new(), Vec::new());
    loop {
        while running.len() < AT_ONCE
            && let Some(seed) = seeds.next()
        {
            running.spawn(async move {
                (seed, AssertUnwindSafe(one(method, per_mille, seed)).catch_unwind().await)
            });
        }
        let Some(done) = running.join_next().await else { break };
        match done.unwrap() {
            (_, Ok((mine, its))) => {
                tally += mine;
                calls += its;
            }
            (seed, Err(_)) => wrong.push(seed),
        }
    }
    println!(
        "{per_mille} in 1000: {count} sessions, {} store calls, {} of them failed; {tally}",
        calls.calls, calls.failed
    );
    assert_eq!(wrong, [0; 0], "the sessions with these seeds went wrong; see the panics above");
    let share = calls.failed * 1000 / calls.calls.max(1);
    let wanted = u64::from(per_mille);
    assert!((wanted / 2..=wanted * 2).contains(&share), "{share} of 1000 calls failed");
    assert!(tally.succeeded >= count * STEPS && tally.failed() > 0, "{tally}");
}

/// Some steps of a session in an order that the seed decides; then the store works again and all is checked.
async fn one(method: Option<Method>, per_mille: u32, seed: u64) -> (Tally, Count) {
    let mut stage = Stage::new().await;
    let when = When::sometimes(per_mille, seed);
    match method {
        Some(method) => stage.faults.on(method, when, Effect::Fail),
        None => stage.faults.on_any(when, Effect::Fail),
    }
    let mut rng = Rng::new(seed ^ 0x5eed);
    for _ in 0..STEPS {
        match rng.below(9) {
            0 | 1 => stage.says("talk", "Hello there.").await,
            2 => stage.says("tools", "Both done.").await,
            3 => stage.asks("approve", true, "Settled.").await,
            4 => stage.asks("approve", false, "Settled.").await,
            5 => stage.asks("client", true, "Thank you.").await,
            6 => stage.says("plan", "Planned.").await,
            7 => stage.stop().await,
            _ => stage.resume().await,
        }
    }
    let total = match method {
        Some(method) => stage.faults.counts()[&method],
        None => stage.faults.total(),
    };
    stage.faults.clear_rules();
    stage.is_in_order().await;
    (stage.person.tally, total)
}
