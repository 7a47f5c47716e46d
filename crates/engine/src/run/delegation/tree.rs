//! What the frames of one run share: the slots, who is at work, who waits for a person, and how each can be reached.
//!
//! - At most a few sub-agents work at once. One that waits, for its own sub-agents or for a person, holds no slot, so
//!   that one slot is enough for any depth.
//! - A run parks when nobody in it is at work: `busy` counts those who are. It never dips to zero while a result is on
//!   its way, because results carry their sender's [`Busy`].

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use protocol::{ApprovalId, FrameParent, MessageId, SessionId, ToolCallId, ToolOutcome, ToolState};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{call_tools::LiveAnswer, drive::RunStop, frame::Frame, grants::Grants, hub::Hub, raise::Raised};

use crate::EngineError;

/// Sub-agents of one session that work at the same time, and that wait for their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    pub running: usize,
    pub queued: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { running: 4, queued: 64 }
    }
}

pub(crate) struct Tree {
    pub(crate) root: MessageId,
    pub(crate) limits: TreeLimits,
    pub(crate) hub: Hub,
    pub(crate) grants: Grants,
    pub(crate) raised: mpsc::Sender<Box<Raised>>,
    slots: Arc<Semaphore>,
    parking: CancellationToken,
    endings: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    busy: usize,
    queued: usize,
    /// Whether there ever was a sub-agent.
    grown: bool,
    frames: HashMap<MessageId, Handle>,
    asked: HashMap<ApprovalId, mpsc::Sender<Box<LiveAnswer>>>,
    steered: HashMap<MessageId, Vec<String>>,
    revived: HashMap<(MessageId, ToolCallId), Revived>,
    orphans: Vec<Frame>,
    /// How many agents of a frame work in the background.
    background: HashMap<MessageId, usize>,
    /// Frames that wait for those they started in the background.
    listening: HashMap<MessageId, usize>,
    /// Open questions of frames that are about to go on, and answers that came before they did.
    expected: HashMap<ApprovalId, Option<LiveAnswer>>,
    /// Background agents that have ended, until their caller is told; each holds the run up till then.
    ended: HashMap<SessionId, Ended>,
}

struct Ended {
    parent: MessageId,
    outcome: ToolOutcome,
    busy: Option<Busy>,
}

/// How a sub-agent at work is reached.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) chat: SessionId,
    /// Who delegated to it.
    pub(crate) parent: MessageId,
    pub(crate) cancel: CancellationToken,
    /// Its result, for those that work in the background.
    pub(crate) result: watch::Receiver<Option<ToolOutcome>>,
}

/// A frame as the log left it.
pub(crate) struct Revived {
    pub(crate) frame: Frame,
    pub(crate) parent: FrameParent,
}

/// How many raised questions may be on their way to the main agent's message.
pub(crate) const RAISED: usize = 64;

impl Tree {
    pub(crate) fn new(
        root: MessageId,
        limits: TreeLimits,
        grants: Grants,
        hub: Hub,
        raised: mpsc::Sender<Box<Raised>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            root,
            limits,
            hub,
            grants,
            raised,
            slots: Arc::new(Semaphore::new(limits.running)),
            parking: CancellationToken::new(),
            endings: watch::Sender::new(0),
            state: Mutex::default(),
        })
    }

    /// Somebody is at work from now on.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.state.lock().busy += 1;
        Busy(Arc::clone(self))
    }

    /// Whether there are, or were, sub-agents.
    pub(crate) fn is_grown(&self) -> bool {
        self.state.lock().grown
    }

    pub(crate) fn enter(&self, message: &MessageId, handle: Handle) {
        let mut state = self.state.lock();
        state.grown = true;
        state.frames.insert(message.clone(), handle);
    }

    pub(crate) fn leave(&self, message: &MessageId) {
        let mut state = self.state.lock();
        state.frames.remove(message);
        state.steered.remove(message);
    }

    pub(crate) fn by_chat(&self, chat: &str) -> Option<(MessageId, Handle)> {
        let state = self.state.lock();
        let found = state.frames.iter().find(|(_, handle)| handle.chat.as_str() == chat);
        found.map(|(message, handle)| (message.clone(), handle.clone()))
    }

    /// Something said to an agent at work; `false` when it has ended.
    pub(crate) fn steer(&self, message: &MessageId, text: String) -> bool {
        let mut state = self.state.lock();
        if *message != self.root && !state.frames.contains_key(message) {
            return false;
        }
        state.steered.entry(message.clone()).or_default().push(text);
        true
    }

    pub(crate) fn take_steered(&self, message: &MessageId) -> Vec<String> {
        let mut state = self.state.lock();
        if state.steered.is_empty() { Vec::new() } else { state.steered.remove(message).unwrap_or_default() }
    }

    /// Answers to this question go to the frame behind `answers`.
    pub(crate) fn asked(self: &Arc<Self>, approval: ApprovalId, answers: &mpsc::Sender<Box<LiveAnswer>>) {
        let mut state = self.state.lock();
        let early = state.expected.remove(&approval).flatten();
        state.asked.insert(approval, answers.clone());
        drop(state);
        if let Some(answer) = early
            && let Err(Undelivered::NotAsked(answer) | Undelivered::Parking(answer)) = self.deliver(answer)
        {
            drop(answer.reply.send(Err(EngineError::Busy)));
        }
    }

    /// Hands an answer to the frame that asked; gives it back when nobody here did, or when the run is parking.
    pub(crate) fn deliver(self: &Arc<Self>, mut answer: LiveAnswer) -> Result<(), Undelivered> {
        let mut state = self.state.lock();
        let Some(answers) = state.asked.get(&answer.approval).cloned() else {
            return match state.expected.get_mut(&answer.approval) {
                Some(early @ None) => {
                    *early = Some(answer);
                    Ok(())
                }
                _ => Err(Undelivered::NotAsked(Box::new(answer))),
            };
        };
        if self.parking.is_cancelled() {
            return Err(Undelivered::Parking(Box::new(answer)));
        }
        state.busy += 1;
        drop(state);
        answer.busy = Some(Busy(Arc::clone(self)));
        // The address stays: the same answer a second time goes the same way, and is found to be there already.
        answers.try_send(Box::new(answer)).map_err(|undelivered| match undelivered {
            mpsc::error::TrySendError::Full(answer) | mpsc::error::TrySendError::Closed(answer) => {
                Undelivered::Parking(answer)
            }
        })
    }

    pub(crate) async fn parking(&self) {
        self.parking.cancelled().await;
    }

    pub(crate) fn revive(&self, frames: Vec<Revived>) {
        let mut state = self.state.lock();
        for revived in frames {
            state.grown = true;
            for (_, _, call) in revived.frame.own_open_calls() {
                if let ToolState::ApprovalRequested { approval, .. } = call {
                    state.expected.insert(approval, None);
                }
            }
            let key = (revived.parent.message.clone(), revived.parent.call.clone());
            state.revived.insert(key, revived);
        }
    }

    pub(crate) fn take_revived(&self, message: &MessageId, call: &ToolCallId) -> Option<Revived> {
        self.state.lock().revived.remove(&(message.clone(), call.clone()))
    }

    /// Background agents of this frame that a restart interrupted.
    pub(crate) fn take_background(&self, message: &MessageId) -> Vec<Revived> {
        let mut state = self.state.lock();
        let keys: Vec<_> = state
            .revived
            .iter()
            .filter(|((parent, _), revived)| parent == message && revived.parent.background)
            .map(|(key, _)| key.clone())
            .collect();
        keys.iter().filter_map(|key| state.revived.remove(key)).collect()
    }

    /// The agents this frame delegated to that are still at work.
    pub(crate) fn below(&self, message: &MessageId) -> Vec<(MessageId, Handle)> {
        let state = self.state.lock();
        let below = state.frames.iter().filter(|(_, handle)| handle.parent == *message);
        below.map(|(message, handle)| (message.clone(), handle.clone())).collect()
    }

    /// A slot if there is a free one, else a place in the queue; an error when that is full. One that goes on always
    /// finds a place.
    pub(crate) fn queue(self: &Arc<Self>, goes_on: bool) -> Result<Place, usize> {
        let mut state = self.state.lock();
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(Place::Slot(slot));
        }
        if state.queued >= self.limits.queued && !goes_on {
            return Err(self.limits.queued);
        }
        state.queued += 1;
        Ok(Place::Queued(Queued(Arc::clone(self))))
    }

    /// A background agent has ended: its result waits for its caller.
    pub(crate) fn end(&self, chat: SessionId, parent: MessageId, outcome: ToolOutcome, busy: Option<Busy>) {
        let mut state = self.state.lock();
        // A result on its way counts as work only while somebody listens for it.
        let (kept, dropped) = if state.listening.contains_key(&parent) { (busy, None) } else { (None, busy) };
        state.less_background(&parent);
        state.ended.insert(chat, Ended { parent, outcome, busy: kept });
        drop(state);
        drop(dropped);
        self.endings.send_modify(|count| *count += 1);
    }

    /// An agent of this frame works in the background from now on.
    pub(crate) fn start_background(&self, parent: &MessageId) {
        *self.state.lock().background.entry(parent.clone()).or_default() += 1;
    }

    /// It left memory without a result.
    pub(crate) fn stop_background(&self, parent: &MessageId) {
        self.state.lock().less_background(parent);
    }

    pub(crate) fn has_background(&self, parent: &MessageId) -> bool {
        self.state.lock().background.contains_key(parent)
    }

    /// This frame waits for those it started in the background, as long as the guard lives.
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
        let dropped: Vec<Busy> = ended.filter_map(|ended| ended.busy.take()).collect();
        drop(state);
        drop(dropped);
    }

    /// What the results of this frame's background agents hold, but for those it waits for by name.
    pub(crate) fn take_guards(&self, parent: &MessageId, but: &[String]) -> Vec<Busy> {
        let mut state = self.state.lock();
        let ended = state.ended.iter_mut();
        let others = ended
            .filter(|(chat, ended)| ended.parent == *parent && !but.iter().any(|one| one == chat.as_str()));
        others.filter_map(|(_, ended)| ended.busy.take()).collect()
    }

    pub(crate) fn watch_ended(&self) -> watch::Receiver<u64> {
        self.endings.subscribe()
    }

    pub(crate) fn take_ended(&self, chat: &str) -> Option<(ToolOutcome, Option<Busy>)> {
        let ended = self.state.lock().ended.remove(&SessionId::new(chat));
        ended.map(|ended| (ended.outcome, ended.busy))
    }

    /// What ended in the background without its caller having been told.
    pub(crate) fn take_untold(&self, parent: &MessageId) -> Vec<(String, ToolOutcome, Option<Busy>)> {
        let mut state = self.state.lock();
        let chats: Vec<SessionId> = state
            .ended
            .iter()
            .filter(|(_, ended)| ended.parent == *parent)
            .map(|(chat, _)| chat.clone())
            .collect();
        let mut untold: Vec<_> = chats
            .iter()
            .filter_map(|chat| state.ended.remove_entry(chat))
            .map(|(chat, ended)| (chat.to_string(), ended.outcome, ended.busy))
            .collect();
        untold.sort_by(|a, b| a.0.cmp(&b.0));
        untold
    }

    /// Frames that waited for a person when the run was stopped: whoever ends the run closes them.
    pub(crate) fn orphan(&self, frames: &mut Vec<Frame>) {
        self.state.lock().orphans.append(frames);
    }

    pub(crate) fn take_orphans(&self) -> Vec<Frame> {
        std::mem::take(&mut self.state.lock().orphans)
    }

    fn rest(&self) {
        let mut state = self.state.lock();
        state.busy -= 1;
        if state.busy == 0 {
            self.parking.cancel();
        }
    }
}

impl State {
    fn less_background(&mut self, parent: &MessageId) {
        if let Some(count) = self.background.get_mut(parent) {
            *count -= 1;
            if *count == 0 {
                self.background.remove(parent);
            }
        }
    }
}

pub(crate) enum Undelivered {
    NotAsked(Box<LiveAnswer>),
    /// The run is about to leave memory, or the asking frame to end: answer it afterwards.
    Parking(Box<LiveAnswer>),
}

/// A frame waits for those it started in the background.
pub(crate) struct Listening {
    tree: Arc<Tree>,
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
    Queued(Queued),
}

/// A place in the queue.
pub(crate) struct Queued(Arc<Tree>);

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.state.lock().queued -= 1;
    }
}

/// Somebody is at work.
pub(crate) struct Busy(Arc<Tree>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.rest();
    }
}

/// Where a frame works from: its share of the run's attention. The main agent needs no slot.
pub(crate) struct Seat {
    tree: Arc<Tree>,
    needs_slot: bool,
    slot: Option<OwnedSemaphorePermit>,
    busy: Option<Busy>,
}

impl Seat {
    pub(crate) fn new(tree: &Arc<Tree>, busy: Busy, needs_slot: bool) -> Self {
        Self { tree: Arc::clone(tree), needs_slot, slot: None, busy: Some(busy) }
    }

    /// With the slot that was free when it began.
    pub(crate) fn with_slot(mut self, slot: Option<OwnedSemaphorePermit>) -> Self {
        self.slot = slot;
        self
    }

    /// At work, with a slot.
    pub(crate) async fn sit(&mut self, cancel: &CancellationToken) -> Result<(), RunStop> {
        if self.busy.is_none() {
            self.busy = Some(self.tree.busy());
        }
        if self.needs_slot && self.slot.is_none() {
            let slot = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(RunStop::Cancelled),
                slot = Arc::clone(&self.tree.slots).acquire_owned() => slot,
            };
            // The semaphore is never closed.
            self.slot = slot.ok();
        }
        Ok(())
    }

    /// Others work for this frame: somebody else may have the slot.
    pub(crate) fn give_slot(&mut self) {
        self.slot = None;
    }

    /// Only others are at work, or nobody.
    pub(crate) fn rest(&mut self) {
        self.slot = None;
        self.busy = None;
    }

    /// Takes over the attention of somebody who has just finished.
    pub(crate) fn take_over(&mut self, busy: Option<Busy>) {
        if self.busy.is_none() {
            self.busy = busy;
        }
    }

    /// Hands the attention on to whoever reads the result.
    pub(crate) fn hand_on(mut self) -> Option<Busy> {
        self.busy.take()
    }
}
