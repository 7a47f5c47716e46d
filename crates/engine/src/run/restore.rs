//! Rebuilds a run from the log: after an answer, after a stop, after a crash.
//!
//! Calls with a result never run again. A read-only call without one may; a call with side effects and without a result
//! is reported to the model as unknown.

use std::{collections::HashMap, sync::Arc};

use protocol::{
    AnsweredBy, FoldError, FrameEnd, FrameParent, LogEntry, MessageId, SessionEvent, ToolCallId, ToolOutcome,
    ToolState, UiMessage,
};
use store::{RunRecord, SessionKey, Store, StoreError};
use tools::Executor;

use super::{
    delegation::{approval_relay::UnshownApprovals, hub::Hub, tree::RestoredAgent},
    frame::Frame,
    tool_calls::plan::Cause,
};
use crate::{
    agents::tool_set::ToolSet,
    session::{request::ClientOutput, runner::AnsweredApproval},
};

const READ_BYTES: usize = 1 << 20;

/// A run as the log left it: the main agent's frame, and those of sub-agents whose result their caller does not have.
pub(crate) struct RestoredRun {
    pub(crate) frame: Frame,
    pub(crate) sub_agents: Vec<RestoredAgent>,
    /// Messages of sub-agents that were ended before the run is resumed.
    pub(crate) closed: Vec<UiMessage>,
    /// What its sub-agents know of each other.
    pub(crate) hub: Hub,
    pub(crate) unshown: UnshownApprovals,
}

impl RestoredRun {
    /// A run that begins: it has only its frame.
    pub(crate) fn new(frame: Frame) -> Self {
        Self {
            frame,
            sub_agents: Vec::new(),
            closed: Vec::new(),
            hub: Hub::default(),
            unshown: UnshownApprovals::default(),
        }
    }

    /// Writes an answer where the question is: in the frame that asked, and in the main agent's if it shows a copy.
    pub(crate) fn answer(&mut self, answered: &AnsweredApproval) -> Result<(), FoldError> {
        let AnsweredApproval { approval, decision } = answered;
        let asks = |frame: &Frame| frame.waits_for(approval, &frame.open_calls());
        for sub_agent in self.sub_agents.iter_mut().filter(|sub_agent| asks(&sub_agent.frame)) {
            sub_agent.frame.decide(approval.clone(), decision.clone())?;
        }
        self.frame.decide(approval.clone(), decision.clone())
    }

    /// Keeps, of the outputs that a client sent, those that a front-end tool is really waiting for.
    pub(crate) fn retain_expected(&self, outputs: &mut Vec<ClientOutput>, tools: &ToolSet) {
        let open = self.frame.own_open_calls();
        outputs.retain(|output| {
            open.iter().any(|(call, tool, state)| {
                *call == output.call
                    && matches!(state, ToolState::InputAvailable { .. })
                    && tools.get(tool).is_some_and(|tool| tool.executor() == Executor::Client)
            })
        });
    }

    pub(crate) fn settle_outputs(&mut self, outputs: Vec<ClientOutput>) -> Result<(), FoldError> {
        outputs.into_iter().try_for_each(|output| {
            let outcome = match output.result {
                Ok(output) => ToolOutcome::Done { output },
                Err(message) => ToolOutcome::Failed { message },
            };
            self.frame.settle(&output.call, outcome)
        })
    }

    /// Ends a sub-agent and its own sub-agents; their questions are withdrawn from the main agent's message.
    pub(crate) fn stop_sub_agent(&mut self, message: &MessageId) -> Result<(), FoldError> {
        const WHY: &str = "the sub-agent was stopped";
        let below: Vec<MessageId> = self
            .sub_agents
            .iter()
            .filter(|sub_agent| sub_agent.parent.message == *message)
            .map(|sub_agent| sub_agent.frame.message().id.clone())
            .collect();
        for below in below {
            self.stop_sub_agent(&below)?;
        }
        let is_meant = |sub_agent: &&mut RestoredAgent| sub_agent.frame.message().id == *message;
        let Some(stopped) = self.sub_agents.iter_mut().find(is_meant) else { return Ok(()) };
        let asked = stopped.frame.own_pending_questions();
        stopped.frame.close(FrameEnd::Cancelled)?;
        self.closed.push(stopped.frame.message().clone());
        for approval in asked {
            if let Some(call) = self.frame.raised_call(&approval) {
                self.frame.withdraw(approval, &call, WHY, AnsweredBy::Server)?;
            }
        }
        Ok(())
    }
}

pub(crate) async fn restore(
    store: &Arc<dyn Store>,
    key: SessionKey,
    run: &RunRecord,
) -> Result<RestoredRun, StoreError> {
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
    let sub_agents = frames.below.into_values().collect();
    Ok(RestoredRun { sub_agents, hub: frames.hub, unshown: frames.unshown, ..RestoredRun::new(frames.root) })
}

/// Whether this is an ended background agent of `message`.
fn is_ended_of(restored: &RestoredAgent, message: &MessageId) -> bool {
    restored.parent.background && restored.parent.message == *message && restored.frame.is_closed()
}

struct Frames {
    root: Frame,
    below: HashMap<MessageId, RestoredAgent>,
    hub: Hub,
    unshown: UnshownApprovals,
}

impl Frames {
    fn new(root: MessageId) -> Self {
        let (hub, unshown) = (Hub::default(), UnshownApprovals::default());
        Self { root: Frame::new(root), below: HashMap::new(), hub, unshown }
    }

    fn apply(&mut self, entry: &LogEntry) -> Result<(), FoldError> {
        let event = &entry.event;
        let Some(message) = event.message() else { return Ok(()) };
        if let SessionEvent::FrameOpened { parent: Some(parent), .. } = event {
            let restored = RestoredAgent {
                frame: Frame::new(message.clone()),
                parent: FrameParent::clone(parent),
                cause: Cause::Person,
            };
            self.below.insert(message.clone(), restored);
        }
        let below = self.below.get_mut(message);
        let is_root = below.is_none();
        let frame = below.map_or(&mut self.root, |restored| &mut restored.frame);
        frame.apply(event)?;
        self.hub.replay(event, frame, is_root, entry.at);
        if is_root {
            self.unshown.main_event(frame, event);
        } else {
            self.unshown.sub_agent_event(message, event);
        }
        if let SessionEvent::ToolSettled { call, .. } = event {
            self.settled(message, call);
        }
        if let Some(reported) = event.reported() {
            self.below.retain(|_, restored| {
                !is_ended_of(restored, message) || !reported.includes(&restored.parent.chat)
            });
        }
        Ok(())
    }

    fn settled(&mut self, message: &MessageId, call: &ToolCallId) {
        self.below.retain(|_, restored| {
            let it = restored.parent.message == *message && restored.parent.call == *call;
            !it || restored.parent.background
        });
    }
}
