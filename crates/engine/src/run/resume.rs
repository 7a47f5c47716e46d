//! A run that left memory comes back from the log: after an answer, after a stop, after a crash.
//!
//! Finished results are never run again; a read-only call may be; a call with side effects and no result is told
//! to the model as unknown.

use std::{collections::HashMap, sync::Arc};

use protocol::{
    FoldError, FrameParent, Grant, LogEntry, MessageId, SessionEvent, ToolCall, ToolCallId, ToolState,
    UiMessage,
};
use store::{RunRecord, SessionKey, Store, StoreError};
use tools::{Effect, Place, Registry};

use super::{
    frame::Frame,
    grants::{Grants, must_ask},
    hub::Hub,
    raise::Unshown,
    tree::Revived,
    turn::{Plan, PlannedCall},
};

const READ_BYTES: usize = 1 << 20;

/// Why a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A person answered, or asked to go on.
    Asked,
    /// The process that ran it is gone.
    Crashed,
}

/// A run as the log left it: the main agent's frame, and those of sub-agents whose result it does not have yet.
pub(crate) struct Rebuilt {
    pub(crate) frame: Frame,
    pub(crate) below: Vec<Revived>,
    /// What the person allowed for the rest of the session.
    pub(crate) grants: Vec<Grant>,
    /// Messages of frames that were ended while the run was out of memory.
    pub(crate) closed: Vec<UiMessage>,
    /// What its sub-agents know of each other.
    pub(crate) hub: Hub,
    /// Questions of sub-agents that the main agent's message does not show yet.
    pub(crate) unshown: Unshown,
}

impl Rebuilt {
    /// A run that begins: there is nothing but its frame.
    pub(crate) fn fresh(frame: Frame) -> Self {
        Self {
            frame,
            below: Vec::new(),
            grants: Vec::new(),
            closed: Vec::new(),
            hub: Hub::default(),
            unshown: Unshown::default(),
        }
    }
}

pub(crate) async fn rebuild(
    store: &Arc<dyn Store>,
    key: SessionKey,
    run: &RunRecord,
) -> Result<Rebuilt, StoreError> {
    let corrupt = |error: FoldError| StoreError::Corrupt(error.to_string());
    let mut frames = Frames::new(run.message.clone());
    let mut after = run.first_seq.saturating_sub(1);
    loop {
        let entries = store.read_log(key, after, READ_BYTES).await?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            frames.apply(entry).map_err(corrupt)?;
        }
    }
    let below = frames.below.into_values().collect();
    Ok(Rebuilt { below, hub: frames.hub, unshown: frames.unshown, ..Rebuilt::fresh(frames.root) })
}

/// Whether this is a background agent of `message` that has ended.
fn is_ended_of(revived: &Revived, message: &MessageId) -> bool {
    revived.parent.background && revived.parent.message == *message && revived.frame.is_closed()
}

struct Frames {
    root: Frame,
    below: HashMap<MessageId, Revived>,
    hub: Hub,
    unshown: Unshown,
}

impl Frames {
    fn new(root: MessageId) -> Self {
        let (hub, unshown) = (Hub::default(), Unshown::default());
        Self { root: Frame::new(root), below: HashMap::new(), hub, unshown }
    }

    fn apply(&mut self, entry: &LogEntry) -> Result<(), FoldError> {
        let event = &entry.event;
        let Some(message) = event.message() else { return Ok(()) };
        if let SessionEvent::FrameOpened { parent: Some(parent), .. } = event {
            let revived = Revived { frame: Frame::new(message.clone()), parent: FrameParent::clone(parent) };
            self.below.insert(message.clone(), revived);
        }
        let below = self.below.get_mut(message);
        let is_root = below.is_none();
        let frame = below.map_or(&mut self.root, |revived| &mut revived.frame);
        frame.apply(event)?;
        self.hub.replay(event, frame, is_root, entry.at);
        if is_root {
            self.unshown.root(frame, event);
        } else {
            self.unshown.below(message, event);
        }
        if let SessionEvent::ToolSettled { call, .. } = event {
            self.settled(message, call);
        }
        if let Some(reported) = event.reported() {
            self.below.retain(|_, revived| {
                !is_ended_of(revived, message) || !reported.includes(&revived.parent.chat)
            });
        }
        Ok(())
    }

    fn settled(&mut self, message: &MessageId, call: &ToolCallId) {
        self.below.retain(|_, revived| {
            let it = revived.parent.message == *message && revived.parent.call == *call;
            !it || revived.parent.background
        });
    }
}

/// What is to be done with each call that has no result.
pub(crate) fn plan(frame: &Frame, tools: &Registry, grants: &Grants, why: Why) -> Vec<PlannedCall> {
    frame
        .own_open_calls()
        .into_iter()
        .filter_map(|(id, name, state)| {
            let input = frame.edited(&id).or(state.input()).cloned().unwrap_or_default();
            let call = ToolCall { id, name, input };
            let plan = plan_one(&call, &state, tools, grants, why)?;
            Some(PlannedCall { call, plan })
        })
        .collect()
}

fn plan_one(call: &ToolCall, state: &ToolState, tools: &Registry, grants: &Grants, why: Why) -> Option<Plan> {
    let tool = tools.get(&call.name);
    let again = match (&tool, why) {
        (Some(tool), Why::Crashed) if tool.effect() == Effect::SideEffect => Plan::Unknown,
        (Some(_), _) => Plan::Run,
        (None, _) => Plan::Unknown,
    };
    Some(match state {
        ToolState::ApprovalRequested { .. } => Plan::Wait,
        ToolState::ApprovalResponded { approval, .. } if approval.approved == Some(true) => again,
        ToolState::ApprovalResponded { approval, .. } => Plan::Deny(approval.reason.clone()),
        ToolState::InputAvailable { .. } | ToolState::OutputAvailable { .. } => match tool {
            Some(tool) if tool.place() == Place::Client => Plan::Wait,
            Some(_) if must_ask(tools, grants, call) => Plan::Ask,
            _ => again,
        },
        ToolState::InputStreaming { .. } | ToolState::OutputError { .. } | ToolState::OutputDenied { .. } => {
            return None;
        }
    })
}
