//! Calls that have no result yet, and their results.

use protocol::{FoldError, SessionEvent, ToolCall, ToolCallId, ToolOutcome, ToolState, json::disarm};
use serde_json::{Value, json};

use super::Frame;

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

    pub(crate) fn settle_open_calls(&mut self, why: &str) -> Result<(), FoldError> {
        for (call, tool, state) in self.open_calls() {
            match state {
                ToolState::InputStreaming { raw } => {
                    self.reject(&call, &tool, Value::String(raw), why.to_owned())?;
                }
                ToolState::ApprovalRequested { approval, .. } => {
                    self.answer(approval, false, Some(why.to_owned()), true)?;
                    self.settle(&call, ToolOutcome::Denied { reason: Some(why.to_owned()) })?;
                }
                _ => self.settle(&call, ToolOutcome::Failed { message: why.to_owned() })?,
            }
        }
        Ok(())
    }

    pub(super) fn is_settled(&self, call: &ToolCallId) -> Option<bool> {
        self.message().tool_parts().rfind(|tool| tool.call == *call).map(|tool| tool.state.is_settled())
    }
}
