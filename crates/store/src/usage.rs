//! Queries over the usage of model calls, and their results.

use protocol::{Cost, MessageId, RunId, SessionId, Timestamp, Usage, WorkspaceId};

/// Which calls to add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    pub workspace: WorkspaceId,
    pub session: Option<SessionId>,
    pub run: Option<RunId>,
    pub message: Option<MessageId>,
    /// Only calls at this time or later.
    pub from: Option<Timestamp>,
    /// Only calls before this time.
    pub until: Option<Timestamp>,
    pub by: UsageBy,
    /// At most this many groups are returned, those with the newest calls.
    pub limit: u32,
}

/// What calls are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// Quarters of an hour since 1970. Days of every time zone can be added up from them.
    QuarterHour,
    Model,
    /// The agents from the main agent to the one that called, joined by `/`.
    Agent,
    Session,
    Run,
    Message,
}

/// The calls of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    pub key: String,
    pub calls: u64,
    /// How many of the calls failed before their end.
    pub failed: u64,
    pub usage: Usage,
    /// The cost of the calls whose price is known.
    pub cost: Cost,
    /// How many calls have no known price.
    pub unpriced: u64,
    pub duration_ms: u64,
}

impl UsageSum {
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced += other.unpriced;
        self.duration_ms += other.duration_ms;
    }
}
