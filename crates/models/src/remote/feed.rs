//! The pieces of a streamed body in, [`ModelEvent`]s out: the decoder, the reader of the wire format and the bounds
//! together. Pure, no I/O.
//!
//! How the body was cut into pieces makes no difference to the events.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{
    answer::{AnswerReader, Progress},
    bounds::Bounds,
};
use crate::{
    model::{ModelError, ModelEvent},
    sse_decode::{EventTooLarge, SseDecoder},
};

pub struct Feed {
    decoder: SseDecoder,
    reader: Box<dyn AnswerReader>,
    bounds: Bounds,
}

/// What a step of the feed came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There are new events.
    Spoke,
    /// The next piece of the body is needed.
    Dry,
    /// The end was told.
    Done,
}

impl Feed {
    pub fn new(reader: Box<dyn AnswerReader>) -> Self {
        Self { decoder: SseDecoder::default(), reader, bounds: Bounds::default() }
    }

    /// Takes the next piece of the body, once [`Self::step`] is dry.
    pub fn push(&mut self, chunk: Bytes) {
        self.decoder.push(chunk);
    }

    /// Reads on in what has arrived, as far as the next events. `events` is empty when it is called.
    pub fn step(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<Step, ModelError> {
        let too_large = |error: EventTooLarge| ModelError::Garbage(error.to_string());
        while let Some(data) = self.decoder.next_event().map_err(too_large)? {
            let progress = self.reader.event(data, events)?;
            self.bounds.admit(events)?;
            if progress == Progress::Done {
                self.reader.end(Progress::Done, events)?;
                return Ok(Step::Done);
            }
            if !events.is_empty() {
                return Ok(Step::Spoke);
            }
        }
        Ok(Step::Dry)
    }

    /// The body is over. Its last event may lack the blank line, or be torn; then what was said before counts.
    pub fn end(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let progress = match self.decoder.last_event().map(|data| self.reader.event(data, events)) {
            Some(Ok(progress)) => progress,
            Some(Err(ModelError::Garbage(_))) | None => Progress::More,
            Some(Err(error)) => return Err(error),
        };
        self.bounds.admit(events)?;
        self.reader.end(progress, events)
    }

    /// The whole answer of a server that does not stream.
    pub fn whole(&mut self, body: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        self.reader.whole(body, events)?;
        self.bounds.admit(events)?;
        self.reader.end(Progress::Done, events)
    }
}
