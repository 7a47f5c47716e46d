//! Decodes a streamed body into [`ModelEvent`]s, with the SSE decoder, the reader of the wire format and the bounds.
//! Pure, no I/O.
//!
//! How the body is cut into chunks makes no difference to the events.

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

pub struct AnswerDecoder {
    sse: SseDecoder,
    reader: Box<dyn AnswerReader>,
    bounds: Bounds,
}

/// The result of [`AnswerDecoder::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// There are new events.
    Events,
    /// The next chunk of the body is needed.
    NeedsInput,
    /// The answer is complete.
    Done,
}

impl AnswerDecoder {
    pub fn new(reader: Box<dyn AnswerReader>) -> Self {
        Self { sse: SseDecoder::default(), reader, bounds: Bounds::default() }
    }

    /// Adds the next chunk of the body, after [`Self::step`] has returned [`Decoded::NeedsInput`].
    pub fn push(&mut self, chunk: Bytes) {
        self.sse.push(chunk);
    }

    /// Decodes up to the next events. `events` must be empty.
    pub fn step(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<Decoded, ModelError> {
        let too_large = |error: EventTooLarge| ModelError::Garbage(error.to_string());
        while let Some(data) = self.sse.next_event().map_err(too_large)? {
            let progress = self.reader.event(data, events)?;
            self.bounds.admit(events)?;
            if progress == Progress::Done {
                self.reader.end(Progress::Done, events)?;
                return Ok(Decoded::Done);
            }
            if !events.is_empty() {
                return Ok(Decoded::Events);
            }
        }
        Ok(Decoded::NeedsInput)
    }

    /// Ends the body. The last event may lack its blank line; an incomplete one is ignored.
    pub fn end(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let progress = match self.sse.last_event().map(|data| self.reader.event(data, events)) {
            Some(Ok(progress)) => progress,
            Some(Err(ModelError::Garbage(_))) | None => Progress::More,
            Some(Err(error)) => return Err(error),
        };
        self.bounds.admit(events)?;
        self.reader.end(progress, events)
    }

    /// Decodes the whole answer of a server that does not stream.
    pub fn whole(&mut self, body: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        self.reader.whole(body, events)?;
        self.bounds.admit(events)?;
        self.reader.end(Progress::Done, events)
    }
}
