//! What one model call costs, from its beginning to its row in the ledger.

use std::time::Instant;

use protocol::{FoldError, Usage};

use super::{
    drive::RunCtx,
    frame::{Frame, ModelCall},
};

pub(crate) struct Bill {
    started: Instant,
    pub(crate) usage: Usage,
}

impl Bill {
    pub(crate) fn open() -> Self {
        Self { started: Instant::now(), usage: Usage::default() }
    }

    /// The call came to its end.
    pub(crate) fn settle(self, run: &RunCtx, frame: &mut Frame) -> Result<(), FoldError> {
        self.write(run, frame, false)
    }

    /// The call broke off: what was counted until then is paid for all the same.
    pub(crate) fn break_off(self, run: &RunCtx, frame: &mut Frame) -> Result<(), FoldError> {
        if self.usage.is_empty() { Ok(()) } else { self.write(run, frame, true) }
    }

    fn write(self, run: &RunCtx, frame: &mut Frame, failed: bool) -> Result<(), FoldError> {
        let (model, usage) = (&run.model, self.usage.plausible());
        let cost = model.price().map(|price| price.of(&usage));
        run.post.budget.book(usage, cost);
        frame.end_model_turn(ModelCall {
            run: Some(run.run.clone()),
            agent: run.post.path.clone(),
            model: model.name().to_owned(),
            cost,
            usage,
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            failed,
        })
    }
}
