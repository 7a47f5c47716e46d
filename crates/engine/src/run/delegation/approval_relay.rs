//! Relays the approvals of sub-agents to the main agent's message: a stock client can answer only what that message
//! shows.
//!
//! The question itself belongs to the sub-agent's message. The main message shows a copy, in a step of its own, that
//! follows the original: asked, answered, settled.

use std::collections::HashMap;

use protocol::{
    ApprovalId, FoldError, IdSource, InteractionKind, MessageId, SessionEvent, ToolCall, ToolCallId,
    ToolOutcome,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::run::frame::{Answered, Frame};

/// What happened to an approval of a sub-agent.
pub(crate) enum RelayedApproval {
    Asked { approval: ApprovalId, call: ToolCall, kind: InteractionKind, from: MessageId, agent: String },
    Edited { approval: ApprovalId, input: Value },
    Answered { approval: ApprovalId, answer: Answered },
    Settled { approval: ApprovalId, outcome: ToolOutcome },
}

/// Selects from a sub-agent's events those that the main agent's message must show as well.
#[derive(Clone, Default)]
pub(crate) struct ApprovalSelector {
    agent: String,
    asked: HashMap<ToolCallId, ApprovalId>,
}

impl ApprovalSelector {
    pub(crate) fn new(agent: &str) -> Self {
        Self { agent: agent.to_owned(), asked: HashMap::new() }
    }

    /// The approvals among these events.
    pub(crate) fn select(&mut self, events: &[SessionEvent]) -> Vec<RelayedApproval> {
        let mut selected = Vec::new();
        for event in events {
            match event {
                SessionEvent::ApprovalAsked { message, approval, call, kind, raised: false, .. } => {
                    self.asked.insert(call.id.clone(), approval.clone());
                    selected.push(RelayedApproval::Asked {
                        approval: approval.clone(),
                        call: call.clone(),
                        kind: *kind,
                        from: message.clone(),
                        agent: self.agent.clone(),
                    });
                }
                SessionEvent::ApprovalAnswered {
                    approval,
                    approved,
                    reason,
                    withdrawn,
                    answers,
                    by,
                    raised: false,
                    ..
                } => {
                    let (reason, answers) = (reason.clone(), answers.clone());
                    let (approved, withdrawn, by) = (*approved, *withdrawn, *by);
                    let answer = Answered { approved, reason, withdrawn, answers, by };
                    selected.push(RelayedApproval::Answered { approval: approval.clone(), answer });
                }
                SessionEvent::InputEdited { approval, input, raised: false, .. } => {
                    selected
                        .push(RelayedApproval::Edited { approval: approval.clone(), input: input.clone() });
                }
                SessionEvent::ToolSettled { call, outcome, .. } => {
                    if let Some(approval) = self.asked.remove(call) {
                        selected.push(RelayedApproval::Settled { approval, outcome: outcome.clone() });
                    }
                }
                _ => {}
            }
        }
        selected
    }
}

/// A sub-agent's connection to the main agent's message.
#[derive(Clone)]
pub(crate) struct ApprovalRelay {
    to: mpsc::Sender<Box<RelayedApproval>>,
    selector: ApprovalSelector,
}

impl ApprovalRelay {
    /// `asked` are the open questions that were relayed before.
    pub(crate) fn new(
        to: mpsc::Sender<Box<RelayedApproval>>,
        agent: &str,
        asked: HashMap<ToolCallId, ApprovalId>,
    ) -> Self {
        Self { to, selector: ApprovalSelector { agent: agent.to_owned(), asked } }
    }

    pub(crate) fn select(&mut self, events: &[SessionEvent]) -> Vec<RelayedApproval> {
        self.selector.select(events)
    }

    pub(crate) async fn send(&self, relayed: Vec<RelayedApproval>) {
        for relayed in relayed {
            // The main agent has gone only if its run has ended, and then nobody can answer any more.
            drop(self.to.send(Box::new(relayed)).await);
        }
    }
}

/// Approvals that sub-agents wrote and the main agent's message does not show yet, because a crash came in between.
#[derive(Default)]
pub(crate) struct UnshownApprovals {
    selectors: HashMap<MessageId, ApprovalSelector>,
    relayed: Vec<RelayedApproval>,
}

impl UnshownApprovals {
    /// Applies an event of a sub-agent.
    pub(crate) fn sub_agent_event(&mut self, message: &MessageId, event: &SessionEvent) {
        if let SessionEvent::FrameOpened { metadata, .. } = event {
            let agent = metadata.agent_name.as_deref().unwrap_or_default();
            self.selectors.insert(message.clone(), ApprovalSelector::new(agent));
        }
        if let Some(selector) = self.selectors.get_mut(message) {
            self.relayed.extend(selector.select(std::slice::from_ref(event)));
        }
    }

    /// Applies an event of the main agent, whose frame this is.
    pub(crate) fn main_event(&mut self, frame: &Frame, event: &SessionEvent) {
        self.relayed.retain(|relayed| match (relayed, event) {
            (
                RelayedApproval::Asked { approval, .. },
                SessionEvent::ApprovalAsked { approval: shown, .. },
            )
            | (
                RelayedApproval::Answered { approval, .. },
                SessionEvent::ApprovalAnswered { approval: shown, .. },
            ) => approval != shown,
            (RelayedApproval::Edited { approval, .. }, SessionEvent::InputEdited { approval: shown, .. }) => {
                approval != shown
            }
            (RelayedApproval::Settled { approval, .. }, SessionEvent::ToolSettled { call, .. }) => {
                frame.raised_call(approval).as_ref() != Some(call)
            }
            _ => true,
        });
    }

    /// Writes them into the main agent's message.
    pub(crate) fn show(&mut self, frame: &mut Frame, ids: &dyn IdSource) -> Result<(), FoldError> {
        self.relayed.drain(..).try_for_each(|relayed| relayed.show(frame, ids))
    }
}

impl RelayedApproval {
    /// Writes the approval into the main agent's message.
    pub(crate) fn show(self, frame: &mut Frame, ids: &dyn IdSource) -> Result<(), FoldError> {
        match self {
            Self::Asked { approval, call, kind, from, agent } => {
                frame.raise(approval, call, kind, &from, &agent, ids)
            }
            Self::Edited { approval, input } => match frame.raised_call(&approval) {
                Some(_) => frame.edit_input(&approval, input),
                None => Ok(()),
            },
            Self::Answered { approval, answer } => match frame.raised_call(&approval) {
                Some(_) => frame.answer(approval, answer),
                None => Ok(()),
            },
            Self::Settled { approval, outcome } => match frame.raised_call(&approval) {
                Some(call) => frame.settle(&call, outcome),
                None => Ok(()),
            },
        }
    }
}
