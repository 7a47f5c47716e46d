//! The ledger of model calls, as values: what to add up, and the sums.

use protocol::{Cost, MessageId, RunId, SessionId, Timestamp, Usage, WorkspaceId};

/// Which calls to add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageQuery {
    pub workspace: WorkspaceId,
    pub session: Option<SessionId>,
    pub run: Option<RunId>,
    pub message: Option<MessageId>,
    /// Calls at this moment or later.
    pub from: Option<Timestamp>,
    /// Calls before this moment.
    pub until: Option<Timestamp>,
    pub by: UsageBy,
    /// The groups with the newest calls are kept.
    pub limit: u32,
}

/// What calls are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// Quarters of an hour since 1970: days of every time zone are made of them.
    QuarterHour,
    Model,
    /// The path of agents.
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
    /// Of them, those that broke off.
    pub failed: u64,
    pub usage: Usage,
    /// Of the calls that have a price.
    pub cost: Cost,
    /// Calls whose price is not known.
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
