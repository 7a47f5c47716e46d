//! Calls that have no result yet, and their results.

use protocol::{
    AnsweredBy, ApprovalId, FoldError, InteractionKind, SessionEvent, ToolCall, ToolCallId, ToolOutcome,
    ToolState, json::disarm,
};
use serde_json::{Value, json};

use super::{Answered, Frame};

impl Frame {
    /// The one result of a call. A second one is dropped; one for a call nobody announced is announced first.
    pub(crate) fn settle(&mut self, call: &ToolCallId, mut outcome: ToolOutcome) -> Result<(), FoldError> {
        self.close_segment()?;
        match self.is_settled(call) {
            Some(true) => return Ok(()),
            Some(false) => {}
            None => {
                let input = json!({});
                self.request(ToolCall { id: call.clone(), name: "unknown".to_owned(), input }, None)?;
            }
        }
        if let ToolOutcome::Done { output } = &mut outcome {
            disarm(output);
        }
        let message = self.id();
        if let Some(agent) = self.reports.remove(call) {
            let (message, agents) = (message.clone(), vec![agent]);
            self.put(SessionEvent::BackgroundReported { message, agents, note: None })?;
        }
        self.put(SessionEvent::ToolSettled { message, call: call.clone(), outcome })
    }

    /// Calls without a result, with what is known of them.
    pub(crate) fn open_calls(&self) -> Vec<(ToolCallId, String, ToolState)> {
        self.message()
            .tool_parts()
            .filter(|tool| !tool.state.is_settled())
            .map(|tool| (tool.call.clone(), tool.tool.clone(), tool.state.clone()))
            .collect()
    }

    /// Those that are this frame's own, not copies of a sub-agent's.
    pub(crate) fn own_open_calls(&self) -> Vec<(ToolCallId, String, ToolState)> {
        let mut calls = self.open_calls();
        calls.retain(|(call, _, _)| !self.raised.values().any(|raised| raised == call));
        calls
    }

    /// Gives every open call a result, and withdraws the questions among them on behalf of `by`.
    pub(crate) fn settle_open_calls(&mut self, why: &str, by: AnsweredBy) -> Result<(), FoldError> {
        for (call, tool, state) in self.open_calls() {
            if let Some(approval) = self.pending_question(&call, &state) {
                self.withdraw(approval, &call, why, by)?;
                continue;
            }
            match state {
                ToolState::InputStreaming { raw } => {
                    self.reject(&call, &tool, Value::String(raw), why.to_owned())?;
                }
                _ => self.settle(&call, ToolOutcome::Failed { message: why.to_owned() })?,
            }
        }
        Ok(())
    }

    /// Withdraws a question and settles its call.
    pub(crate) fn withdraw(
        &mut self,
        approval: ApprovalId,
        call: &ToolCallId,
        why: &str,
        by: AnsweredBy,
    ) -> Result<(), FoldError> {
        let outcome = match self.kind_of(&approval) {
            InteractionKind::Approval => ToolOutcome::Denied { reason: Some(why.to_owned()) },
            // Only what a person was asked to allow can be denied.
            InteractionKind::Input => ToolOutcome::Failed { message: why.to_owned() },
        };
        self.answer(approval, Answered::withdrawn(why, by))?;
        self.settle(call, outcome)
    }

    pub(super) fn is_settled(&self, call: &ToolCallId) -> Option<bool> {
        self.message().tool_parts().rfind(|tool| tool.call == *call).map(|tool| tool.state.is_settled())
    }
}
