//! A random tree of agents as a plan, and a short reference implementation of its expected result.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use testkit::{Gate, Reply, Rng, calls, fails, models::ModelError, says, waits};

use super::cast::Cast;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Speaks,
    /// Its model breaks off.
    Errs,
    /// Asks a person, who says yes.
    Asks,
    /// Has one step only.
    Limited,
    /// Is stopped by a person.
    Stopped,
}

#[derive(Debug)]
pub struct Plan {
    pub task: String,
    pub fate: Fate,
    pub background: bool,
    pub below: Vec<Plan>,
}

/// What a frame must be in the end.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    pub status: &'static str,
    pub limit: Option<&'static str>,
    /// Its parts in order, without the borders of steps.
    pub parts: Vec<String>,
    /// What its model was sent of each call.
    pub results: BTreeMap<String, Told>,
}

/// The result of a call, as the calling model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A sub-agent's report, and the limit that ended its work.
    Report(String, Option<&'static str>),
    Running,
    Failed,
    Cancelled,
    Echo(String),
}

impl Plan {
    pub fn grow(rng: &mut Rng, task: String, depth: usize) -> Self {
        let fate = match (depth, rng.below(10)) {
            (0, _) | (_, 0..=3) => Fate::Speaks,
            (_, 4..=5) => Fate::Errs,
            (_, 6..=7) => Fate::Asks,
            (_, 8) => Fate::Limited,
            _ => Fate::Stopped,
        };
        let most = if depth == 0 { 4 } else { 3 };
        let count =
            if depth == 3 || fate == Fate::Stopped { 0 } else { rng.below(most) + u64::from(depth == 0) };
        let mut below: Vec<Self> =
            (0..count).map(|place| Self::grow(rng, format!("{task}.{place}"), depth + 1)).collect();
        if fate == Fate::Errs {
            // It takes those it left in the background with it, at a moment nobody knows.
            below.iter_mut().for_each(|below| below.background = false);
        }
        Self { task, fate, background: depth > 0 && rng.below(4) == 0, below }
    }

    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Self)) {
        see(self);
        self.below.iter().for_each(|below| below.visit(see));
    }

    /// What occurs in the tree.
    pub fn kinds(&self) -> BTreeSet<&'static str> {
        let mut kinds = BTreeSet::new();
        self.visit(&mut |plan| {
            kinds.insert(match plan.fate {
                Fate::Speaks => "speaks",
                Fate::Errs => "errors",
                Fate::Asks => "approvals",
                Fate::Limited => "budgets",
                Fate::Stopped => "cancels",
            });
            if plan.background {
                kinds.insert("background");
            }
        });
        kinds
    }

    pub fn depth(&self) -> usize {
        self.task.matches('.').count()
    }

    /// The agent that plays this task.
    fn agent(&self) -> String {
        let limited = if self.fate == Fate::Limited { "l" } else { "a" };
        format!("{limited}{}", self.depth())
    }

    fn call(&self, place: usize) -> Reply {
        let tool = if self.background { "spawn-agent" } else { "sub-agent" };
        calls(&format!("c{place}"), tool, json!({ "name": self.agent(), "task": self.task }))
    }

    fn has_background(&self) -> bool {
        self.below.iter().any(|below| below.background)
    }

    /// The call of a tool of its own, beside those that delegate.
    fn own_call(&self) -> Option<(&'static str, &'static str)> {
        match self.fate {
            Fate::Asks => Some(("ask", "conf_approve")),
            _ if self.below.is_empty() => Some(("echo", "conf_echo")),
            _ => None,
        }
    }

    pub fn cast(&self, mut cast: Cast, gates: &mut BTreeMap<String, Gate>) -> Cast {
        let mut first = Reply::default();
        for (place, below) in self.below.iter().enumerate() {
            first = first.then(below.call(place));
        }
        if let Some((call, tool)) = self.own_call() {
            first = first.then(calls(call, tool, json!({ "text": self.task })));
        }
        let last = match self.fate {
            Fate::Errs => fails(ModelError::Cut),
            Fate::Stopped => waits(gates.entry(self.task.clone()).or_default()),
            _ => says(&format!("{} said", self.task)),
        };
        cast = cast.with(&self.task, [first, last, says(" and heard")]);
        self.below.iter().fold(cast, |cast, below| below.cast(cast, gates))
    }

    /// The reference: calls in the order they were made, then the last words; those who started others in the
    /// background hear of them before they end.
    pub fn expect(&self) -> Expected {
        let mut parts: Vec<String> = (0..self.below.len()).map(|place| format!("call c{place}")).collect();
        let mut results: BTreeMap<String, Told> =
            self.below.iter().enumerate().map(|(place, below)| (format!("c{place}"), below.told())).collect();
        if let Some((call, _)) = self.own_call() {
            parts.push(format!("call {call}"));
            results.insert(call.to_owned(), Told::Echo(self.task.clone()));
        }
        let status = match self.fate {
            Fate::Errs => "failed",
            Fate::Stopped => "cancelled",
            _ => "finished",
        };
        if status == "finished" {
            parts.push(format!("text {} said", self.task));
            if self.has_background() {
                parts.push("data steering".to_owned());
                parts.push("text  and heard".to_owned());
            }
        }
        Expected { status, limit: self.limit(), parts, results }
    }

    fn limit(&self) -> Option<&'static str> {
        (self.fate == Fate::Limited).then_some("steps")
    }

    /// What its caller is sent.
    fn told(&self) -> Told {
        let heard = if self.has_background() { " and heard" } else { "" };
        match self.fate {
            _ if self.background => Told::Running,
            Fate::Errs => Told::Failed,
            Fate::Stopped => Told::Cancelled,
            _ => Told::Report(format!("{} said{heard}", self.task), self.limit()),
        }
    }
}
