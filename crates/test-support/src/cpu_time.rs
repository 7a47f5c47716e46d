//! The processor time of the calling thread: unlike the time of day, it does not grow while other processes run.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long a function works on this thread.
pub fn cpu_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = now();
    let result = work();
    (result, now().saturating_sub(before))
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
