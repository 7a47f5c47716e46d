//! The agent loop as a pure state machine: it decides what happens next and never awaits.
//!
//! Only the driver holds a [`Turn`]. It reports what happened through the methods and asks [`Turn::next`] for the next step.

use protocol::{FinishReason, Question, ToolCall};
use serde_json::Value;
use tools::Executor;

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextAction {
    CallModel(Offer),
    /// Run these together; settle them in this order.
    CallTools(Vec<PlannedCall>),
    /// Ask a person about these, then wait: in memory while other agents of the run work, else the run parks.
    AwaitPerson(Vec<AskedCall>),
    Done(FinishReason),
}

/// What a model call offers: whether the model may call tools, and what it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Tools,
    /// A limit was reached: the model is asked for what it has.
    NoTools,
    /// The work ended with a tool result: the model is asked for a summary.
    Summarise,
    /// The model wrote nothing at all and is asked again.
    Nudge,
    /// The structured answer is missing and is asked for.
    Finish,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedCall {
    pub(crate) call: ToolCall,
    /// Who executes it.
    pub(crate) executor: Executor,
    pub(crate) plan: Plan,
}

/// A call that a person must be asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AskedCall {
    pub(crate) call: ToolCall,
    pub(crate) question: Box<Question>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Run,
    /// A person said no.
    Deny(Option<String>),
    /// Nobody can allow it; the text says why.
    Refuse(String),
    /// A person was asked for input; this is what they answered, and the result of the call.
    Answered(Value),
    /// A person must be asked first.
    Ask(Box<Question>),
    /// A person was asked already, or the front end runs it: wait.
    Wait,
    /// A restart interrupted it: it may or may not have happened.
    Unknown,
}

/// The answer of one model call, apart from its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelAnswer {
    pub(crate) calls: Vec<PlannedCall>,
    /// How many calls could not be accepted; their errors are the results.
    pub(crate) rejected: usize,
    pub(crate) finish: FinishReason,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    phase: Phase,
    steps: u32,
    /// The agent's limit of steps.
    max_steps: u32,
    /// The step after which the model gets no more tools: `max_steps`, or an earlier one if another limit was reached.
    last_step: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Model,
    /// One more model call, regardless of the limits.
    Once(Offer),
    Calls(Vec<PlannedCall>),
    Waiting(Vec<PlannedCall>),
    Done(FinishReason),
}

impl Turn {
    pub(crate) fn new(max_steps: u32) -> Self {
        Self { phase: Phase::Model, steps: 0, max_steps, last_step: max_steps }
    }

    /// Resumes with calls that have no result yet, after `steps` steps.
    pub(crate) fn resume(max_steps: u32, steps: u32, calls: Vec<PlannedCall>) -> Self {
        let phase = if calls.is_empty() { Phase::Model } else { Phase::Calls(calls) };
        Self { phase, steps, max_steps, last_step: max_steps }
    }

    /// Background agents are at work: the model is called again when they have ended.
    pub(crate) fn wait_for_background(&mut self) {
        if self.phase == Phase::Model && self.steps > 0 {
            self.phase = Phase::Done(FinishReason::Stop);
        }
    }

    /// A person answered: continues with the calls that have no result yet, after `steps` steps.
    pub(crate) fn answered(&mut self, steps: u32, calls: Vec<PlannedCall>) {
        *self = Self::resume(self.max_steps, steps, calls);
    }

    /// The turn was over, and the model has something more to answer: a text that was sent to the agent, reports of
    /// background agents, a missing summary, or its last words at a time limit.
    pub(crate) fn call_model_once_more(&mut self, steps: u32, offer: Offer) {
        *self =
            Self { phase: Phase::Once(offer), steps, max_steps: self.max_steps, last_step: self.max_steps };
    }

    /// The structured answer was given: nothing follows it.
    pub(crate) fn finish(&mut self) {
        self.phase = Phase::Done(FinishReason::Stop);
    }

    /// A limit other than that of the steps was reached: the next model call is the last one.
    pub(crate) fn limit_reached(&mut self) {
        self.last_step = self.last_step.min(self.steps);
    }

    pub(crate) fn next(&mut self) -> NextAction {
        match &mut self.phase {
            Phase::Once(offer) => NextAction::CallModel(*offer),
            Phase::Model if self.steps < self.last_step => NextAction::CallModel(Offer::Tools),
            Phase::Model => NextAction::CallModel(Offer::NoTools),
            Phase::Calls(calls) => {
                let (ready, waiting): (Vec<_>, Vec<_>) =
                    std::mem::take(calls).into_iter().partition(|call| call.plan.is_ready());
                self.phase = Phase::Waiting(waiting);
                if ready.is_empty() { self.next() } else { NextAction::CallTools(ready) }
            }
            Phase::Waiting(waiting) if waiting.is_empty() => {
                self.phase = Phase::Model;
                self.next()
            }
            Phase::Waiting(waiting) => NextAction::AwaitPerson(waiting.iter().filter_map(asked).collect()),
            Phase::Done(reason) => NextAction::Done(*reason),
        }
    }

    pub(crate) fn model_answered(&mut self, answer: ModelAnswer) {
        self.steps += 1;
        self.phase = if !answer.calls.is_empty() {
            Phase::Calls(answer.calls)
        } else if answer.rejected > 0 && self.steps <= self.last_step {
            Phase::Model
        } else {
            Phase::Done(answer.finish)
        };
    }
}

fn asked(planned: &PlannedCall) -> Option<AskedCall> {
    match &planned.plan {
        Plan::Ask(question) => Some(AskedCall { call: planned.call.clone(), question: question.clone() }),
        _ => None,
    }
}

impl Plan {
    /// Whether the call can be settled without waiting for anybody.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Run | Self::Deny(_) | Self::Refuse(_) | Self::Answered(_) | Self::Unknown => true,
            Self::Ask(_) | Self::Wait => false,
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
        PlannedCall { call, executor: Executor::Server, plan }
    }

    fn ask() -> Plan {
        let why = "It changes a file.".to_owned();
        Plan::Ask(Box::new(Question::approval(why)))
    }

    fn answer(calls: Vec<PlannedCall>) -> ModelAnswer {
        ModelAnswer { calls, rejected: 0, finish: FinishReason::Stop }
    }

    #[test]
    fn text_alone_ends_the_turn_with_the_models_reason() {
        let mut turn = Turn::new(5);
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools));
        turn.model_answered(ModelAnswer { calls: vec![], rejected: 0, finish: FinishReason::Length });
        assert_eq!(turn.next(), NextAction::Done(FinishReason::Length));
    }

    #[test]
    fn calls_that_need_nobody_run_before_the_turn_parks() {
        let mut turn = Turn::new(5);
        turn.model_answered(answer(vec![
            planned("a", ask()),
            planned("b", Plan::Run),
            planned("c", Plan::Wait),
        ]));
        assert_eq!(turn.next(), NextAction::CallTools(vec![planned("b", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::AwaitPerson(vec![asked(&planned("a", ask())).unwrap()]));
    }

    #[test]
    fn an_answered_turn_settles_its_calls_and_asks_the_model_again() {
        let calls = vec![planned("a", Plan::Run), planned("b", Plan::Deny(None))];
        let mut turn = Turn::resume(5, 1, calls.clone());
        assert_eq!(turn.next(), NextAction::CallTools(calls));
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools));
    }

    #[test]
    fn a_turn_with_open_questions_parks_again() {
        let mut turn = Turn::resume(5, 1, vec![planned("a", Plan::Wait)]);
        assert_eq!(turn.next(), NextAction::AwaitPerson(vec![]));
    }

    #[test]
    fn a_rejected_call_goes_back_to_the_model() {
        let mut turn = Turn::new(5);
        turn.model_answered(ModelAnswer { calls: vec![], rejected: 1, finish: FinishReason::ToolCalls });
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools));
    }

    #[test]
    fn at_the_step_limit_the_model_speaks_once_more_without_tools() {
        let mut turn = Turn::new(1);
        turn.model_answered(answer(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallTools(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallModel(Offer::NoTools));
        turn.model_answered(ModelAnswer { calls: vec![], rejected: 1, finish: FinishReason::ToolCalls });
        assert_eq!(turn.next(), NextAction::Done(FinishReason::ToolCalls));
    }

    #[test]
    fn another_limit_makes_the_next_call_the_last_until_the_agent_is_asked_once_more() {
        let mut turn = Turn::new(9);
        turn.limit_reached();
        assert_eq!(turn.next(), NextAction::CallModel(Offer::NoTools));
        turn.model_answered(answer(vec![]));
        assert_eq!(turn.next(), NextAction::Done(FinishReason::Stop));
        turn.call_model_once_more(1, Offer::Tools);
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools));
        turn.model_answered(answer(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallTools(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools), "the agent's own limit holds again");
    }

    #[test]
    fn a_structured_answer_ends_the_turn() {
        let mut turn = Turn::new(9);
        turn.model_answered(answer(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallTools(vec![planned("a", Plan::Run)]));
        turn.finish();
        assert_eq!(turn.next(), NextAction::Done(FinishReason::Stop));
    }

    #[test]
    fn an_answer_continues_with_the_calls_that_are_left() {
        let mut turn = Turn::new(2);
        turn.model_answered(answer(vec![planned("a", ask())]));
        assert_eq!(turn.next(), NextAction::AwaitPerson(vec![asked(&planned("a", ask())).unwrap()]));
        turn.answered(1, vec![planned("a", Plan::Run)]);
        assert_eq!(turn.next(), NextAction::CallTools(vec![planned("a", Plan::Run)]));
        assert_eq!(turn.next(), NextAction::CallModel(Offer::Tools));
    }

    #[test]
    fn a_resumed_turn_with_background_agents_waits_for_them_before_it_calls_the_model() {
        let mut fresh = Turn::new(5);
        fresh.wait_for_background();
        assert_eq!(fresh.next(), NextAction::CallModel(Offer::Tools), "a turn that has not begun begins");
        let mut resumed = Turn::resume(5, 2, Vec::new());
        resumed.wait_for_background();
        assert_eq!(resumed.next(), NextAction::Done(FinishReason::Stop));
    }
}
