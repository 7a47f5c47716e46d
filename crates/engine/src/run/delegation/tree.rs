//! What the agents of one run share: slots, activity, mailboxes, rules, and sub-agents that are resumed, queued or ended.
//!
//! At most a few sub-agents work at once. One that waits, for its own sub-agents or for a person, holds no slot, so that
//! one slot is enough for any depth.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use protocol::{FrameParent, MessageId, SessionId, ToolCallId, ToolOutcome};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::{approval_relay::RelayedApproval, hub::Hub};
use crate::{
    mailbox::{
        activity::{Activity, ActivityGuard},
        directory::AgentDirectory,
    },
    run::{frame::Frame, tool_calls::plan::Cause},
    session::rules::SessionRules,
    settings::SubAgentLimits,
};

/// How many relayed approvals may be on their way to the main agent.
pub(crate) const RELAYED: usize = 64;

pub(crate) struct AgentTree {
    pub(crate) agents: Arc<AgentDirectory>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) hub: Hub,
    pub(crate) rules: Arc<SessionRules>,
    /// Where sub-agents send approvals that the main agent's message must show.
    pub(crate) relayed: mpsc::Sender<Box<RelayedApproval>>,
    limits: SubAgentLimits,
    slots: Arc<Semaphore>,
    /// Counts the background agents that have ended.
    endings: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Sub-agents that are queued for a slot.
    queued: usize,
    /// Sub-agents that are to be resumed, by the call that started them.
    restored: HashMap<(MessageId, ToolCallId), RestoredAgent>,
    /// Frames that waited for a person when the run was stopped.
    orphans: Vec<Frame>,
    /// How many sub-agents of an agent work in the background.
    background: HashMap<MessageId, usize>,
    /// Agents that wait for their background agents.
    listening: HashMap<MessageId, usize>,
    /// Background agents that have ended and whose caller does not know it yet.
    ended: HashMap<SessionId, EndedAgent>,
}

/// A background agent that has ended.
pub(crate) struct EndedAgent {
    pub(crate) chat: SessionId,
    parent: MessageId,
    pub(crate) outcome: ToolOutcome,
    /// Keeps the run active until the caller has the result.
    pub(crate) activity: Option<ActivityGuard>,
}

/// A sub-agent as the log left it.
pub(crate) struct RestoredAgent {
    pub(crate) frame: Frame,
    pub(crate) parent: FrameParent,
    /// Why its run is resumed: decides what becomes of its calls without a result.
    pub(crate) cause: Cause,
}

impl AgentTree {
    pub(crate) fn new(
        main: MessageId,
        limits: SubAgentLimits,
        rules: Arc<SessionRules>,
        hub: Hub,
        relayed: mpsc::Sender<Box<RelayedApproval>>,
    ) -> Arc<Self> {
        let activity = Arc::new(Activity::default());
        Arc::new(Self {
            agents: Arc::new(AgentDirectory::new(main, Arc::clone(&activity))),
            activity,
            hub,
            rules,
            relayed,
            limits,
            slots: Arc::new(Semaphore::new(limits.running)),
            endings: watch::Sender::new(0),
            state: Mutex::default(),
        })
    }

    /// Keeps sub-agents that the log left unfinished until their caller resumes them.
    pub(crate) fn restore(&self, sub_agents: Vec<RestoredAgent>) {
        let mut state = self.state.lock();
        for restored in sub_agents {
            self.agents.expect(restored.frame.own_pending_questions());
            let key = (restored.parent.message.clone(), restored.parent.call.clone());
            state.restored.insert(key, restored);
        }
    }

    pub(crate) fn take_restored(&self, message: &MessageId, call: &ToolCallId) -> Option<RestoredAgent> {
        self.state.lock().restored.remove(&(message.clone(), call.clone()))
    }

    /// The background agents of this agent that are to be resumed.
    pub(crate) fn take_restored_background(&self, message: &MessageId) -> Vec<RestoredAgent> {
        let mut state = self.state.lock();
        let keys: Vec<_> = state
            .restored
            .iter()
            .filter(|((parent, _), restored)| parent == message && restored.parent.background)
            .map(|(key, _)| key.clone())
            .collect();
        keys.iter().filter_map(|key| state.restored.remove(key)).collect()
    }

    /// Takes a free slot, or else a place in the queue; the error is the limit of a full queue. A sub-agent that is
    /// resumed is always queued.
    pub(crate) fn queue(self: &Arc<Self>, is_resumed: bool) -> Result<Place, usize> {
        let mut state = self.state.lock();
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(Place::Slot(slot));
        }
        if state.queued >= self.limits.queued && !is_resumed {
            return Err(self.limits.queued);
        }
        state.queued += 1;
        Ok(Place::Queued(QueuedPlace(Arc::clone(self))))
    }

    /// Keeps the result of a background agent until its caller asks for it.
    pub(crate) fn end_background(
        &self,
        chat: SessionId,
        parent: MessageId,
        outcome: ToolOutcome,
        activity: Option<ActivityGuard>,
    ) {
        let mut state = self.state.lock();
        // A result that is on its way counts as work only while its caller waits for it.
        let is_awaited = state.listening.contains_key(&parent);
        let (activity, dropped) = if is_awaited { (activity, None) } else { (None, activity) };
        state.remove_background(&parent);
        let ended = EndedAgent { chat: chat.clone(), parent, outcome, activity };
        state.ended.insert(chat, ended);
        drop(state);
        drop(dropped);
        self.endings.send_modify(|count| *count += 1);
    }

    /// Counts one more background agent of this agent.
    pub(crate) fn start_background(&self, parent: &MessageId) {
        *self.state.lock().background.entry(parent.clone()).or_default() += 1;
    }

    /// A background agent parked: it left memory without a result.
    pub(crate) fn park_background(&self, parent: &MessageId) {
        self.state.lock().remove_background(parent);
    }

    pub(crate) fn has_background(&self, parent: &MessageId) -> bool {
        self.state.lock().background.contains_key(parent)
    }

    /// Marks an agent as waiting for its background agents, as long as the guard lives.
    pub(crate) fn listen(self: &Arc<Self>, message: &MessageId) -> Listening {
        *self.state.lock().listening.entry(message.clone()).or_default() += 1;
        Listening { tree: Arc::clone(self), message: message.clone() }
    }

    fn stop_listening(&self, message: &MessageId) {
        let mut state = self.state.lock();
        let Some(count) = state.listening.get_mut(message) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        state.listening.remove(message);
        let ended = state.ended.values_mut().filter(|ended| ended.parent == *message);
        let dropped: Vec<ActivityGuard> = ended.filter_map(|ended| ended.activity.take()).collect();
        drop(state);
        drop(dropped);
    }

    /// Takes the activity guards of this agent's ended background agents, except those in `but`.
    pub(crate) fn take_activity(&self, parent: &MessageId, but: &[String]) -> Vec<ActivityGuard> {
        let mut state = self.state.lock();
        let others = state
            .ended
            .values_mut()
            .filter(|ended| ended.parent == *parent && !but.iter().any(|one| one == ended.chat.as_str()));
        others.filter_map(|ended| ended.activity.take()).collect()
    }

    /// Changes whenever a background agent ends.
    pub(crate) fn watch_endings(&self) -> watch::Receiver<u64> {
        self.endings.subscribe()
    }

    pub(crate) fn take_ended(&self, chat: &str) -> Option<EndedAgent> {
        self.state.lock().ended.remove(&SessionId::new(chat))
    }

    /// Takes the background agents that have ended without their caller knowing it, in the order of their ids.
    pub(crate) fn take_unreported(&self, parent: &MessageId) -> Vec<EndedAgent> {
        let mut state = self.state.lock();
        let (mut unreported, other): (Vec<_>, HashMap<_, _>) = {
            let ended = std::mem::take(&mut state.ended);
            let (unreported, other): (HashMap<_, _>, HashMap<_, _>) =
                ended.into_iter().partition(|(_, ended)| ended.parent == *parent);
            (unreported.into_values().collect(), other)
        };
        state.ended = other;
        drop(state);
        unreported.sort_by(|a: &EndedAgent, b| a.chat.as_str().cmp(b.chat.as_str()));
        unreported
    }

    /// Keeps frames that waited for a person when the run was stopped; the end of the run closes them.
    pub(crate) fn add_orphans(&self, frames: &mut Vec<Frame>) {
        self.state.lock().orphans.append(frames);
    }

    pub(crate) fn take_orphans(&self) -> Vec<Frame> {
        std::mem::take(&mut self.state.lock().orphans)
    }
}

impl State {
    fn remove_background(&mut self, parent: &MessageId) {
        if let Some(count) = self.background.get_mut(parent) {
            *count -= 1;
            if *count == 0 {
                self.background.remove(parent);
            }
        }
    }
}

/// An agent waits for its background agents.
pub(crate) struct Listening {
    tree: Arc<AgentTree>,
    message: MessageId,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.tree.stop_listening(&self.message);
    }
}

/// What a sub-agent begins with.
pub(crate) enum Place {
    Slot(OwnedSemaphorePermit),
    Queued(QueuedPlace),
}

/// A place in the queue for a slot.
pub(crate) struct QueuedPlace(Arc<AgentTree>);

impl Drop for QueuedPlace {
    fn drop(&mut self) {
        self.0.state.lock().queued -= 1;
    }
}

impl AgentTree {
    pub(super) fn slots(&self) -> &Arc<Semaphore> {
        &self.slots
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
