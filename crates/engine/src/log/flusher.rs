//! Deltas reach disk within a tenth of a second, those of many sessions together. Sessions that began at the same
//! moment are spread over the time there is: stored all at once, they would hold up everybody's next words.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::log::SessionLog;

const TURNS: usize = 8;
const TURN: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Flusher {
    wheel: Mutex<Wheel>,
    woken: Notify,
}

/// Who is stored in which of the next turns.
#[derive(Default)]
struct Wheel {
    turns: [Vec<Arc<SessionLog>>; TURNS],
    next: usize,
}

impl Flusher {
    /// This session has deltas that are not on disk.
    pub(crate) fn remember(&self, log: &Arc<SessionLog>) {
        if log.mark_dirty() && self.wheel.lock().add(Arc::clone(log)) {
            self.woken.notify_one();
        }
    }

    pub(crate) async fn run(&self, end: CancellationToken) {
        loop {
            tokio::select! {
                () = self.woken.notified() => {}
                () = end.cancelled() => {
                    let all = self.wheel.lock().all();
                    self.flush(all).await;
                    return;
                }
            }
            loop {
                tokio::time::sleep(TURN).await;
                let Some(due) = self.wheel.lock().turn() else { break };
                self.flush(due).await;
            }
        }
    }

    async fn flush(&self, due: Vec<Arc<SessionLog>>) {
        let results = join_all(due.iter().map(|log| log.flush(false))).await;
        for (log, result) in due.iter().zip(results) {
            if let Err(error) = result {
                tracing::error!(%error, "deltas could not be stored; they stay in memory until the next try");
                if !log.is_broken() {
                    self.remember(log);
                }
            }
        }
    }
}

impl Wheel {
    /// Goes where fewest are, as late as that allows; `true` for the first.
    fn add(&mut self, log: Arc<SessionLog>) -> bool {
        let first = self.turns.iter().all(Vec::is_empty);
        let turns = (0..TURNS).map(|ahead| (self.next + ahead) % TURNS);
        if let Some(place) = turns.rev().min_by_key(|place| self.turns[*place].len()) {
            self.turns[place].push(log);
        }
        first
    }

    /// Those whose turn it is; `None` when nobody waits.
    fn turn(&mut self) -> Option<Vec<Arc<SessionLog>>> {
        if self.turns.iter().all(Vec::is_empty) {
            return None;
        }
        let due = std::mem::take(&mut self.turns[self.next]);
        self.next = (self.next + 1) % TURNS;
        Some(due)
    }

    fn all(&mut self) -> Vec<Arc<SessionLog>> {
        self.turns.iter_mut().flat_map(std::mem::take).collect()
    }
}
