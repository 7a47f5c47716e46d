//! A frame's place in the run: where it stands in the tree and what it may use up.

use std::sync::{Arc, atomic::AtomicBool};

use protocol::MessageId;

use super::budget::Budget;
use crate::agents::AgentDefinition;

pub(crate) struct Post {
    pub(crate) message: MessageId,
    /// The agents from the root to this one.
    pub(crate) path: Vec<String>,
    pub(crate) depth: u32,
    /// How deep agents below it may be.
    pub(crate) max_depth: u32,
    pub(crate) budget: Arc<Budget>,
    /// Whether it waits for a person.
    pub(crate) waits: AtomicBool,
}

impl Post {
    pub(crate) fn root(agent: &AgentDefinition, message: MessageId) -> Self {
        Self {
            message,
            path: vec![agent.name.clone()],
            depth: 0,
            max_depth: agent.max_depth,
            budget: Budget::new(None, agent.budget),
            waits: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        self.depth == 0
    }
}
