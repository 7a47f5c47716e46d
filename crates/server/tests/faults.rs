//! Faults: a store that fails or blocks at any call, a model's server that stalls, cuts, repeats and talks nonsense.
//!
//! Whatever happens, a client gets a clear error or the right answer within a bounded time, no message is half
//! written, and the chat works afterwards. Each test prints how many operations succeeded and failed, and fails
//! when nothing happened. More rounds: `FAULT_ROUNDS=20 cargo test -p server --test faults -- --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "faults/checks.rs"]
mod checks;
#[path = "faults/each_call.rs"]
mod each_call;
#[path = "faults/outage.rs"]
mod outage;
#[path = "faults/person.rs"]
mod person;
#[path = "faults/random.rs"]
mod random;
#[path = "faults/script.rs"]
mod script;
#[path = "faults/upstream.rs"]
mod upstream;
#[path = "faults/upstream_server.rs"]
mod upstream_server;

use std::{future::Future, time::Duration};

/// Nothing that a client asks for may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits, but never forever: a hang is a failure of the test.
async fn bounded<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} hangs"),
    }
}

/// How many rounds the long versions make.
fn rounds(everyday: u64) -> u64 {
    let factor = std::env::var("FAULT_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    everyday * std::cmp::max(1, factor)
}

/// What was tried and the result.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// The client got what it asked for.
    succeeded: u64,
    /// The client was refused with a status and a code.
    refused: u64,
    /// The stream ended with an `error` chunk.
    broken: u64,
}

impl Tally {
    fn failed(&self) -> u64 {
        self.refused + self.broken
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.refused += other.refused;
        self.broken += other.broken;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} operations succeeded, {} failed ({} refused with a code, {} streams ended with an error)",
            self.succeeded,
            self.failed(),
            self.refused,
            self.broken
        )
    }
}
