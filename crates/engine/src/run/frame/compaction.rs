//! What a frame knows about its context: how much of the window its newest call used, and its newest compaction. Both
//! come from the events alone, so a restored frame knows the same.

use protocol::{
    FoldError, SessionEvent,
    compaction::{Compaction, Status},
    json::disarm,
};

use super::Frame;

impl Frame {
    /// The tokens that the provider counted for the newest call, input and output.
    pub(crate) fn context_tokens(&self) -> Option<u64> {
        self.context
    }

    /// Writes the state of a compaction; the same id again replaces the state before.
    pub(crate) fn compaction(&mut self, id: &str, compaction: &Compaction) -> Result<(), FoldError> {
        self.finish_step()?;
        self.put_compaction(id.to_owned(), compaction.clone())
    }

    fn put_compaction(&mut self, id: String, mut compaction: Compaction) -> Result<(), FoldError> {
        if let Some(plan) = &mut compaction.plan {
            disarm(plan);
        }
        let (message, compaction) = (self.id(), Box::new(compaction));
        self.put(SessionEvent::CompactionChanged { message, id, compaction })
    }

    /// The newest compaction of this message, with its id.
    pub(crate) fn newest_compaction(&self) -> Option<(Option<&str>, Compaction)> {
        self.message().parts.iter().rev().find_map(Compaction::of)
    }

    fn is_compacting(&self) -> bool {
        self.newest_compaction().is_some_and(|(_, it)| it.status == Status::Running)
    }

    /// Marks a compaction that a crash or a stop interrupted as stopped.
    pub(super) fn stop_compaction(&mut self) -> Result<(), FoldError> {
        let Some((Some(id), mut it)) = self.newest_compaction() else { return Ok(()) };
        if it.status != Status::Running {
            return Ok(());
        }
        let id = id.to_owned();
        it.status = Status::Stopped;
        self.put_compaction(id, it)
    }

    pub(super) fn note_context(&mut self, event: &SessionEvent) {
        match event {
            // The call that writes a summary says nothing about the conversation's own size.
            SessionEvent::ModelCalled { usage, failed: false, .. } if !self.is_compacting() => {
                let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
                self.context = (tokens > 0).then_some(tokens);
            }
            event if event.compaction().is_some_and(|it| it.status == Status::Done) => self.context = None,
            _ => {}
        }
    }
}
