//! Limits the concurrent calls to a provider, one limiter per provider and key. Calls beyond the limit and calls that
//! were answered with 429 are queued instead of failing. The queue is bounded and fair between sessions
//! (`fair_queue.rs`); dropping the future removes a call from it.
//!
//! A 429 pauses all calls for as long as the server says, or for a growing time when it does not say, and halves the
//! number of concurrent calls; every answer that starts raises it by one. A permit is held until the answer ends.
//! There is no background task: waiting calls watch the clock themselves.

pub mod fair_queue;

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep_until, timeout_at},
};

use self::fair_queue::{Admitted, FairQueue, FairnessKey, TicketNumber, WaiterId};
use crate::retry::{self, LONGEST_WAIT};

/// The most queued calls of one limiter.
pub const MAX_QUEUED: usize = 4096;
/// The most queued calls of one session.
pub const MAX_QUEUED_PER_KEY: usize = 256;
/// The number of concurrent calls never falls below this.
const MIN_WINDOW: usize = 8;
/// The first pause when the server does not say how long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause when the server does not say how long.
const MAX_PAUSE: Duration = Duration::from_secs(4);
/// After this time without a 429 the limit of the settings applies again.
const RESET_AFTER: Duration = Duration::from_secs(60);

pub struct ProviderLimiter {
    state: Mutex<State>,
    /// Notified when a pause starts, so that queued calls wait for its end.
    paused: Notify,
}

struct State {
    queue: FairQueue<oneshot::Sender<Permit>>,
    active: usize,
    /// The number of concurrent calls that the settings allow.
    limit: usize,
    /// The number of concurrent calls that the server accepts at present, as far as its 429s show.
    window: usize,
    pause: Option<Pause>,
}

struct Pause {
    until: Instant,
    /// Pauses since the last answer started.
    count: u32,
}

/// Why a call got no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    QueueFull,
    TimedOut,
}

/// The calls of a limiter, for the diagnostics route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderLoad {
    pub active: usize,
    pub queued: usize,
    pub paused: bool,
}

impl ProviderLimiter {
    /// Allows `limit` concurrent calls; `None` is no limit.
    pub fn new(limit: Option<usize>) -> Arc<Self> {
        let limit = limit.unwrap_or(usize::MAX).max(1);
        let state = State { queue: FairQueue::default(), active: 0, limit, window: limit, pause: None };
        Arc::new(Self { state: Mutex::new(state), paused: Notify::new() })
    }

    /// Returns a permit if no call is queued and the limit is not reached.
    pub fn try_acquire(self: &Arc<Self>, key: FairnessKey) -> Option<Permit> {
        let mut state = self.state.lock();
        if !state.queue.is_empty() || !state.has_room() {
            return None;
        }
        state.active += 1;
        let ticket = state.queue.take_ticket();
        Some(self.permit(key, ticket))
    }

    /// Waits in the queue until `deadline`. `ticket` is that of an earlier permit whose call was rate limited.
    pub async fn acquire(
        self: Arc<Self>,
        key: FairnessKey,
        ticket: Option<TicketNumber>,
        deadline: Instant,
    ) -> Result<Permit, AcquireError> {
        let mut waiter = Waiter::new(self, key, ticket)?;
        waiter.wait(deadline).await
    }

    pub fn load(&self) -> ProviderLoad {
        let state = self.state.lock();
        ProviderLoad { active: state.active, queued: state.queue.len(), paused: state.is_paused() }
    }

    fn permit(self: &Arc<Self>, key: FairnessKey, ticket: TicketNumber) -> Permit {
        Permit { limiter: Arc::clone(self), key, ticket }
    }

    /// Admits queued calls while there is room. Permits are sent outside the lock, because one that is not received is
    /// dropped and takes the lock again.
    fn admit_queued(self: &Arc<Self>) {
        loop {
            let Admitted { key, ticket, call: sender } = {
                let mut state = self.state.lock();
                if !state.has_room() {
                    return;
                }
                let Some(next) = state.queue.pop() else { return };
                state.active += 1;
                next
            };
            // If the call is no longer waiting, the permit is dropped and free again.
            drop(sender.send(self.permit(key, ticket)));
        }
    }

    fn paused_until(&self) -> Option<Instant> {
        let state = self.state.lock();
        state.pause.as_ref().map(|pause| pause.until).filter(|until| *until > Instant::now())
    }
}

impl State {
    fn is_paused(&self) -> bool {
        self.pause.as_ref().is_some_and(|pause| pause.until > Instant::now())
    }

    fn has_room(&mut self) -> bool {
        if let Some(pause) = &self.pause {
            let now = Instant::now();
            if pause.until > now {
                return false;
            }
            if pause.until + RESET_AFTER < now {
                self.pause = None;
                self.window = self.limit;
            }
        }
        self.active < self.window
    }

    /// Pauses after a 429. Concurrent calls that are answered with 429 together make one pause.
    fn pause(&mut self, retry_after: Option<Duration>) {
        let now = Instant::now();
        let count = match &self.pause {
            Some(pause) if pause.until > now => {
                let asked = retry_after.map(|wait| now + wait.min(LONGEST_WAIT));
                let until = asked.map_or(pause.until, |asked| asked.max(pause.until));
                self.pause = Some(Pause { until, count: pause.count });
                return;
            }
            Some(pause) => pause.count + 1,
            None => 1,
        };
        let wait = match retry_after {
            Some(wait) => wait.min(LONGEST_WAIT),
            None => retry::jittered(FIRST_PAUSE, count).min(MAX_PAUSE),
        };
        self.pause = Some(Pause { until: now + wait, count });
        self.window = (self.active.min(self.window) / 2).max(MIN_WINDOW).min(self.limit);
    }
}

/// The permission for one call; dropping it ends the call.
pub struct Permit {
    limiter: Arc<ProviderLimiter>,
    key: FairnessKey,
    ticket: TicketNumber,
}

impl Permit {
    /// Records that the answer has started: the server accepts calls.
    pub fn answer_started(&self) {
        let mut state = self.limiter.state.lock();
        // Without a 429 in the last minute the window is at its limit already.
        if let Some(pause) = &mut state.pause {
            pause.count = 0;
            state.window = state.window.saturating_add(1).min(state.limit);
            drop(state);
            self.limiter.admit_queued();
        }
    }

    /// Records a 429 and returns the ticket with which the call is queued again.
    pub fn rate_limited(self, retry_after: Option<Duration>) -> TicketNumber {
        self.limiter.state.lock().pause(retry_after);
        self.limiter.paused.notify_waiters();
        self.ticket
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let has_queued = {
            let mut state = self.limiter.state.lock();
            state.active -= 1;
            !state.queue.is_empty()
        };
        if has_queued {
            self.limiter.admit_queued();
        }
    }
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").field("key", &self.key).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// A queued call; dropping it removes it from the queue.
struct Waiter {
    limiter: Arc<ProviderLimiter>,
    key: FairnessKey,
    id: WaiterId,
    permit: oneshot::Receiver<Permit>,
}

impl Waiter {
    fn new(
        limiter: Arc<ProviderLimiter>,
        key: FairnessKey,
        ticket: Option<TicketNumber>,
    ) -> Result<Self, AcquireError> {
        let (sender, permit) = oneshot::channel();
        let id = {
            let mut state = limiter.state.lock();
            if state.queue.len() >= MAX_QUEUED || state.queue.count(key) >= MAX_QUEUED_PER_KEY {
                return Err(AcquireError::QueueFull);
            }
            match ticket {
                Some(ticket) => state.queue.push_again(key, ticket, sender),
                None => state.queue.push(key, sender),
            }
        };
        Ok(Self { limiter, key, id, permit })
    }

    async fn wait(&mut self, deadline: Instant) -> Result<Permit, AcquireError> {
        let limiter = Arc::clone(&self.limiter);
        let granted = async {
            loop {
                let paused = limiter.paused.notified();
                tokio::pin!(paused);
                paused.as_mut().enable();
                limiter.admit_queued();
                let end_of_pause = limiter.paused_until();
                tokio::select! {
                    biased;
                    permit = &mut self.permit => return permit.map_err(|_| AcquireError::TimedOut),
                    () = sleep_until(end_of_pause.unwrap_or(deadline)) => {}
                    () = paused => {}
                }
            }
        };
        timeout_at(deadline, granted).await.unwrap_or(Err(AcquireError::TimedOut))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.limiter.state.lock().queue.remove(self.key, self.id);
    }
}

#[cfg(test)]
#[path = "provider_limiter_tests.rs"]
mod tests;
