//! Counts the agents of a run that are at work. A run parks when the count drops to zero.
//!
//! The count never drops to zero while a result is on its way from one agent to another, because the result carries its
//! sender's [`ActivityGuard`].

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub(crate) struct Activity {
    working: Mutex<usize>,
    parking: CancellationToken,
}

impl Activity {
    /// Counts one more agent at work, as long as the guard lives.
    pub(crate) fn begin(self: &Arc<Self>) -> ActivityGuard {
        *self.working.lock() += 1;
        ActivityGuard(Arc::clone(self))
    }

    /// The same, unless the run is already parking.
    pub(crate) fn begin_unless_parking(self: &Arc<Self>) -> Option<ActivityGuard> {
        let mut working = self.working.lock();
        if self.parking.is_cancelled() {
            return None;
        }
        *working += 1;
        Some(ActivityGuard(Arc::clone(self)))
    }

    /// Returns when no agent is at work any more: the run parks.
    pub(crate) async fn parking(&self) {
        self.parking.cancelled().await;
    }
}

/// One agent at work.
pub(crate) struct ActivityGuard(Arc<Activity>);

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        let mut working = self.0.working.lock();
        *working -= 1;
        if *working == 0 {
            self.0.parking.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_run_parks_when_the_last_guard_is_dropped_and_never_works_again() {
        let activity = Arc::new(Activity::default());
        let (main, sub_agent) = (activity.begin(), activity.begin());
        drop(main);
        assert!(activity.parking().now_or_never().is_none(), "a sub-agent is at work");
        let handed_on = activity.begin_unless_parking();
        assert!(handed_on.is_some());
        drop(sub_agent);
        assert!(activity.parking().now_or_never().is_none(), "a result is on its way");
        drop(handed_on);
        assert!(activity.parking().now_or_never().is_some());
        assert!(activity.begin_unless_parking().is_none());
    }
}
