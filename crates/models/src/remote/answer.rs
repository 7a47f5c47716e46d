//! The interface of a wire format's reader. Pure, no I/O: `AnswerDecoder` passes the bytes.

use std::collections::VecDeque;

use crate::model::{ModelError, ModelEvent};

/// Reads the events of one answer, in order. One type for each wire format.
pub trait AnswerReader: Send {
    /// Reads the data of one event of a stream.
    fn event(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<Progress, ModelError>;

    /// Reads a whole answer, from a server that does not stream.
    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;

    /// Ends the answer, because the server said so or its body has ended. Adds the usage and the finish reason; called
    /// once.
    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

/// Whether the answer goes on after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More may come.
    More,
    /// The server said that the answer is complete.
    Done,
}
