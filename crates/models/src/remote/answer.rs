//! What a wire format must be able to do with an answer. Pure, no I/O: `Feed` brings the bytes.

use std::collections::VecDeque;

use crate::model::{ModelError, ModelEvent};

/// Reads the events of one answer, in order. One type for each wire format.
pub trait AnswerReader: Send {
    /// Reads the data of one event of a stream.
    fn event(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<Progress, ModelError>;

    /// Reads a whole answer, from a server that does not stream.
    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;

    /// The end of the answer, as the server said or because its body is over. Tells the usage and the end, once.
    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

/// What an event left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More may come.
    More,
    /// The server said that this was all.
    Done,
}
