//! An agent's position in the tree of agents: its path, its depth and its budget.

use std::sync::{Arc, atomic::AtomicBool};

use protocol::MessageId;
use tools::EditLimit;

use super::budget::Budget;
use crate::agents::AgentDefinition;

pub(crate) struct Position {
    pub(crate) message: MessageId,
    /// The names of the agents from the main agent to this one.
    pub(crate) path: Vec<String>,
    pub(crate) depth: u32,
    /// The greatest depth that its sub-agents may have.
    pub(crate) max_depth: u32,
    pub(crate) budget: Arc<Budget>,
    /// Which files it may change: its own limit and those of its callers.
    pub(crate) edit_limit: EditLimit,
    /// Whether it waits for a person.
    pub(crate) awaits_person: AtomicBool,
}

impl Position {
    pub(crate) fn of_main_agent(agent: &AgentDefinition, message: MessageId) -> Self {
        Self {
            message,
            path: vec![agent.name.clone()],
            depth: 0,
            max_depth: agent.max_depth,
            budget: Budget::new(None, agent.budget),
            edit_limit: EditLimit::default().with(&agent.editable_suffixes),
            awaits_person: AtomicBool::new(false),
        }
    }

    /// The position of a sub-agent of `caller`.
    pub(crate) fn below(caller: &Self, agent: &AgentDefinition, message: MessageId) -> Self {
        let mut path = caller.path.clone();
        path.push(agent.name.clone());
        Self {
            message,
            path,
            depth: caller.depth + 1,
            max_depth: caller.max_depth.min(caller.depth + 1 + agent.max_depth),
            budget: Budget::new(Some(Arc::clone(&caller.budget)), agent.budget),
            edit_limit: caller.edit_limit.with(&agent.editable_suffixes),
            awaits_person: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_main(&self) -> bool {
        self.depth == 0
    }
}
