//! Many runs at once against a server that answers 429 to two thirds of its calls: all finish, none fails, and the
//! order is fair. `SCHEDULER_RUNS` says how many; `cargo xtask soak scheduler` runs 200.

use std::time::{Duration, Instant};

use testkit::{ModelServer, TestApp, join_all};

struct Waited {
    place: usize,
    time: Duration,
    /// Since the beginning of all.
    answered: Duration,
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_meet_a_rate_limit_wait_their_turn_and_all_finish() {
    let count = std::env::var("SCHEDULER_RUNS").ok().and_then(|count| count.parse().ok()).unwrap_or(30);
    let server = ModelServer::start().await;
    let app = TestApp::builder().catalog(server.catalog("custom/busy", &[])).start().await;
    let started = Instant::now();
    // The sends are accepted one after the other, so that there is an order to keep; the answers come together.
    let mut turns = Vec::new();
    for place in 0..count {
        let accepted = Instant::now();
        turns.push((place, accepted, app.chat(&format!("chat-{place}")).send("hello").await));
    }
    let mut waited = join_all(turns.into_iter().map(|(place, accepted, mut turn)| async move {
        turn.until_text("this is busy").await;
        let time = accepted.elapsed();
        assert_eq!(turn.text().await, "this is busy");
        assert_eq!(turn.shown().metadata.unwrap()["status"], "finished");
        Waited { place, time, answered: accepted.duration_since(started) + time }
    }))
    .await;
    let took = started.elapsed();
    let share = server.refused() as f64 / server.calls() as f64;
    assert_eq!(waited.len(), count);
    assert_eq!(server.calls() - server.refused(), count, "every run was answered exactly once");
    report(count, &mut waited, took, &server, share);
    assert!((0.5..0.8).contains(&share), "the server did not refuse two thirds: {share}");
}

/// Prints the spread of the waits and checks that those who came first did not wait for those who came last.
fn report(count: usize, waited: &mut [Waited], took: Duration, server: &ModelServer, share: f64) {
    waited.sort_by_key(|run| run.place);
    let half = count / 2;
    let mean =
        |runs: &[Waited]| runs.iter().map(|run| run.time.as_secs_f64()).sum::<f64>() / runs.len() as f64;
    let (early, late) = (mean(&waited[..half]), mean(&waited[half..]));
    let mut served: Vec<_> = waited.iter().map(|run| (run.answered, run.place)).collect();
    served.sort_unstable();
    let moved = |(rank, (_, place)): (usize, &(Duration, usize))| rank.abs_diff(*place);
    let displaced = served.iter().enumerate().map(moved).sum::<usize>() as f64 / count as f64;
    let mut times: Vec<_> = waited.iter().map(|run| run.time.as_millis()).collect();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{count} runs, {} calls, {} of them 429 ({:.0} %), all finished in {:.1} s; waits in ms: least {}, median {}, \
         p90 {}, p99 {}, most {}; mean of the first half {:.2} s, of the second {:.2} s; a run was answered {displaced:.1} places from where it stood",
        server.calls(),
        server.refused(),
        share * 100.0,
        took.as_secs_f64(),
        at(0),
        at(50),
        at(90),
        at(99),
        at(100),
        early,
        late,
    );
    // A client that was refused keeps its place: a fair order serves the first half before the second.
    // Those that are tried at once, eight at least, may change places with each other; by chance it would be a third.
    assert!(displaced <= 9.0_f64.max(count as f64 / 10.0), "the order was lost: {displaced:.1} of {count}");
    assert!(early <= late * 1.1, "the first half waited {early:.2} s, the second {late:.2} s");
}
