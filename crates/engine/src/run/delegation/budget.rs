//! The budget of an agent and its sub-agents: a tree of counters. Each model call is reserved at every level before it is
//! made, and its real cost is booked afterwards.

use std::sync::Arc;

use parking_lot::Mutex;
pub(crate) use protocol::Limit;
use protocol::{Cost, Usage};
use tokio::time::{Duration, Instant};

use crate::agents::BudgetLimits;

/// The tokens that are reserved for a call whose cost is not known yet.
const RESERVED_TOKENS: u64 = 1_000;

pub(crate) struct Budget {
    above: Option<Arc<Budget>>,
    limits: BudgetLimits,
    deadline: Option<Instant>,
    used: Mutex<Used>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    steps: u32,
    tokens: u64,
    reserved: u64,
    /// Billionths of a dollar.
    nano_usd: u64,
}

/// A reserved model call; dropping it releases the reservation.
pub(crate) struct Reserved {
    budget: Arc<Budget>,
}

impl Budget {
    pub(crate) fn new(above: Option<Arc<Budget>>, limits: BudgetLimits) -> Arc<Self> {
        let deadline = limits.wall_time_ms.map(|limit| Instant::now() + Duration::from_millis(limit));
        Arc::new(Self { above, limits, deadline, used: Mutex::default() })
    }

    /// When this agent's time is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Reserves one model call at every level; the error is the limit that is reached.
    pub(crate) fn reserve(self: &Arc<Self>) -> Result<Reserved, Limit> {
        self.room()?;
        for level in self.levels() {
            let mut used = level.used.lock();
            used.steps += 1;
            used.reserved += RESERVED_TOKENS;
        }
        Ok(Reserved { budget: Arc::clone(self) })
    }

    /// Whether one more model call is within the budget.
    pub(crate) fn room(&self) -> Result<(), Limit> {
        self.levels().try_for_each(Self::own_room)
    }

    fn own_room(&self) -> Result<(), Limit> {
        let used = *self.used.lock();
        let full = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        if full(self.limits.steps.map(u64::from), u64::from(used.steps)) {
            return Err(Limit::Steps);
        }
        if full(self.limits.tokens, used.tokens.saturating_add(used.reserved)) {
            return Err(Limit::Tokens);
        }
        if full(self.limits.micro_usd, used.nano_usd / 1_000) {
            return Err(Limit::Money);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Limit::Time);
        }
        Ok(())
    }

    /// Books what a call really cost, where the price is known.
    pub(crate) fn book(&self, usage: Usage, cost: Option<Cost>) {
        for level in self.levels() {
            let mut used = level.used.lock();
            let both = usage.input_tokens.saturating_add(usage.output_tokens);
            used.tokens = used.tokens.saturating_add(usage.total_tokens.max(both));
            used.nano_usd = used.nano_usd.saturating_add(cost.unwrap_or_default().0);
        }
    }

    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.above.as_deref())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        for level in self.budget.levels() {
            let mut used = level.used.lock();
            used.reserved = used.reserved.saturating_sub(RESERVED_TOKENS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(total: u64) -> Usage {
        Usage { total_tokens: total, ..Usage::default() }
    }

    #[tokio::test]
    async fn a_call_below_counts_at_every_level() {
        let top = Budget::new(None, BudgetLimits { steps: Some(2), ..BudgetLimits::default() });
        let below = Budget::new(Some(Arc::clone(&top)), BudgetLimits::default());
        assert!(below.reserve().is_ok());
        assert!(top.reserve().is_ok());
        assert_eq!(below.reserve().err(), Some(Limit::Steps));
    }

    #[tokio::test]
    async fn tokens_are_reserved_before_the_call_and_booked_after_it() {
        let budget = Budget::new(None, BudgetLimits { tokens: Some(1_500), ..BudgetLimits::default() });
        let first = budget.reserve().unwrap();
        let second = budget.reserve().unwrap();
        assert_eq!(budget.reserve().err(), Some(Limit::Tokens), "two calls are out");
        drop((first, second));
        budget.book(tokens(1_499), None);
        assert!(budget.room().is_ok());
        budget.book(tokens(1), None);
        assert_eq!(budget.room(), Err(Limit::Tokens));
    }

    #[tokio::test]
    async fn time_and_money_run_out_too() {
        let limits = BudgetLimits { micro_usd: Some(5), wall_time_ms: Some(0), ..BudgetLimits::default() };
        let budget = Budget::new(None, limits);
        budget.book(tokens(1), Some(Cost(5_000)));
        assert_eq!(budget.room(), Err(Limit::Money));
        let budget = Budget::new(None, BudgetLimits { micro_usd: None, ..limits });
        assert_eq!(budget.room(), Err(Limit::Time));
    }
}
