//! Killed at any moment, the server loses nothing that anybody saw.
//!
//! The real binary runs against a scripted model server; clients drive a mix of turns and resume their streams
//! again after every SIGKILL. What each of them saw is held against the database and the API. `CRASH_KILLS` and
//! `CRASH_SEED` make it longer and different; `cargo xtask soak crash` does.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "crash/audit.rs"]
mod audit;
#[path = "crash/client.rs"]
mod client;
#[path = "crash/course.rs"]
mod course;
#[path = "crash/follow.rs"]
mod follow;
#[path = "crash/http.rs"]
mod http;
#[path = "crash/load.rs"]
mod load;
#[path = "crash/moment.rs"]
mod moment;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod process;
#[path = "crash/queue.rs"]
mod queue;
#[path = "crash/tab.rs"]
mod tab;
#[path = "crash/world.rs"]
mod world;

use std::{sync::Arc, time::Duration};

use audit::Audit;
use client::Client;
use load::Kind;
use moment::wait_for_the_moment;
use process::Process;
use queue::Impatient;
use testkit::{Rng, upstream::Upstream};
use tokio::{
    task::{JoinSet, block_in_place},
    time::{sleep, timeout},
};
use world::{PATIENCE, Stage, World};

const CLIENTS: usize = 6;
/// Kills between two rests.
const ROUND: u64 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_seen_is_lost_whenever_the_server_is_killed() {
    let kills = number("CRASH_KILLS", 15);
    let seed = number("CRASH_SEED", 1);
    let mut rng = Rng::new(seed);
    let upstream = Upstream::start().await;
    let mut process = Process::new(upstream.base_url(), &mut rng);
    // Every crash here is a kill from outside, so no run may be ended for it.
    process.set("CONCERTINO_MAX_CRASHES", "1000000");
    let world = Arc::new(World::new(process.url()));
    let audit = Audit::new(Arc::clone(&world));
    block_in_place(|| process.start());
    world.up.send_replace(true);
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::new(format!("c{number}"), Arc::clone(&world), rng.fork());
        clients.spawn(client.run(number));
    }
    clients.spawn(Impatient::new(Arc::clone(&world), rng.fork()).run());

    let mut killed = 0;
    while killed < kills && !world.is_hopeless() {
        wait_for_the_moment(&world, &mut rng).await;
        block_in_place(|| process.kill());
        world.up.send_replace(false);
        killed += 1;
        // Now and then the next process does not even get to listen.
        while killed < kills && rng.percent(10) {
            drop(process.launch());
            sleep(Duration::from_millis(rng.between(0, 40))).await;
            block_in_place(|| process.kill());
            killed += 1;
            world.count("killed while starting", 1);
        }
        block_in_place(|| process.start());
        world.up.send_replace(true);
        block_in_place(|| audit.file(&process.database()));
        if killed % ROUND == 0 || killed == kills {
            rest(&world, &process, &audit).await;
            catch_up(&world, killed).await;
        }
    }
    world.count("kills", killed);

    world.stage.send_replace(Stage::Over);
    while clients.join_next().await.is_some() {}
    audit.answer_open_questions(&world.sessions()).await;
    world.touch_all();
    audit.whole(&process.database(), &process.folder().join("copy.db")).await;
    for (call, texts) in upstream.results() {
        if texts.len() != 1 {
            world.wrong(format!("the model was told different results of {call}: {texts:?}"));
        }
    }
    world.count("model calls", upstream.calls() as u64);
    conclude(&world, &process, seed, kills);
}

/// All clients finish their turn; then everything is checked.
async fn rest(world: &World, process: &Process, audit: &Audit) {
    world.stage.send_replace(Stage::Rest);
    let mut busy = world.busy.subscribe();
    if timeout(PATIENCE, busy.wait_for(|busy| *busy == 0)).await.is_err() {
        world.wrong("a turn does not come to its end although the server runs".to_owned());
    }
    audit.whole(&process.database(), &process.folder().join("copy.db")).await;
    world.stage.send_replace(Stage::Go);
}

/// On a busy machine, clients complete little between two kills. They may continue until enough was done to be looked at.
async fn catch_up(world: &World, killed: u64) {
    let enough = async {
        loop {
            let tally = world.tally();
            let queues = tally.counts.get("queues answered in order").copied().unwrap_or(0);
            if tally.turns.values().sum::<u64>() >= 2 * killed && queues >= killed / 5 {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    // What is still too little then fails in `conclude`.
    timeout(PATIENCE, enough).await.unwrap_or_default();
}

/// Prints what was done, and fails if it was too little or something was wrong.
fn conclude(world: &World, process: &Process, seed: u64, kills: u64) {
    let complaints = process.complaints();
    for line in complaints
        .lines()
        .filter(|line| ["panicked", " ERROR ", " WARN "].iter().any(|word| line.contains(word)))
    {
        world.wrong(format!("the server complains: {line}"));
    }
    let recovered: u64 = complaints
        .lines()
        .filter_map(|line| line.strip_prefix("Resuming ")?.split(' ').next()?.parse::<u64>().ok())
        .sum();
    world.count("runs resumed after a crash", recovered);
    let tally = world.tally();
    let turns: u64 = tally.turns.values().sum();
    println!("crash: seed {seed}, {turns} turns completed");
    for (kind, turns) in &tally.turns {
        println!("  {turns:>8} turns: {}", kind.name());
    }
    for (what, count) in &tally.counts {
        println!("  {count:>8} {what}");
    }
    println!("  {:>8} violations", world.violations());
    assert_eq!(world.violations(), 0, "see above");

    let count = |what: &str| tally.counts.get(what).copied().unwrap_or(0);
    assert_eq!(count("kills"), kills);
    assert!(turns >= 2 * kills, "too few turns to mean anything: {turns}");
    assert!(Kind::ALL.iter().all(|kind| tally.turns.contains_key(kind)), "every kind of turn was taken");
    assert!(count("queues answered in order") >= kills / 5, "too few messages waited");
    assert!(recovered >= kills / 2, "too few runs were cut by a kill: {recovered}");
    assert!(count("streams cut by a kill") >= kills / 2, "too few streams were cut by a kill");
    assert!(count("boundary events verified") >= 5 * turns, "too little was verified");
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
