//! Deltas reach disk within a tenth of a second, all sessions of the process together.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::log::SessionLog;

const INTERVAL: Duration = Duration::from_millis(80);

#[derive(Default)]
pub(crate) struct Flusher {
    waiting: Mutex<Vec<Arc<SessionLog>>>,
    woken: Notify,
}

impl Flusher {
    /// This session has deltas that are not on disk.
    pub(crate) fn remember(&self, log: &Arc<SessionLog>) {
        if log.mark_dirty() {
            self.waiting.lock().push(Arc::clone(log));
            self.woken.notify_one();
        }
    }

    pub(crate) async fn run(&self, end: CancellationToken) {
        loop {
            tokio::select! {
                () = self.woken.notified() => {}
                () = end.cancelled() => {
                    self.flush().await;
                    return;
                }
            }
            tokio::time::sleep(INTERVAL).await;
            self.flush().await;
        }
    }

    async fn flush(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        let results = join_all(waiting.iter().map(|log| log.flush(false))).await;
        for (log, result) in waiting.iter().zip(results) {
            if let Err(error) = result {
                tracing::error!(%error, "deltas could not be stored; they stay in memory until the next try");
                if !log.is_broken() {
                    self.remember(log);
                }
            }
        }
    }
}
