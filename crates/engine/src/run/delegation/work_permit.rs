//! What an agent holds while it works: it counts as active, and a sub-agent also holds one of the run's slots.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::tree::AgentTree;
use crate::{mailbox::activity::ActivityGuard, run::agent_loop::driver::RunStop};

pub(crate) struct WorkPermit {
    tree: Arc<AgentTree>,
    /// The main agent needs no slot.
    needs_slot: bool,
    slot: Option<OwnedSemaphorePermit>,
    activity: Option<ActivityGuard>,
}

impl WorkPermit {
    pub(crate) fn of_main_agent(tree: &Arc<AgentTree>, activity: ActivityGuard) -> Self {
        Self { tree: Arc::clone(tree), needs_slot: false, slot: None, activity: Some(activity) }
    }

    /// With the slot that was free when the sub-agent began, if there was one.
    pub(crate) fn of_sub_agent(
        tree: &Arc<AgentTree>,
        activity: ActivityGuard,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { tree: Arc::clone(tree), needs_slot: true, slot, activity: Some(activity) }
    }

    /// Waits until the agent may work.
    pub(crate) async fn acquire(&mut self, cancel: &CancellationToken) -> Result<(), RunStop> {
        if self.activity.is_none() {
            self.activity = Some(self.tree.activity.begin());
        }
        if self.needs_slot && self.slot.is_none() {
            let slot = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(RunStop::Cancelled),
                slot = Arc::clone(self.tree.slots()).acquire_owned() => slot,
            };
            // The semaphore is never closed.
            self.slot = slot.ok();
        }
        Ok(())
    }

    /// Releases the slot while sub-agents work for this agent.
    pub(crate) fn release_slot(&mut self) {
        self.slot = None;
    }

    /// Releases everything: the agent waits and does not count as active.
    pub(crate) fn release(&mut self) {
        self.slot = None;
        self.activity = None;
    }

    /// Continues with the guard of an agent that has just finished, unless this agent is active already.
    pub(crate) fn adopt(&mut self, activity: Option<ActivityGuard>) {
        if self.activity.is_none() {
            self.activity = activity;
        }
    }

    /// The guard, for the agent that reads the result.
    pub(crate) fn into_activity(self) -> Option<ActivityGuard> {
        self.activity
    }
}
