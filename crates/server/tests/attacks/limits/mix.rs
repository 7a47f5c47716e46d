//! Slow, half-open, aborting, oversized and pipelining clients, mixed by chance, while good ones continue. The same seed
//! gives the same mix: `LIMITS_SEED`; `LIMITS_SECONDS` makes it longer.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use testkit::Rng;
use tokio::task::JoinSet;

use super::*;

const ATTACKERS: u64 = 24;
const GOOD: u64 = 4;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// One thing that a bad client does; however it ends.
async fn attack(server: &LoopbackServer, rng: &mut Rng, chat: &str) {
    let pause = milliseconds(rng.below(40));
    let whole = format!("{}{}", head(question(chat).len()), question(chat));
    let cut = rng.below(whole.len());
    match rng.below(8) {
        // Half a request, then nothing or the end.
        0 => {
            let connection = server.raw(&whole[..cut]).await;
            tokio::time::sleep(pause * 10).await;
            drop(connection);
        }
        // Byte by byte until it is cut.
        1 => drop(trickle(server.raw("GET / HTTP/1.1\r\nx: ").await).await),
        2 => drop(trickle(server.raw(&(head(100_000) + "{")).await).await),
        // A body that is too large, announced or not.
        3 => {
            let mut connection = server.raw(&head(10 << 20)).await;
            for _ in 0..100 {
                if !connection.try_write(&"x".repeat(10_000)).await {
                    break;
                }
            }
        }
        // Large, and broken off.
        4 => {
            let mut connection = server.raw(&head(200_000)).await;
            connection.try_write(&"x".repeat(150_000)).await;
            tokio::time::sleep(pause).await;
        }
        // Sent ahead, and little or nothing read.
        5 => {
            let mut connection =
                server.slowly(&[whole.as_str(), HEALTH, &whole, HEALTH, HEALTH].concat()).await;
            if rng.below(2) == 0 {
                connection.try_read().await;
            }
            tokio::time::sleep(pause).await;
        }
        // Gone at once, or while it waits, or with nothing more to send.
        6 => drop(server.raw(&whole).await),
        _ => {
            let mut connection = server.raw(&whole[..cut]).await;
            connection.close_write().await;
            in_time(async { while connection.try_read().await {} }).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn good_clients_are_served_among_bad_ones_and_nothing_is_left_behind() {
    let seed = number("LIMITS_SEED", 20_261_117);
    let seconds = number("LIMITS_SECONDS", 4);
    let app = app()
        .server(|settings| {
            settings.max_body_bytes = 256 << 10;
            settings.heartbeat = milliseconds(50);
            settings.limits.connections = (ATTACKERS + GOOD) as usize * 2;
            settings.limits.head_time = milliseconds(300);
            settings.limits.idle_time = milliseconds(500);
            settings.limits.body_time = milliseconds(300);
            settings.limits.bodies_bytes = 8 << 20;
            settings.limits.write_time = milliseconds(400);
        })
        .start()
        .await;
    let server = Arc::new(app.over_http().await);
    let over = Arc::new(AtomicBool::new(false));
    let attacks = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for number in 0..ATTACKERS {
        let (server, over, attacks) = (Arc::clone(&server), Arc::clone(&over), Arc::clone(&attacks));
        clients.spawn(async move {
            let mut rng = Rng::new(seed ^ (number << 32));
            while !over.load(Ordering::Relaxed) {
                let chat = format!("bad-{number}-{}", rng.below(3));
                attack(&server, &mut rng, &chat).await;
                attacks.fetch_add(1, Ordering::Relaxed);
            }
            0_usize
        });
    }
    for number in 0..GOOD {
        let (server, over) = (Arc::clone(&server), Arc::clone(&over));
        clients.spawn(async move {
            let mut turns = 0;
            while !over.load(Ordering::Relaxed) {
                assert_serves(&server, &format!("good-{number}-{turns}")).await;
                turns += 1;
            }
            turns
        });
    }
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    over.store(true, Ordering::Relaxed);
    let mut turns = 0;
    while let Some(done) = in_time(clients.join_next()).await {
        turns += done.unwrap();
    }
    println!("limits: {turns} good turns among {} attacks, seed {seed}", attacks.load(Ordering::Relaxed));
    assert!(turns >= GOOD as usize && attacks.load(Ordering::Relaxed) >= ATTACKERS as usize);
    until_used(&app, |used| used == (0, 0)).await;
    assert_serves(&server, "afterwards").await;
    let streams = || async { app.get("/health").await.json()["connections"].as_u64().unwrap() };
    in_time(async {
        while streams().await > 0 {
            tokio::time::sleep(milliseconds(2)).await;
        }
    })
    .await;
}
