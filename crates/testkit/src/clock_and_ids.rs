//! A fixed clock and counted ids, so that tests can compare whole streams.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use protocol::{ApprovalId, Clock, IdSource, MessageId, RunId, Timestamp, ToolCallId};

/// Shows 2026-01-05, 10:00 UTC, a Monday, until a test advances it.
pub struct FixedClock(AtomicI64);

impl FixedClock {
    pub const START: i64 = 1_767_607_200_000;

    pub fn advance(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::Relaxed);
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self(AtomicI64::new(Self::START))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// Creates the ids `run_1`, `msg_1`, `call_1`, `apr_1` and so on; each kind has its own counter.
#[derive(Default)]
pub struct CountingIds {
    runs: AtomicU64,
    messages: AtomicU64,
    calls: AtomicU64,
    approvals: AtomicU64,
    others: AtomicU64,
}

fn next(prefix: &str, count: &AtomicU64) -> String {
    format!("{prefix}{}", count.fetch_add(1, Ordering::Relaxed) + 1)
}

impl IdSource for CountingIds {
    fn time_ordered(&self) -> String {
        next("", &self.others)
    }

    fn unguessable(&self) -> String {
        next("", &self.others)
    }

    fn secret(&self) -> Option<String> {
        Some(next("secret", &self.others))
    }

    fn run(&self) -> RunId {
        RunId::new(next(RunId::PREFIX, &self.runs))
    }

    fn message(&self) -> MessageId {
        MessageId::new(next(MessageId::PREFIX, &self.messages))
    }

    fn tool_call(&self) -> ToolCallId {
        ToolCallId::new(next(ToolCallId::PREFIX, &self.calls))
    }

    fn approval(&self) -> ApprovalId {
        ApprovalId::new(next(ApprovalId::PREFIX, &self.approvals))
    }
}
