//! The memory of a process, as the kernel counts it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinHandle;

/// Resident bytes of a process.
pub fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Watches a process until it is asked for the most it held.
pub struct Peak {
    most: Arc<AtomicU64>,
    watching: JoinHandle<()>,
}

impl Peak {
    #[expect(clippy::disallowed_methods, reason = "ends with the watch, below")]
    pub fn watch(pid: u32) -> Self {
        let most = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&most);
        let watching = tokio::spawn(async move {
            loop {
                seen.fetch_max(resident(pid), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        Self { most, watching }
    }

    pub fn bytes(self) -> u64 {
        self.watching.abort();
        self.most.load(Ordering::Relaxed)
    }
}

pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
