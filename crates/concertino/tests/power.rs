//! A power loss at any moment loses no boundary event that a client received.
//!
//! The real binary runs with its data folder on a file system that drops unsynced writes (`powerloss`), against a
//! scripted model server; clients take a mix of turns. Again and again the process is killed and the power of the disk
//! cut. Every boundary event that any client ever received must then be in the database, unchanged. With
//! `durability = "process"` the same cut must lose events, which shows that this test can fail.
//!
//! `POWER_LOSSES`, `POWER_PROOFS` and `POWER_SEED` make it longer and different; `cargo xtask soak power` does.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "power/acknowledged.rs"]
mod acknowledged;
#[path = "crash/audit.rs"]
mod audit;
#[path = "power/bulk.rs"]
mod bulk;
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
#[path = "power/machine.rs"]
mod machine;
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

use acknowledged::{Acknowledged, database, integrity};
use audit::Audit;
use bulk::Bulk;
use client::Client;
use machine::Machine;
use moment::wait_for_the_moment;
use powerloss::Loss;
use queue::Impatient;
use testkit::{Rng, upstream::Upstream};
use tokio::{
    task::{JoinSet, block_in_place},
    time::{Instant, sleep, timeout},
};
use world::{PATIENCE, Stage, World};

const CLIENTS: usize = 5;
/// Losses between two rests. Few: a run that is active in many losses in a row is given up by the server.
const ROUND: u64 = 2;
const LOSSES: [Loss; 3] = [Loss::Everything, Loss::Tail, Loss::Scattered];
/// Added to the seed, one for each test: with the same numbers they would choose the same port.
const SALTS: [u64; 3] = [0x1000, 0x2000, 0x3000];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_boundary_event_that_a_client_received_is_lost_with_the_power() {
    if is_skipped() {
        return;
    }
    let losses = number("POWER_LOSSES", 4);
    let seed = number("POWER_SEED", 1);
    let mut rng = Rng::new(seed ^ SALTS[0]);
    let upstream = Upstream::start().await;
    let mut machine = Machine::new(upstream.base_url(), "power", &mut rng);
    let world = Arc::new(World::new(machine.process.url()));
    let audit = Audit::new(Arc::clone(&world));
    let mut acknowledged = Acknowledged::default();
    block_in_place(|| machine.process.start());
    world.up.send_replace(true);
    let mut clients = clients(&world, &mut rng);

    let mut cut = 0;
    // The mix of turns is random: it goes on until a file was made, too.
    let is_enough = |cut: u64, acknowledged: &Acknowledged| {
        cut >= losses && (acknowledged.files().count() > 0 || cut >= 10 * losses)
    };
    while !is_enough(cut, &acknowledged) && !world.is_hopeless() {
        match rng.percent(30) {
            true => wait_for_a_checkpoint(&machine).await,
            false => wait_for_the_moment(&world, &mut rng).await,
        }
        world.count("losses in a checkpoint", u64::from(machine.is_in_checkpoint()));
        let loss = LOSSES[usize::try_from(cut).unwrap() % LOSSES.len()];
        block_in_place(|| machine.cut_power(loss, &mut rng));
        world.up.send_replace(false);
        cut += 1;
        // Now and then it happens again while the next process starts.
        if cut + 1 < losses && rng.percent(15) {
            drop(machine.process.launch());
            sleep(Duration::from_millis(rng.between(0, 100))).await;
            block_in_place(|| machine.cut_power(Loss::Scattered, &mut rng));
            cut += 1;
            world.count("losses while starting", 1);
        }
        check(&machine, &world, &audit, &mut acknowledged).await;
        block_in_place(|| machine.process.start());
        world.up.send_replace(true);
        if cut % ROUND == 0 || cut >= losses {
            rest(&machine, &world, &audit, &mut acknowledged).await;
        }
    }
    world.count("power losses", cut);

    world.stage.send_replace(Stage::Over);
    while clients.join_next().await.is_some() {}
    audit.answer_open_questions(&world.sessions()).await;
    world.touch_all();
    whole(&machine, &world, &audit, &mut acknowledged).await;
    for (call, texts) in upstream.results() {
        if texts.len() != 1 {
            world.wrong(format!("the model received different results of {call}: {texts:?}"));
        }
    }
    world.count("boundary events acknowledged", acknowledged.count());
    world.count("files acknowledged", acknowledged.files().count() as u64);
    conclude(&world, &machine, seed, cut);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_lost_with_the_power_when_only_the_end_of_the_process_is_covered() {
    if is_skipped() {
        return;
    }
    let rounds = number("POWER_PROOFS", 1);
    let seed = number("POWER_SEED", 1);
    let mut rng = Rng::new(seed ^ SALTS[1]);
    let upstream = Upstream::start().await;
    let (mut lost, mut received) = (0, 0);
    for round in 0..rounds {
        let mut machine = Machine::new(upstream.base_url(), "process", &mut rng);
        let world = Arc::new(World::new(machine.process.url()));
        let mut acknowledged = Acknowledged::default();
        block_in_place(|| machine.process.start());
        world.up.send_replace(true);
        let clients = clients(&world, &mut rng);
        let enough = world.boundaries(rng.between(20, 60));
        timeout(PATIENCE, enough).await.expect("clients take turns");
        let loss = LOSSES[usize::try_from(round).unwrap() % LOSSES.len()];
        block_in_place(|| machine.cut_power(loss, &mut rng));
        drop(clients);
        acknowledged.gather(&world);
        let copy = block_in_place(|| machine.copy());
        assert_eq!(integrity(copy.path()), "ok", "round {round}: events may be lost, the database is sound");
        lost += acknowledged.lost_in(copy.path()).await.len();
        received += acknowledged.count();
        // It starts again on what is left.
        block_in_place(|| machine.process.start());
    }
    println!(
        "durability = \"process\": seed {seed}, {rounds} power losses, {received} boundary events received, {lost} lost"
    );
    assert!(
        lost > 0,
        "nothing was lost: the disk does not lose unsynced writes, so this test proves nothing"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_that_the_first_start_announced_is_valid_after_a_power_loss() {
    if is_skipped() {
        return;
    }
    let seed = number("POWER_SEED", 1);
    let mut rng = Rng::new(seed ^ SALTS[2]);
    let upstream = Upstream::start().await;
    for round in 0..6 {
        let mut machine = Machine::new(upstream.base_url(), "power", &mut rng);
        machine.process.set("CONCERTINO_AUTH", "token");
        let token = |machine: &Machine| std::fs::read_to_string(machine.copy().path().join("token"));
        block_in_place(|| machine.process.start());
        let announced = token(&machine).unwrap();
        let loss = LOSSES[round % LOSSES.len()];
        block_in_place(|| machine.cut_power(loss, &mut rng));
        let kept = token(&machine).ok();
        assert_eq!(kept.as_deref(), Some(announced.as_str()), "seed {seed}, round {round}: {loss:?}");
        block_in_place(|| machine.process.start());
    }
}

/// Waits until the write-ahead log goes back into the database; not for long, as the log may be short.
async fn wait_for_a_checkpoint(machine: &Machine) {
    let patience = Instant::now() + Duration::from_secs(2);
    while !machine.is_in_checkpoint() && Instant::now() < patience {
        sleep(Duration::from_micros(500)).await;
    }
}

/// Where no file system can be mounted, the everyday form is skipped; the long one was asked for and fails.
fn is_skipped() -> bool {
    let Some(reason) = powerloss::unavailable() else { return false };
    assert!(std::env::var_os("POWER_LOSSES").is_none(), "power losses cannot be tested here: {reason}");
    eprintln!("SKIPPED: power losses are not tested: {reason}");
    true
}

fn clients(world: &Arc<World>, rng: &mut Rng) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client::new(format!("c{number}"), Arc::clone(world), rng.fork());
        clients.spawn(client.run(number));
    }
    clients.spawn(Bulk::new(Arc::clone(world)).run());
    clients.spawn(Impatient::new(Arc::clone(world), rng.fork()).run());
    clients
}

/// After a loss, before the server starts: the database is sound and has every event that was ever received.
async fn check(machine: &Machine, world: &World, audit: &Audit, acknowledged: &mut Acknowledged) {
    acknowledged.gather(world);
    let copy = block_in_place(|| machine.copy());
    if !database(copy.path()).exists() {
        return world.wrong("the database is gone".to_owned());
    }
    block_in_place(|| audit.file(&database(copy.path())));
    compare(acknowledged, copy.path(), world).await;
}

/// All clients finish their turn; then everything is checked.
async fn rest(machine: &Machine, world: &World, audit: &Audit, acknowledged: &mut Acknowledged) {
    world.stage.send_replace(Stage::Rest);
    let mut busy = world.busy.subscribe();
    if timeout(PATIENCE, busy.wait_for(|busy| *busy == 0)).await.is_err() {
        world.wrong("a turn does not come to its end although the server runs".to_owned());
    }
    whole(machine, world, audit, acknowledged).await;
    world.stage.send_replace(Stage::Go);
}

async fn whole(machine: &Machine, world: &World, audit: &Audit, acknowledged: &mut Acknowledged) {
    acknowledged.gather(world);
    let copy = block_in_place(|| machine.copy());
    audit.whole(&database(copy.path()), &copy.path().join("copy.db")).await;
    compare(acknowledged, copy.path(), world).await;
}

async fn compare(acknowledged: &Acknowledged, folder: &std::path::Path, world: &World) {
    for lost in acknowledged.files_lost_in(folder) {
        world.count("files of acknowledged events lost", 1);
        world.wrong(lost);
    }
    for lost in acknowledged.lost_in(folder).await {
        world.count("acknowledged boundary events lost", 1);
        world.wrong(lost);
    }
    world.count("boundary events compared", acknowledged.count());
}

/// Prints what was done, and fails if it was too little or something was wrong.
fn conclude(world: &World, machine: &Machine, seed: u64, losses: u64) {
    let complaints = machine.process.complaints();
    for line in complaints
        .lines()
        .filter(|line| ["panicked", " ERROR ", " WARN "].iter().any(|word| line.contains(word)))
    {
        world.wrong(format!("the server complains: {line}"));
    }
    let (unsynced, lost) = machine.unsynced_and_lost();
    world.count("unsynced writes at the losses", unsynced);
    world.count("of those lost, as a whole or in part", lost);
    let tally = world.tally();
    let turns: u64 = tally.turns.values().sum();
    println!("durability = \"power\": seed {seed}, {turns} turns completed");
    for (kind, turns) in &tally.turns {
        println!("  {turns:>8} turns: {}", kind.name());
    }
    for (what, count) in tally.counts.iter().filter(|(_, count)| **count > 0) {
        println!("  {count:>8} {what}");
    }
    println!("  {:>8} violations", world.violations());
    assert_eq!(world.violations(), 0, "see above");

    let count = |what: &str| tally.counts.get(what).copied().unwrap_or(0);
    assert_eq!(count("power losses"), losses);
    assert!(turns >= losses, "too few turns to mean anything: {turns}");
    assert!(count("boundary events acknowledged") >= 2 * turns, "too little was verified");
    assert!(count("files acknowledged") > 0, "no file was made");
    assert!(count("streams cut by a kill") >= losses / 2, "too few streams were cut by a loss");
    assert!(lost >= losses, "the losses took too little: {lost} writes");
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
