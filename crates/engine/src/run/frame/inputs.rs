//! Requests for input in a frame. The message does not show them: their calls are left without an output, so what is open
//! is kept beside the message.

use protocol::{
    ApprovalId, InputAnswers, InputForm, InteractionKind, SessionEvent, ToolCallId, ToolState,
    user_input::declined_output,
};
use serde_json::Value;

use super::Frame;

/// A request for input that was made in this message.
pub(crate) struct InputRequest {
    call: ToolCallId,
    /// Absent in the copy of a sub-agent's request.
    form: Option<Box<InputForm>>,
    answer: Option<InputAnswer>,
}

/// What became of a request for input.
#[derive(Clone, Debug, PartialEq)]
enum InputAnswer {
    Given(Box<InputAnswers>),
    Declined(Option<String>),
}

/// Where the request of a call stands.
pub(crate) enum InputState {
    /// Nobody has answered it.
    Pending,
    /// It was answered or declined; this is the result of the call.
    Answered(Value),
}

impl Frame {
    /// Where the request for input of this call stands; `None` if the call is none.
    pub(crate) fn input_state(&self, call: &ToolCallId) -> Option<InputState> {
        let request = self.inputs.values().find(|request| request.call == *call)?;
        Some(match &request.answer {
            None => InputState::Pending,
            Some(InputAnswer::Declined(reason)) => InputState::Answered(declined_output(reason.as_deref())),
            Some(InputAnswer::Given(answers)) => InputState::Answered(match &request.form {
                Some(form) => form.output(answers),
                None => Value::Null,
            }),
        })
    }

    /// The question to a person that this call waits for, an approval or a request for input.
    pub(crate) fn pending_question(&self, call: &ToolCallId, state: &ToolState) -> Option<ApprovalId> {
        match state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.clone()),
            ToolState::InputAvailable { .. } => {
                let is_open = |request: &InputRequest| request.call == *call && request.answer.is_none();
                self.inputs.iter().find(|(_, request)| is_open(request)).map(|(approval, _)| approval.clone())
            }
            _ => None,
        }
    }

    /// The question that this call was asked about, answered or not.
    pub(crate) fn question_of(&self, call: &ToolCallId, state: &ToolState) -> Option<ApprovalId> {
        let asked = state.approval().map(|approval| approval.id);
        asked.or_else(|| {
            self.inputs
                .iter()
                .find(|(_, request)| request.call == *call)
                .map(|(approval, _)| approval.clone())
        })
    }

    /// The open questions that this agent asked itself.
    pub(crate) fn own_pending_questions(&self) -> Vec<ApprovalId> {
        let open = self.own_open_calls();
        open.iter().filter_map(|(call, _, state)| self.pending_question(call, state)).collect()
    }

    /// Whether one of these calls waits for an answer to this question.
    pub(crate) fn waits_for(&self, approval: &ApprovalId, calls: &[(ToolCallId, String, ToolState)]) -> bool {
        calls.iter().any(|(call, _, state)| self.pending_question(call, state).as_ref() == Some(approval))
    }

    pub(super) fn kind_of(&self, approval: &ApprovalId) -> InteractionKind {
        if self.inputs.contains_key(approval) { InteractionKind::Input } else { InteractionKind::Approval }
    }

    /// Whether this request was answered before in the same way; `None` if it is no request for input.
    pub(super) fn has_answered(&self, approval: &ApprovalId, answers: Option<&InputAnswers>) -> Option<bool> {
        let request = self.inputs.get(approval)?;
        Some(match (&request.answer, answers) {
            (Some(InputAnswer::Given(before)), Some(now)) => **before == *now,
            (Some(InputAnswer::Declined(_)), None) => true,
            _ => false,
        })
    }

    pub(super) fn apply_input(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::ApprovalAsked {
                approval, call, question, kind: InteractionKind::Input, ..
            } => {
                let form = question.as_ref().and_then(|question| question.form.clone());
                let request = InputRequest { call: call.id.clone(), form, answer: None };
                self.inputs.insert(approval.clone(), request);
            }
            SessionEvent::ApprovalAnswered {
                approval,
                answers,
                reason,
                kind: InteractionKind::Input,
                ..
            } => {
                if let Some(request) = self.inputs.get_mut(approval) {
                    request.answer = Some(match answers {
                        Some(answers) => InputAnswer::Given(answers.clone()),
                        None => InputAnswer::Declined(reason.clone()),
                    });
                }
            }
            _ => {}
        }
    }
}
