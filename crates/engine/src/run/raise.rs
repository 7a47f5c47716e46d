//! Questions of sub-agents, raised into the main agent's message: a stock client can answer only what stands there.
//!
//! The question itself belongs to the sub-agent's message. What is written into the main message is a copy, in a step
//! of its own, that follows the original: asked, answered, settled.

use std::collections::HashMap;

use protocol::{ApprovalId, MessageId, SessionEvent, ToolCall, ToolCallId, ToolOutcome};
use serde_json::Value;
use tokio::sync::mpsc;

/// What happened to a question of a sub-agent.
pub(crate) enum Raised {
    Asked { approval: ApprovalId, call: ToolCall, from: MessageId, agent: String },
    Edited { approval: ApprovalId, input: Value },
    Answered { approval: ApprovalId, approved: bool, reason: Option<String>, withdrawn: bool },
    Settled { approval: ApprovalId, outcome: ToolOutcome },
}

/// Follows what a sub-agent writes, and raises its questions.
#[derive(Clone)]
pub(crate) struct Mirror {
    to: mpsc::Sender<Box<Raised>>,
    agent: String,
    asked: HashMap<ToolCallId, ApprovalId>,
}

impl Mirror {
    /// `asked` are the questions that were raised before.
    pub(crate) fn new(
        to: mpsc::Sender<Box<Raised>>,
        agent: &str,
        asked: HashMap<ToolCallId, ApprovalId>,
    ) -> Self {
        Self { to, agent: agent.to_owned(), asked }
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

    pub(crate) async fn send(&self, raised: Vec<Raised>) {
        for raised in raised {
            // The main agent is gone only when its run is, and then nobody can answer any more.
            drop(self.to.send(Box::new(raised)).await);
        }
    }
}
