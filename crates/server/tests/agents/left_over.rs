//! What a run must not leave behind: tasks of the runtime and child processes.

use std::{
    fs,
    time::{Duration, Instant},
};

/// What was there before.
pub struct Left {
    tasks: usize,
}

impl Left {
    /// Looks when everything has come to rest.
    pub async fn look() -> Self {
        let mut tasks = alive();
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
            tasks = tasks.min(alive());
        }
        assert_eq!(processes(), 0, "child processes before anything was done");
        Self { tasks }
    }

    /// Waits until there are no more tasks than there were; fails when that takes too long.
    pub async fn nothing_more(&self, within: Duration) {
        let began = Instant::now();
        while alive() > self.tasks {
            let (now, before) = (alive(), self.tasks);
            assert!(began.elapsed() < within, "{now} tasks are alive, {before} were before");
            tokio::task::yield_now().await;
        }
        assert_eq!(processes(), 0, "child processes are left");
    }
}

fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// How many processes are children of this one.
fn processes() -> usize {
    let own = std::process::id().to_string();
    let stats = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    // The name, in brackets, may hold anything; the parent is the second field after it.
    let parents = stats.filter_map(|stat| {
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1).map(str::to_owned))
    });
    parents.filter(|parent| *parent == own).count()
}

/// A number of the environment: how much of a test is to be done.
pub fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
