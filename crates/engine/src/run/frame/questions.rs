//! Writes questions to a person into a frame, its own or copies of those of a sub-agent.

use std::collections::BTreeMap;

use protocol::{
    AnsweredBy, ApprovalId, FoldError, IdSource, InputAnswers, InteractionKind, MessageFacts, MessageId,
    Question, RaisedCall, SessionEvent, ToolCall, ToolCallId,
};

use super::Frame;

/// The answer to a question, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) approved: bool,
    pub(crate) reason: Option<String>,
    /// A new message, a stop or a failure made the question moot.
    pub(crate) withdrawn: bool,
    /// What the person filled in, for a request for input.
    pub(crate) answers: Option<Box<InputAnswers>>,
    pub(crate) by: Option<AnsweredBy>,
}

impl Answered {
    pub(crate) fn withdrawn(why: &str, by: AnsweredBy) -> Self {
        let reason = Some(why.to_owned());
        Self { approved: false, reason, withdrawn: true, answers: None, by: Some(by) }
    }
}

impl Frame {
    pub(crate) fn ask(
        &mut self,
        approval: ApprovalId,
        call: ToolCall,
        question: Box<Question>,
    ) -> Result<(), FoldError> {
        let kind = if question.form.is_some() { InteractionKind::Input } else { InteractionKind::Approval };
        let (message, question) = (self.id(), Some(question));
        self.put(SessionEvent::ApprovalAsked { message, approval, call, question, kind, raised: false })
    }

    /// Writes a copy of a sub-agent's question in a step of its own. The call gets another id if its own is used here
    /// already.
    pub(crate) fn raise(
        &mut self,
        approval: ApprovalId,
        mut call: ToolCall,
        kind: InteractionKind,
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
        self.put(SessionEvent::ApprovalAsked {
            message,
            approval,
            call,
            question: None,
            kind,
            raised: true,
        })?;
        self.finish_step()
    }

    /// The call in this message that is the copy of a sub-agent's question.
    pub(crate) fn raised_call(&self, approval: &ApprovalId) -> Option<ToolCallId> {
        self.raised.get(approval).cloned()
    }

    pub(crate) fn answer(&mut self, approval: ApprovalId, answer: Answered) -> Result<(), FoldError> {
        let message = self.id();
        let (raised, kind) = (self.raised.contains_key(&approval), self.kind_of(&approval));
        let Answered { approved, reason, withdrawn, answers, by } = answer;
        self.put(SessionEvent::ApprovalAnswered {
            message,
            approval,
            approved,
            reason,
            withdrawn,
            kind,
            answers,
            by,
            raised,
        })
    }
}
