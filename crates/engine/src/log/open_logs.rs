//! The logs that are in memory: one for each session, shared by everybody who writes or follows it.
//!
//! A log is opened by the first who needs it and goes when the last one has gone. Runs come and go meanwhile: a client that
//! follows an idle session holds its log, and the next run appends to the same one.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use protocol::Seq;

use super::session_log::SessionLog;
use crate::session_name::SessionName;

/// Logs that have gone are removed when there are so many more than after the last time.
const SWEEP_EVERY: usize = 64;

#[derive(Default)]
pub(crate) struct OpenLogs {
    logs: Mutex<Logs>,
}

#[derive(Default)]
struct Logs {
    by_name: HashMap<SessionName, Weak<SessionLog>>,
    sweep_at: usize,
}

impl OpenLogs {
    /// The log of this session, opened by `open` if it is not in memory. A log that broke off is replaced.
    pub(crate) fn get_or_open(
        &self,
        name: &SessionName,
        open: impl FnOnce() -> Arc<SessionLog>,
    ) -> Arc<SessionLog> {
        let mut logs = self.logs.lock();
        let known = logs.by_name.get(name).and_then(Weak::upgrade).filter(|log| !log.is_broken());
        if let Some(log) = known {
            return log;
        }
        if logs.by_name.len() >= logs.sweep_at.max(SWEEP_EVERY) {
            logs.by_name.retain(|_, log| log.strong_count() > 0);
            logs.sweep_at = 2 * logs.by_name.len();
        }
        let log = open();
        logs.by_name.insert(name.clone(), Arc::downgrade(&log));
        log
    }

    /// The newest event of a session that its readers see, if its log is in memory.
    pub(crate) fn visible(&self, name: &SessionName) -> Option<Seq> {
        let log = self.logs.lock().by_name.get(name).and_then(Weak::upgrade)?;
        Some(log.watch().borrow().seq)
    }

    /// Forgets the log of a session that was deleted: a new one of the same name starts its own.
    pub(crate) fn remove(&self, name: &SessionName) {
        let removed = self.logs.lock().by_name.remove(name);
        if let Some(log) = removed.and_then(|log| log.upgrade()) {
            log.break_off();
        }
    }
}
