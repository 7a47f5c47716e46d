//! Writes questions to a person into a frame, its own or copies of those of a sub-agent.

use std::collections::BTreeMap;

use protocol::{
    ApprovalId, FoldError, IdSource, MessageFacts, MessageId, Question, RaisedCall, SessionEvent, ToolCall,
    ToolCallId,
};

use super::Frame;

impl Frame {
    pub(crate) fn ask(
        &mut self,
        approval: ApprovalId,
        call: ToolCall,
        question: Box<Question>,
    ) -> Result<(), FoldError> {
        let (message, question) = (self.id(), Some(question));
        self.put(SessionEvent::ApprovalAsked { message, approval, call, question, raised: false })
    }

    /// Writes a copy of a sub-agent's question in a step of its own. The call gets another id if its own is used here
    /// already.
    pub(crate) fn raise(
        &mut self,
        approval: ApprovalId,
        mut call: ToolCall,
        from: &MessageId,
        agent: &str,
        ids: &dyn IdSource,
    ) -> Result<(), FoldError> {
        self.finish_step()?;
        let original = call.id.clone();
        if self.calls.contains(&call.id) {
            call.id = ids.tool_call();
        }
        let raised =
            RaisedCall { agent_name: agent.to_owned(), message_id: from.clone(), tool_call_id: original };
        let raised_calls = BTreeMap::from([(call.id.clone(), raised)]);
        self.note(MessageFacts { raised_calls, ..MessageFacts::default() })?;
        self.request(call.clone(), None)?;
        let message = self.id();
        // The question is stored with the original.
        self.put(SessionEvent::ApprovalAsked { message, approval, call, question: None, raised: true })?;
        self.finish_step()
    }

    /// The call in this message that is the copy of a sub-agent's question.
    pub(crate) fn raised_call(&self, approval: &ApprovalId) -> Option<ToolCallId> {
        self.raised.get(approval).cloned()
    }

    pub(crate) fn answer(
        &mut self,
        approval: ApprovalId,
        approved: bool,
        reason: Option<String>,
        withdrawn: bool,
    ) -> Result<(), FoldError> {
        let message = self.id();
        let raised = self.raised.contains_key(&approval);
        self.put(SessionEvent::ApprovalAnswered { message, approval, approved, reason, withdrawn, raised })
    }
}
