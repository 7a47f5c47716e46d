//! One gate per provider and key: calls beyond the limit, and calls that were answered 429, wait here instead of
//! failing. Fair between sessions (`line.rs`), bounded, and left by dropping the future.
//!
//! A 429 shuts the gate for as long as the server says, or for a growing while when it does not say, and halves the
//! number of calls that may be on at once; every answer that begins lets one more in. A permit is held until the
//! answer is over. Nothing runs on its own here: those who wait watch the clock themselves.

pub mod line;

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep_until, timeout_at},
};

use self::line::{Lane, Line, Place, Turn};
use crate::retry::{self, LONGEST_WAIT};

/// How many calls may wait at one gate, and how many of one session.
pub const LONGEST_LINE: usize = 4096;
pub const LONGEST_LANE: usize = 256;
/// However often the server sends calls away, so many may be tried at once.
const SMALLEST_WINDOW: usize = 8;
/// The first pause when the server does not say how long.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause when the server does not say how long.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// After so long without a 429 the gate is as wide as at the beginning.
const FORGET: Duration = Duration::from_secs(60);

pub struct Gate {
    state: Mutex<State>,
    /// Told when a pause begins, so that those who wait set their clocks.
    paused: Notify,
}

struct State {
    line: Line<oneshot::Sender<Permit>>,
    on: usize,
    /// What the settings allow.
    limit: usize,
    /// What the server seems to bear.
    window: usize,
    pause: Option<Pause>,
}

struct Pause {
    until: Instant,
    /// Pauses since an answer last began.
    count: u32,
}

/// Why a call did not get through the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many wait already.
    Full,
    /// Its time was up.
    Late,
}

/// What the gate is doing, for the diagnostics route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateLoad {
    pub on: usize,
    pub waiting: usize,
    pub paused: bool,
}

impl Gate {
    /// `limit` calls at once; `None` is as many as come.
    pub fn new(limit: Option<usize>) -> Arc<Self> {
        let limit = limit.unwrap_or(usize::MAX).max(1);
        let state = State { line: Line::default(), on: 0, limit, window: limit, pause: None };
        Arc::new(Self { state: Mutex::new(state), paused: Notify::new() })
    }

    /// A permit at once, when nobody waits and there is room.
    pub fn try_enter(self: &Arc<Self>, lane: Lane) -> Option<Permit> {
        let mut state = self.state.lock();
        if !state.line.is_empty() || !state.has_room() {
            return None;
        }
        state.on += 1;
        let turn = state.line.turn();
        Some(self.permit(lane, turn))
    }

    /// Waits for its turn until `deadline`. `turn` is the one of a permit that was sent away.
    pub async fn enter(
        self: Arc<Self>,
        lane: Lane,
        turn: Option<Turn>,
        deadline: Instant,
    ) -> Result<Permit, Refused> {
        let mut ticket = Ticket::new(self, lane, turn)?;
        ticket.wait(deadline).await
    }

    pub fn load(&self) -> GateLoad {
        let state = self.state.lock();
        GateLoad { on: state.on, waiting: state.line.len(), paused: state.is_paused() }
    }

    fn permit(self: &Arc<Self>, lane: Lane, turn: Turn) -> Permit {
        Permit { gate: Arc::clone(self), lane, turn }
    }

    /// Lets in whoever may go. The wake-ups happen outside the lock: a permit that nobody takes comes back here.
    fn let_in(self: &Arc<Self>) {
        loop {
            let (lane, turn, wake) = {
                let mut state = self.state.lock();
                if !state.has_room() {
                    return;
                }
                let Some(next) = state.line.serve() else { return };
                state.on += 1;
                next
            };
            // Whoever went away meanwhile gives the permit back by dropping it.
            drop(wake.send(self.permit(lane, turn)));
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
            if pause.until + FORGET < now {
                self.pause = None;
                self.window = self.limit;
            }
        }
        self.on < self.window
    }

    /// The server sent a call away. Those that were sent away together make one pause.
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
            None => retry::jittered(PAUSE, count).min(LONGEST_PAUSE),
        };
        self.pause = Some(Pause { until: now + wait, count });
        self.window = (self.on.min(self.window) / 2).max(SMALLEST_WINDOW).min(self.limit);
    }
}

/// The right to have one call on.
pub struct Permit {
    gate: Arc<Gate>,
    lane: Lane,
    turn: Turn,
}

impl Permit {
    /// The answer began.
    pub fn answered(&self) {
        let mut state = self.gate.state.lock();
        // An undisturbed gate has nothing to learn.
        if let Some(pause) = &mut state.pause {
            pause.count = 0;
            state.window = state.window.saturating_add(1).min(state.limit);
            drop(state);
            self.gate.let_in();
        }
    }

    /// The server sent the call away; gives the turn to come back with.
    pub fn sent_away(self, retry_after: Option<Duration>) -> Turn {
        self.gate.state.lock().pause(retry_after);
        self.gate.paused.notify_waiters();
        self.turn
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let somebody_waits = {
            let mut state = self.gate.state.lock();
            state.on -= 1;
            !state.line.is_empty()
        };
        if somebody_waits {
            self.gate.let_in();
        }
    }
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").field("lane", &self.lane).field("turn", &self.turn).finish_non_exhaustive()
    }
}

/// A place in the line; leaves it when dropped.
struct Ticket {
    gate: Arc<Gate>,
    lane: Lane,
    place: Place,
    permit: oneshot::Receiver<Permit>,
}

impl Ticket {
    fn new(gate: Arc<Gate>, lane: Lane, turn: Option<Turn>) -> Result<Self, Refused> {
        let (wake, permit) = oneshot::channel();
        let place = {
            let mut state = gate.state.lock();
            if state.line.len() >= LONGEST_LINE || state.line.waiting(lane) >= LONGEST_LANE {
                return Err(Refused::Full);
            }
            match turn {
                Some(turn) => state.line.rejoin(lane, turn, wake),
                None => state.line.join(lane, wake),
            }
        };
        Ok(Self { gate, lane, place, permit })
    }

    async fn wait(&mut self, deadline: Instant) -> Result<Permit, Refused> {
        let gate = Arc::clone(&self.gate);
        let granted = async {
            loop {
                let paused = gate.paused.notified();
                tokio::pin!(paused);
                paused.as_mut().enable();
                gate.let_in();
                let end_of_pause = gate.paused_until();
                tokio::select! {
                    biased;
                    permit = &mut self.permit => return permit.map_err(|_| Refused::Late),
                    () = sleep_until(end_of_pause.unwrap_or(deadline)) => {}
                    () = paused => {}
                }
            }
        };
        timeout_at(deadline, granted).await.unwrap_or(Err(Refused::Late))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.gate.state.lock().line.leave(self.lane, self.place);
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
