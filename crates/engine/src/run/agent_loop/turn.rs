//! The agent loop as a value: it decides what comes next and never awaits. Style: plain in, plain out.

use protocol::{FinishReason, ToolCall};

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    CallModel(Offer),
    /// Run these together; settle them in this order.
    CallTools(Vec<PlannedCall>),
    /// Ask for these, then leave memory.
    Park(Vec<ToolCall>),
    Done(FinishReason),
}

/// Whether the model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Tools,
    /// A limit was reached: say what you have.
    NoTools,
    /// The work ended on a tool's result: say what came of it.
    Summarise,
    /// Nothing was said at all.
    Nudge,
    /// The structured answer is missing.
    Finish,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedCall {
    pub(crate) call: ToolCall,
    pub(crate) plan: Plan,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Run,
    /// A person said no.
    Deny(Option<String>),
    /// A person must be asked first.
    Ask,
    /// Somebody was asked already, or the front end runs it: nothing to do but wait.
    Wait,
    /// It may or may not have happened before the server went down.
    Unknown,
}

/// What a model said in one call, beyond the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) calls: Vec<PlannedCall>,
    /// Calls that could not be accepted; the model has their errors as results.
    pub(crate) rejected: usize,
    pub(crate) finish: FinishReason,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    phase: Phase,
    steps: u32,
    max_steps: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Model,
    /// One more model call, whatever the limits say.
    Once(Offer),
    Calls(Vec<PlannedCall>),
    Waiting(Vec<PlannedCall>),
    Done(FinishReason),
}

impl Turn {
    pub(crate) fn new(max_steps: u32) -> Self {
        Self { phase: Phase::Model, steps: 0, max_steps }
    }

    /// Goes on with calls that have no result yet, after `steps` model calls.
    pub(crate) fn resume(max_steps: u32, steps: u32, calls: Vec<PlannedCall>) -> Self {
        let phase = if calls.is_empty() { Phase::Model } else { Phase::Calls(calls) };
        Self { phase, steps, max_steps }
    }

    /// One more model call after the turn was over.
    pub(crate) fn once(max_steps: u32, steps: u32, offer: Offer) -> Self {
        Self { phase: Phase::Once(offer), steps, max_steps }
    }

    /// Nothing to do for the model until somebody in the background has ended.
    pub(crate) fn rest_if_idle(&mut self) {
        if self.phase == Phase::Model && self.steps > 0 {
            self.phase = Phase::Done(FinishReason::Stop);
        }
    }

    /// The answer was given.
    pub(crate) fn finished() -> Self {
        Self { phase: Phase::Done(FinishReason::Stop), steps: 0, max_steps: 0 }
    }

    /// A limit other than that of the steps was reached: the model call to come is the last one.
    pub(crate) fn end_here(&mut self) {
        self.max_steps = self.max_steps.min(self.steps);
    }

    pub(crate) fn next(&mut self) -> Step {
        match &mut self.phase {
            Phase::Once(offer) => Step::CallModel(*offer),
            Phase::Model if self.steps < self.max_steps => Step::CallModel(Offer::Tools),
            Phase::Model => Step::CallModel(Offer::NoTools),
            Phase::Calls(calls) => {
                let (ready, waiting): (Vec<_>, Vec<_>) =
                    std::mem::take(calls).into_iter().partition(|call| call.plan.is_ready());
                self.phase = Phase::Waiting(waiting);
                if ready.is_empty() { self.next() } else { Step::CallTools(ready) }
            }
            Phase::Waiting(waiting) if waiting.is_empty() => {
                self.phase = Phase::Model;
                self.next()
            }
            Phase::Waiting(waiting) => Step::Park(
                waiting.iter().filter(|call| call.plan == Plan::Ask).map(|call| call.call.clone()).collect(),
            ),
            Phase::Done(reason) => Step::Done(*reason),
        }
    }

    pub(crate) fn model_said(&mut self, said: Said) {
        self.steps += 1;
        self.phase = if !said.calls.is_empty() {
            Phase::Calls(said.calls)
        } else if said.rejected > 0 && self.steps <= self.max_steps {
            Phase::Model
        } else {
            Phase::Done(said.finish)
        };
    }
}

impl Plan {
    /// Whether the call can be settled without waiting for anybody.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Run | Self::Deny(_) | Self::Unknown => true,
            Self::Ask | Self::Wait => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::ToolCallId;
    use serde_json::json;

    use super::*;

    fn planned(id: &str, plan: Plan) -> PlannedCall {
        let call = ToolCall { id: ToolCallId::new(id), name: "t".to_owned(), input: json!({}) };
        PlannedCall { call, plan }
    }

    fn said(calls: Vec<PlannedCall>) -> Said {
        Said { calls, rejected: 0, finish: FinishReason::Stop }
    }

    #[test]
    fn text_alone_ends_the_turn_with_the_models_reason() {
        let mut turn = Turn::new(5);
        assert_eq!(turn.next(), Step::CallModel(Offer::Tools));
        turn.model_said(Said { calls: vec![], rejected: 0, finish: FinishReason::Length });
        assert_eq!(turn.next(), Step::Done(FinishReason::Length));
    }

    #[test]
    fn calls_that_need_nobody_run_before_the_turn_parks() {
        let mut turn = Turn::new(5);
        turn.model_said(said(vec![
            planned("a", Plan::Ask),
            planned("b", Plan::Run),
            planned("c", Plan::Wait),
        ]));
        assert_eq!(turn.next(), Step::CallTools(vec![planned("b", Plan::Run)]));
        assert_eq!(turn.next(), Step::Park(vec![planned("a", Plan::Ask).call]));
    }

    #[test]
    fn an_answered_turn_settles_its_calls_and_asks_the_model_again() {
        let calls = vec![planned("a", Plan::Run), planned("b", Plan::Deny(None))];
        let mut turn = Turn::resume(5, 1, calls.clone());
        assert_eq!(turn.next(), Step::CallTools(calls));
        assert_eq!(turn.next(), Step::CallModel(Offer::Tools));
    }

    #[test]
    fn a_turn_with_open_questions_parks_again() {
        let mut turn = Turn::resume(5, 1, vec![planned("a", Plan::Wait)]);
        assert_eq!(turn.next(), Step::Park(vec![]));
    }

    #[test]
    fn a_rejected_call_goes_back_to_the_model() {
        let mut turn = Turn::new(5);
        turn.model_said(Said { calls: vec![], rejected: 1, finish: FinishReason::ToolCalls });
        assert_eq!(turn.next(), Step::CallModel(Offer::Tools));
    }

    #[test]
    fn at_the_step_limit_the_model_speaks_once_more_without_tools() {
        let mut turn = Turn::new(1);
        turn.model_said(said(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), Step::CallTools(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), Step::CallModel(Offer::NoTools));
        turn.model_said(Said { calls: vec![], rejected: 1, finish: FinishReason::ToolCalls });
        assert_eq!(turn.next(), Step::Done(FinishReason::ToolCalls));
    }
}
