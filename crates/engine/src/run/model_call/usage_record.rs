//! Records what one model call used and cost.

use std::time::Instant;

use protocol::{FoldError, Usage};

use crate::run::{
    context::AgentContext,
    frame::{Frame, ModelCall},
};

pub(crate) struct UsageRecord {
    started: Instant,
    pub(crate) usage: Usage,
}

impl UsageRecord {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), usage: Usage::default() }
    }

    /// Writes the usage of a call that ended.
    pub(crate) fn settle(self, run: &AgentContext, frame: &mut Frame) -> Result<(), FoldError> {
        self.write(run, frame, false)
    }

    /// Writes the usage of a call that broke off: what was counted until then is paid for.
    pub(crate) fn break_off(self, run: &AgentContext, frame: &mut Frame) -> Result<(), FoldError> {
        if self.usage.is_empty() { Ok(()) } else { self.write(run, frame, true) }
    }

    fn write(self, run: &AgentContext, frame: &mut Frame, failed: bool) -> Result<(), FoldError> {
        let (model, usage) = (&run.agent.model, self.usage.plausible());
        let cost = model.price().map(|price| price.of(&usage));
        run.position.budget.book(usage, cost);
        frame.end_model_turn(ModelCall {
            run: Some(run.run.id.clone()),
            agent: run.position.path.clone(),
            model: model.name().to_owned(),
            cost,
            window: model.context_window(),
            usage,
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            failed,
        })
    }
}
