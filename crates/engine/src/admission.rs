//! Limits how many runs start and end at the same time, so that bursts of starts and ends do not delay the streaming of
//! other sessions (ADR 17).
//!
//! A few at a time share a commit. The more sessions are live, the fewer are admitted at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

const PERMITS: usize = 16;
/// One more permit is needed per start or end for this many live sessions.
const SESSIONS_PER_PERMIT: usize = 48;
const MOST_PERMITS: usize = 4;

pub(crate) struct AdmissionLimiter {
    permits: Semaphore,
    live_sessions: AtomicUsize,
}

impl Default for AdmissionLimiter {
    fn default() -> Self {
        Self { permits: Semaphore::new(PERMITS), live_sessions: AtomicUsize::new(0) }
    }
}

impl AdmissionLimiter {
    /// Updates the number of live sessions. The registry of sessions calls this.
    pub(crate) fn set_live_sessions(&self, count: usize) {
        self.live_sessions.store(count, Ordering::Relaxed);
    }

    /// Waits until a run may start or end; dropping the permit admits the next one.
    pub(crate) async fn admit(&self) -> Option<SemaphorePermit<'_>> {
        let permits = permits_for(self.live_sessions.load(Ordering::Relaxed));
        // An error would mean that the semaphore is closed; it never is.
        self.permits.acquire_many(permits).await.ok()
    }
}

fn permits_for(live_sessions: usize) -> u32 {
    u32::try_from((live_sessions / SESSIONS_PER_PERMIT).clamp(1, MOST_PERMITS)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn the_more_sessions_are_live_the_fewer_are_admitted_at_once() {
        for (live, expected) in [(1, 16), (64, 16), (100, 8), (200, 4), (5_000, 4)] {
            let limiter = AdmissionLimiter::default();
            limiter.set_live_sessions(live);
            let admitted: Vec<_> = (0..64).map_while(|_| limiter.admit().now_or_never()).collect();
            assert_eq!(admitted.len(), expected, "{live}");
            drop(admitted);
            assert!(limiter.admit().now_or_never().is_some(), "there is room again");
        }
    }
}
