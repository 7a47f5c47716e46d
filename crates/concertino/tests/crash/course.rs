//! The course of one answer, reconstructed from its events, and what must hold of it.

use std::collections::{BTreeMap, HashSet};

use protocol::{ApprovalId, Part, SessionEvent, ToolCallId, ToolOutcome, UiMessage};

use crate::load::{Kind, Task};

#[derive(Debug, Default)]
pub struct Course {
    calls: BTreeMap<ToolCallId, Call>,
    steps: usize,
    model_calls: usize,
    parked: usize,
    resumed: usize,
    closed: usize,
    ended: usize,
}

#[derive(Debug, Default)]
struct Call {
    requested: usize,
    rejected: usize,
    asked: Vec<ApprovalId>,
    answered: Option<bool>,
    /// How often the run was resumed since the answer; the first time is the answer's own.
    resumed_since: usize,
    settled: Vec<ToolOutcome>,
    /// What was known when the result came.
    resumed_when_settled: usize,
}

impl Course {
    pub fn of<'a>(events: impl Iterator<Item = &'a SessionEvent>) -> Self {
        let mut course = Self::default();
        for event in events {
            course.take(event);
        }
        course
    }

    fn take(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::StepStarted { .. } => self.steps += 1,
            SessionEvent::ModelCalled { .. } => self.model_calls += 1,
            SessionEvent::RunParked { .. } => self.parked += 1,
            SessionEvent::RunResumed { .. } => {
                self.resumed += 1;
                let answered = self.calls.values_mut().filter(|call| call.answered.is_some());
                answered.for_each(|call| call.resumed_since += 1);
            }
            SessionEvent::FrameClosed { .. } => self.closed += 1,
            SessionEvent::RunEnded { .. } => self.ended += 1,
            SessionEvent::ToolRequested { call, .. } => self.call(&call.id).requested += 1,
            SessionEvent::ToolRejected { call, .. } => self.call(call).rejected += 1,
            SessionEvent::ApprovalAsked { approval, call, .. } => {
                self.call(&call.id).asked.push(approval.clone());
            }
            SessionEvent::ApprovalAnswered { approval, approved, .. } => {
                if let Some(call) = self.calls.values_mut().find(|call| call.asked.contains(approval)) {
                    call.answered = Some(*approved);
                }
            }
            SessionEvent::ToolSettled { call, outcome, .. } => {
                let call = self.call(call);
                call.resumed_when_settled = call.resumed_since;
                call.settled.push(outcome.clone());
            }
            _ => {}
        }
    }

    fn call(&mut self, id: &ToolCallId) -> &mut Call {
        self.calls.entry(id.clone()).or_default()
    }

    /// How often a crash interrupted it; each pause is left by one resume that is no crash's.
    fn crashes(&self, waits: bool) -> usize {
        self.resumed.saturating_sub(self.parked - usize::from(waits))
    }

    /// How many calls were told to the model as neither done nor not done.
    pub fn unknown(&self) -> u64 {
        self.calls.values().filter(|call| call.settled.iter().any(is_unknown)).count() as u64
    }

    pub fn problems(&self, answer: &UiMessage, task: Option<&Task>, waits: bool) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, what: String| {
            if !fine {
                problems.push(format!("{what}; {self:?}"));
            }
        };
        let ends = usize::from(!waits);
        check(self.closed == ends && self.ended == ends, format!("{} ends", self.ended));
        let crashes = self.crashes(waits);
        check(
            self.steps <= self.model_calls + crashes,
            "steps that no model call and no crash explains".to_owned(),
        );
        for (id, call) in &self.calls {
            call.problems(waits)
                .into_iter()
                .for_each(|problem| check(false, format!("call {id}: {problem}")));
        }
        let mut ids = HashSet::new();
        for part in answer.tool_parts() {
            check(ids.insert(&part.call), format!("the call {} is there twice", part.call));
            check(waits || part.state.is_settled(), format!("the call {} has no result", part.call));
        }
        let Some(task) = task else { return problems };
        let texts = answer
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Text { text, .. } if *text == task.last_words));
        let said = texts.count();
        let abandoned = task.kind == Kind::Abandoned;
        let most =
            if abandoned && self.parked > 0 && !self.calls.values().any(|call| call.answered == Some(true)) {
                0
            } else {
                1 + crashes
            };
        check(
            (usize::from(most > 0)..=most).contains(&said),
            format!("the last words are there {said} times"),
        );
        let made = answer
            .tool_parts()
            .filter(|part| self.calls.get(&part.call).is_some_and(|call| call.requested > 0));
        check(
            made.count() == task.calls(),
            "not every call of the script was made, or one was made twice".to_owned(),
        );
        problems
    }
}

impl Call {
    fn problems(&self, waits: bool) -> Vec<&'static str> {
        let mut problems = Vec::new();
        let mut check = |fine: bool, what| {
            if !fine {
                problems.push(what);
            }
        };
        check(self.requested + self.rejected == 1, "not begun exactly once");
        check(self.asked.len() <= 1, "asked more than once");
        let results = self.settled.len() + self.rejected;
        check(results == 1 || (waits && results == 0), "not settled exactly once");
        if let ([_], [outcome]) = (self.asked.as_slice(), self.settled.as_slice()) {
            let right = match (self.answered, outcome) {
                (Some(false), ToolOutcome::Denied { .. }) => true,
                (Some(true), ToolOutcome::Done { .. }) => self.resumed_when_settled == 1,
                // The process that ran it is gone: it must not be run again.
                (Some(true), outcome) => self.resumed_when_settled > 1 && is_unknown(outcome),
                _ => false,
            };
            check(right, "a call with side effects was run without leave, or again after a crash");
        }
        problems
    }
}

fn is_unknown(outcome: &ToolOutcome) -> bool {
    matches!(outcome, ToolOutcome::Failed { message } if message.contains("outcome of this call is unknown"))
}
