//! Questions of sub-agents, raised into the main agent's message: a stock client can answer only what stands there.
//!
//! The question itself belongs to the sub-agent's message. What is written into the main message is a copy, in a step
//! of its own, that follows the original: asked, answered, settled.

use std::collections::HashMap;

use protocol::{ApprovalId, FoldError, IdSource, MessageId, SessionEvent, ToolCall, ToolCallId, ToolOutcome};
use serde_json::Value;
use tokio::sync::mpsc;

use super::frame::Frame;

/// What happened to a question of a sub-agent.
pub(crate) enum Raised {
    Asked { approval: ApprovalId, call: ToolCall, from: MessageId, agent: String },
    Edited { approval: ApprovalId, input: Value },
    Answered { approval: ApprovalId, approved: bool, reason: Option<String>, withdrawn: bool },
    Settled { approval: ApprovalId, outcome: ToolOutcome },
}

/// Follows what a sub-agent writes, and tells what of it is to be shown in the main agent's message as well.
#[derive(Clone, Default)]
pub(crate) struct Follower {
    agent: String,
    asked: HashMap<ToolCallId, ApprovalId>,
}

impl Follower {
    pub(crate) fn new(agent: &str) -> Self {
        Self { agent: agent.to_owned(), asked: HashMap::new() }
    }

    /// What of these events is to be raised.
    pub(crate) fn of(&mut self, events: &[SessionEvent]) -> Vec<Raised> {
        let mut raised = Vec::new();
        for event in events {
            match event {
                SessionEvent::ApprovalAsked { message, approval, call, raised: false } => {
                    self.asked.insert(call.id.clone(), approval.clone());
                    raised.push(Raised::Asked {
                        approval: approval.clone(),
                        call: call.clone(),
                        from: message.clone(),
                        agent: self.agent.clone(),
                    });
                }
                SessionEvent::ApprovalAnswered {
                    approval,
                    approved,
                    reason,
                    withdrawn,
                    raised: false,
                    ..
                } => {
                    raised.push(Raised::Answered {
                        approval: approval.clone(),
                        approved: *approved,
                        reason: reason.clone(),
                        withdrawn: *withdrawn,
                    });
                }
                SessionEvent::InputEdited { approval, input, raised: false, .. } => {
                    raised.push(Raised::Edited { approval: approval.clone(), input: input.clone() });
                }
                SessionEvent::ToolSettled { call, outcome, .. } => {
                    if let Some(approval) = self.asked.remove(call) {
                        raised.push(Raised::Settled { approval, outcome: outcome.clone() });
                    }
                }
                _ => {}
            }
        }
        raised
    }
}

/// A sub-agent's way to the main agent's message.
#[derive(Clone)]
pub(crate) struct Mirror {
    to: mpsc::Sender<Box<Raised>>,
    follower: Follower,
}

impl Mirror {
    /// `asked` are the questions that were raised before.
    pub(crate) fn new(
        to: mpsc::Sender<Box<Raised>>,
        agent: &str,
        asked: HashMap<ToolCallId, ApprovalId>,
    ) -> Self {
        Self { to, follower: Follower { agent: agent.to_owned(), asked } }
    }

    pub(crate) fn of(&mut self, events: &[SessionEvent]) -> Vec<Raised> {
        self.follower.of(events)
    }

    pub(crate) async fn send(&self, raised: Vec<Raised>) {
        for raised in raised {
            // The main agent is gone only when its run is, and then nobody can answer any more.
            drop(self.to.send(Box::new(raised)).await);
        }
    }
}

/// What sub-agents wrote and the main agent's message does not show: a crash may come between the two.
#[derive(Default)]
pub(crate) struct Unshown {
    followers: HashMap<MessageId, Follower>,
    raised: Vec<Raised>,
}

impl Unshown {
    /// A sub-agent's event.
    pub(crate) fn below(&mut self, message: &MessageId, event: &SessionEvent) {
        if let SessionEvent::FrameOpened { metadata, .. } = event {
            let agent = metadata.agent_name.as_deref().unwrap_or_default();
            self.followers.insert(message.clone(), Follower::new(agent));
        }
        if let Some(follower) = self.followers.get_mut(message) {
            self.raised.extend(follower.of(std::slice::from_ref(event)));
        }
    }

    /// An event of the main agent's message, whose frame this is.
    pub(crate) fn root(&mut self, frame: &Frame, event: &SessionEvent) {
        self.raised.retain(|raised| match (raised, event) {
            (Raised::Asked { approval, .. }, SessionEvent::ApprovalAsked { approval: shown, .. })
            | (Raised::Answered { approval, .. }, SessionEvent::ApprovalAnswered { approval: shown, .. }) => {
                approval != shown
            }
            (Raised::Edited { approval, .. }, SessionEvent::InputEdited { approval: shown, .. }) => {
                approval != shown
            }
            (Raised::Settled { approval, .. }, SessionEvent::ToolSettled { call, .. }) => {
                frame.raised_call(approval).as_ref() != Some(call)
            }
            _ => true,
        });
    }

    /// Makes up for it.
    pub(crate) fn show(&mut self, frame: &mut Frame, ids: &dyn IdSource) -> Result<(), FoldError> {
        self.raised.drain(..).try_for_each(|raised| raised.show(frame, ids))
    }
}

impl Raised {
    /// Writes it into the main agent's message.
    pub(crate) fn show(self, frame: &mut Frame, ids: &dyn IdSource) -> Result<(), FoldError> {
        match self {
            Self::Asked { approval, call, from, agent } => frame.raise(approval, call, &from, &agent, ids),
            Self::Edited { approval, input } => match frame.raised_call(&approval) {
                Some(_) => frame.edit_input(&approval, input),
                None => Ok(()),
            },
            Self::Answered { approval, approved, reason, withdrawn } => match frame.raised_call(&approval) {
                Some(_) => frame.answer(approval, approved, reason, withdrawn),
                None => Ok(()),
            },
            Self::Settled { approval, outcome } => match frame.raised_call(&approval) {
                Some(call) => frame.settle(&call, outcome),
                None => Ok(()),
            },
        }
    }
}
