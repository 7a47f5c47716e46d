//! An answer read without a connection: what a body becomes, in whatever pieces it comes. For golden files, for
//! fuzzing, and for looking at what a server sent.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{
    feed::{Feed, Step},
    settings::WireFormat,
};
use crate::model::{ModelError, ModelEvent};

/// What was said, and how it ended if it ended badly.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub events: Vec<ModelEvent>,
    pub error: Option<ModelError>,
}

/// Reads the pieces of a streamed body.
pub fn read_stream<'a>(format: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> Recording {
    let mut all = Vec::new();
    let error = stream(format, pieces, &mut all).err();
    Recording { events: all, error }
}

/// Reads the body of a server that does not stream.
pub fn read_whole(format: WireFormat, body: &[u8]) -> Recording {
    let mut events = VecDeque::new();
    let error = Feed::new(format.reader(None)).whole(body, &mut events).err();
    Recording { events: events.into(), error }
}

fn stream<'a>(
    format: WireFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    all: &mut Vec<ModelEvent>,
) -> Result<(), ModelError> {
    let mut feed = Feed::new(format.reader(None));
    let mut events = VecDeque::new();
    for piece in pieces {
        feed.push(Bytes::copy_from_slice(piece));
        loop {
            let step = feed.step(&mut events);
            all.extend(events.drain(..));
            match step? {
                Step::Spoke => {}
                Step::Dry => break,
                Step::Done => return Ok(()),
            }
        }
    }
    let end = feed.end(&mut events);
    all.extend(events);
    end
}
