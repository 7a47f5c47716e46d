//! Bounds the size of one answer for all wire formats, because a model's server may never stop sending. The size of a
//! single event is bounded by the SSE decoder.

use std::collections::VecDeque;

use protocol::Source;

use crate::model::{ModelError, ModelEvent};

/// Tool calls of one answer.
pub const MAX_CALLS: usize = 128;
/// The argument text of all calls of one answer.
pub const MAX_ARGUMENT_BYTES: usize = 8 * 1024 * 1024;
/// Text and reasoning of one answer.
pub const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;
/// The provider metadata of one answer.
pub const MAX_ATTACHED_BYTES: usize = 8 * 1024 * 1024;
/// Sources of one answer; more are left out.
pub const MAX_SOURCES: usize = 256;

/// Counts what an answer contains so far.
#[derive(Debug, Default)]
pub struct Bounds {
    calls: usize,
    argument_bytes: usize,
    text_bytes: usize,
    attached_bytes: usize,
    sources: Vec<Source>,
}

impl Bounds {
    /// Counts new events before they are passed on. Removes repeated sources: some servers list all sources with every
    /// delta.
    pub fn admit(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        events.retain(|event| match event {
            ModelEvent::Source(source) => self.is_new(source),
            _ => true,
        });
        events.iter().try_for_each(|event| self.count(event))
    }

    fn is_new(&mut self, source: &Source) -> bool {
        let new = self.sources.len() < MAX_SOURCES && !self.sources.contains(source);
        if new {
            self.sources.push(source.clone());
        }
        new
    }

    fn count(&mut self, event: &ModelEvent) -> Result<(), ModelError> {
        match event {
            ModelEvent::Text(text) | ModelEvent::Reasoning(text) => self.text_bytes += text.len(),
            ModelEvent::ReasoningEnded(provider) | ModelEvent::ToolSigned { provider, .. } => {
                self.attached_bytes += provider.size();
            }
            ModelEvent::ToolStarted { .. } => self.calls += 1,
            ModelEvent::ToolDelta { delta, .. } => self.argument_bytes += delta.len(),
            ModelEvent::Source(_)
            | ModelEvent::Usage(_)
            | ModelEvent::FellBack(_)
            | ModelEvent::Finished(_) => {}
        }
        let broken = [
            (self.calls > MAX_CALLS, "too many tool calls in one answer"),
            (self.argument_bytes > MAX_ARGUMENT_BYTES, "tool arguments that are too long"),
            (self.text_bytes > MAX_TEXT_BYTES, "an answer that does not end"),
            (self.attached_bytes > MAX_ATTACHED_BYTES, "signatures that are too long"),
        ];
        match broken.into_iter().find(|(over, _)| *over) {
            Some((_, what)) => Err(ModelError::Garbage(what.to_owned())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_says_too_much_is_refused() {
        let mut bounds = Bounds::default();
        let call = |index| ModelEvent::ToolStarted { index, id: None, name: "x".to_owned() };
        for index in 0..MAX_CALLS {
            bounds.count(&call(u32::try_from(index).unwrap())).unwrap();
        }
        assert!(bounds.count(&call(0)).is_err());
        let source = Source::Url { url: "https://example.com".to_owned(), title: None };
        let mut events = VecDeque::from([ModelEvent::Source(source.clone()), ModelEvent::Source(source)]);
        Bounds::default().admit(&mut events).unwrap();
        assert_eq!(events.len(), 1);
        let mut bounds = Bounds::default();
        let delta = ModelEvent::ToolDelta { index: 0, delta: "x".repeat(MAX_ARGUMENT_BYTES) };
        bounds.count(&delta).unwrap();
        assert!(bounds.count(&ModelEvent::ToolDelta { index: 0, delta: "x".to_owned() }).is_err());
    }
}
