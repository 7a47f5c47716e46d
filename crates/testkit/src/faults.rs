//! Injected faults: which calls of a store fail or wait, and how many did.
//!
//! A test keeps a clone of [`Faults`]; the [`FaultyStore`] checks it before every call. Calls are counted per method, so
//! that a suite can show that it exercised them.

mod method;
mod store;

use std::{collections::BTreeMap, sync::Arc};

use ::store::StoreError;
use parking_lot::Mutex;
use test_support::Rng;
use tokio::sync::watch;

pub use method::Method;
pub use store::FaultyStore;

/// Which calls a rule applies to. Calls are counted from 0 when the rule is added.
#[derive(Clone, Debug)]
pub enum When {
    /// The calls `first .. first + count`.
    Calls { first: u64, count: u64 },
    /// Each call with this probability, from a seed.
    Sometimes { per_mille: u32, rng: Rng },
    /// Every call until the rules are lifted.
    Always,
}

impl When {
    /// Exactly this one call.
    pub fn call(number: u64) -> Self {
        Self::Calls { first: number, count: 1 }
    }

    pub fn sometimes(per_mille: u32, seed: u64) -> Self {
        Self::Sometimes { per_mille, rng: Rng::new(seed) }
    }
}

/// What happens to a call.
#[derive(Clone, Debug)]
pub enum Effect {
    /// `StoreError::Unavailable`; nothing is done.
    Fail,
    /// The call is executed, but returns `StoreError::Unavailable`.
    FailLate,
    /// The call waits until the hold is released, then it is executed.
    Block(Hold),
}

/// Blocks calls until the test releases it. Once released, it blocks no call any more.
#[derive(Clone, Debug)]
pub struct Hold {
    released: Arc<watch::Sender<bool>>,
    arrived: Arc<watch::Sender<u64>>,
}

impl Default for Hold {
    fn default() -> Self {
        Self { released: Arc::new(watch::Sender::new(false)), arrived: Arc::new(watch::Sender::new(0)) }
    }
}

impl Hold {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn release(&self) {
        self.released.send_replace(true);
    }

    /// Waits until a call is blocked here.
    pub async fn reached(&self) {
        self.arrived.subscribe().wait_for(|arrived| *arrived > 0).await.unwrap();
    }

    async fn pass(&self) {
        self.arrived.send_modify(|arrived| *arrived += 1);
        self.released.subscribe().wait_for(|released| *released).await.unwrap();
    }
}

/// How often a method was called, and how many of the calls failed or were blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub calls: u64,
    pub failed: u64,
    pub blocked: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.blocked += other.blocked;
    }
}

/// The rules of a store and the counts of its calls.
#[derive(Clone, Default)]
pub struct Faults {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    counts: BTreeMap<Method, Count>,
}

struct Rule {
    /// `None` for every method.
    method: Option<Method>,
    when: When,
    effect: Effect,
    /// Calls that the rule has counted.
    seen: u64,
}

impl Faults {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for calls of any method.
    pub fn on_any(&self, when: When, effect: Effect) {
        self.add_rule(None, when, effect);
    }

    /// Adds a rule for calls of one method.
    pub fn on(&self, method: Method, when: When, effect: Effect) {
        self.add_rule(Some(method), when, effect);
    }

    fn add_rule(&self, method: Option<Method>, when: When, effect: Effect) {
        self.state.lock().rules.push(Rule { method, when, effect, seen: 0 });
    }

    /// Removes all rules. Calls that are blocked at a hold stay blocked.
    pub fn clear_rules(&self) {
        self.state.lock().rules.clear();
    }

    pub fn counts(&self) -> BTreeMap<Method, Count> {
        self.state.lock().counts.clone()
    }

    pub fn total(&self) -> Count {
        let mut total = Count::default();
        for count in self.state.lock().counts.values() {
            total += *count;
        }
        total
    }

    /// Runs before each call; an error is returned to the caller instead of calling the store.
    async fn before(&self, method: Method) -> Result<Delivery, StoreError> {
        match self.decide(method) {
            None => Ok(Delivery::Delivered),
            Some(Effect::Fail) => Err(fault(method)),
            Some(Effect::FailLate) => Ok(Delivery::Lost),
            Some(Effect::Block(hold)) => {
                hold.pass().await;
                Ok(Delivery::Delivered)
            }
        }
    }

    /// The first rule that applies wins; every rule counts the call.
    fn decide(&self, method: Method) -> Option<Effect> {
        let mut state = self.state.lock();
        let mut effect = None;
        for rule in state.rules.iter_mut().filter(|rule| rule.method.is_none_or(|of| of == method)) {
            let number = rule.seen;
            rule.seen += 1;
            let applies = match &mut rule.when {
                When::Calls { first, count } => number >= *first && number - *first < *count,
                When::Sometimes { per_mille, rng } => rng.below(1000) < *per_mille,
                When::Always => true,
            };
            if applies && effect.is_none() {
                effect = Some(rule.effect.clone());
            }
        }
        let count = state.counts.entry(method).or_default();
        count.calls += 1;
        match &effect {
            None => {}
            Some(Effect::Fail | Effect::FailLate) => count.failed += 1,
            Some(Effect::Block(_)) => count.blocked += 1,
        }
        effect
    }
}

/// Whether the caller receives the result of the call.
enum Delivery {
    Delivered,
    Lost,
}

fn fault(method: Method) -> StoreError {
    StoreError::Unavailable(format!("a fault at {method:?}").into())
}
