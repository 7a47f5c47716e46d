//! Reads an answer without a connection, from a body in any number of chunks. For golden files, fuzzing and debugging.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{
    answer_decoder::{AnswerDecoder, Decoded},
    settings::WireFormat,
};
use crate::model::{ModelError, ModelEvent};

/// The events of an answer, and its error if it failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub events: Vec<ModelEvent>,
    pub error: Option<ModelError>,
}

/// Reads the chunks of a streamed body.
pub fn read_stream<'a>(format: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> Recording {
    let mut all = Vec::new();
    let error = stream(format, pieces, &mut all).err();
    Recording { events: all, error }
}

/// Reads the body of a server that does not stream.
pub fn read_whole(format: WireFormat, body: &[u8]) -> Recording {
    let mut events = VecDeque::new();
    let error = AnswerDecoder::new(format.reader(None)).whole(body, &mut events).err();
    Recording { events: events.into(), error }
}

fn stream<'a>(
    format: WireFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    all: &mut Vec<ModelEvent>,
) -> Result<(), ModelError> {
    let mut decoder = AnswerDecoder::new(format.reader(None));
    let mut events = VecDeque::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        loop {
            let step = decoder.step(&mut events);
            all.extend(events.drain(..));
            match step? {
                Decoded::Events => {}
                Decoded::NeedsInput => break,
                Decoded::Done => return Ok(()),
            }
        }
    }
    let end = decoder.end(&mut events);
    all.extend(events);
    end
}
