//! Stores deltas within a tenth of a second, those of many sessions together.
//!
//! Sessions that began at the same moment are spread over that time: storing all of them at once would delay the next
//! deltas of every session.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::session_log::SessionLog;

const SLOTS: usize = 8;
const SLOT: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Flusher {
    wheel: Mutex<Wheel>,
    woken: Notify,
}

/// A timer wheel: which logs are flushed in which of the next time slots.
#[derive(Default)]
struct Wheel {
    slots: [Vec<Arc<SessionLog>>; SLOTS],
    next: usize,
}

impl Flusher {
    /// Schedules a log that has unstored deltas.
    pub(super) fn add(&self, log: &Arc<SessionLog>) {
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
                tokio::time::sleep(SLOT).await;
                let Some(due) = self.wheel.lock().advance() else { break };
                self.flush(due).await;
            }
        }
    }

    async fn flush(&self, due: Vec<Arc<SessionLog>>) {
        let results = join_all(due.iter().map(|log| log.flush(false))).await;
        for (log, result) in due.iter().zip(results) {
            if let Err(error) = result {
                tracing::error!(%error, "deltas could not be stored; they stay in memory until the next attempt");
                if !log.is_broken() {
                    self.add(log);
                }
            }
        }
    }
}

impl Wheel {
    /// Adds a log to the latest of the emptiest slots; returns `true` if the wheel was empty.
    fn add(&mut self, log: Arc<SessionLog>) -> bool {
        let first = self.slots.iter().all(Vec::is_empty);
        let slots = (0..SLOTS).map(|ahead| (self.next + ahead) % SLOTS);
        if let Some(place) = slots.rev().min_by_key(|place| self.slots[*place].len()) {
            self.slots[place].push(log);
        }
        first
    }

    /// Takes the logs of the next slot; `None` if the wheel is empty.
    fn advance(&mut self) -> Option<Vec<Arc<SessionLog>>> {
        if self.slots.iter().all(Vec::is_empty) {
            return None;
        }
        let due = std::mem::take(&mut self.slots[self.next]);
        self.next = (self.next + 1) % SLOTS;
        Some(due)
    }

    fn all(&mut self) -> Vec<Arc<SessionLog>> {
        self.slots.iter_mut().flat_map(std::mem::take).collect()
    }
}
