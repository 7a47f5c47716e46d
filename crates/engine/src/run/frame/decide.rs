//! Writes a person's answer into a frame: the answer, a changed input, and what they allowed for the session.

use protocol::{ApprovalId, FoldError, SessionEvent, ToolCallId, ToolPart, json::disarm};
use serde_json::Value;

use super::{Answered, Frame};
use crate::mailbox::answer::{Decision, GivenGrant};

impl Frame {
    /// Writes a person's answer with everything in it. A copy of a sub-agent's question shows the answer too; the grant is
    /// written once, where the question was asked.
    pub(crate) fn decide(&mut self, approval: ApprovalId, decision: Decision) -> Result<(), FoldError> {
        let Decision { approved, reason, input, grant, answers, by, .. } = decision;
        if let Some(input) = input {
            self.edit_input(&approval, input)?;
        }
        if let Some(GivenGrant { rule, calls, scope }) = grant
            && !self.raised.contains_key(&approval)
        {
            let (message, approval) = (self.id(), approval.clone());
            let rule = Some(rule);
            self.put(SessionEvent::GrantGiven { message, approval, grant: calls, rule, scope })?;
        }
        self.answer(approval, Answered { approved, reason, withdrawn: false, answers, by: Some(by) })
    }

    pub(crate) fn edit_input(&mut self, approval: &ApprovalId, mut input: Value) -> Result<(), FoldError> {
        let asked = |tool: &&ToolPart| tool.state.approval().is_some_and(|asked| asked.id == *approval);
        let Some(call) = self.message().tool_parts().find(asked).map(|tool| tool.call.clone()) else {
            return Ok(());
        };
        disarm(&mut input);
        let (message, approval) = (self.id(), approval.clone());
        let raised = self.raised.contains_key(&approval);
        self.put(SessionEvent::InputEdited { message, approval, call, input, raised })
    }

    /// Whether this question was answered before in the same way.
    pub(crate) fn has_decided(&self, approval: &ApprovalId, decision: &Decision) -> bool {
        if let Some(is_same) = self.has_answered(approval, decision.answers.as_deref()) {
            return is_same;
        }
        self.message().tool_parts().any(|tool| {
            let given = tool.state.approval().filter(|given| given.id == *approval);
            given.and_then(|given| given.approved) == Some(decision.approved)
                && (decision.input.is_none() || decision.input.as_ref() == self.edited(&tool.call))
        })
    }

    /// The input that a person put in place of this call's, if they changed it.
    pub(crate) fn edited(&self, call: &ToolCallId) -> Option<&Value> {
        self.facts().edited_calls.get(call).map(|edited| &edited.input)
    }
}
