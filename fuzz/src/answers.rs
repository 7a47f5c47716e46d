//! Answers of model servers: any bytes, in any chunks.

use bytes::Bytes;
use models::{
    ModelEvent, WireFormat,
    remote::recorded::{Recording, read_stream, read_whole},
    sse_decode::SseDecoder,
};

/// The first byte is the length of the chunks; the rest is the body.
fn pieces(input: &[u8]) -> Option<(usize, &[u8])> {
    let (first, body) = input.split_first()?;
    Some((usize::from(*first % 64) + 1, body))
}

/// How a body is cut makes no difference to its events.
pub fn sse(input: &[u8]) {
    let Some((size, body)) = pieces(input) else { return };
    assert_eq!(decode([body]), decode(body.chunks(size)));
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(data) = decoder.next_event().expect("no fuzz input is as large as the bound") {
            events.push(data.to_vec());
        }
    }
    events.extend(decoder.last_event().map(<[u8]>::to_vec));
    events
}

/// Reads a stream of this wire format, cut in two ways, and the same bytes as an answer that is not streamed.
pub fn answer(format: WireFormat, input: &[u8]) {
    let Some((size, body)) = pieces(input) else { return };
    let at_once = read_stream(format, [body]);
    assert_eq!(at_once, read_stream(format, body.chunks(size)));
    check(&at_once);
    check(&read_whole(format, body));
}

/// Checks that there is one end, last; arguments and signatures only for calls that were started; no call started twice.
fn check(recording: &Recording) {
    let Recording { events, error } = recording;
    let ends = events.iter().filter(|event| matches!(event, ModelEvent::Finished(_))).count();
    assert_eq!(ends, usize::from(error.is_none()), "one end or one error");
    if error.is_none() {
        assert!(matches!(events.last(), Some(ModelEvent::Finished(_))), "the end is last");
    }
    let mut begun = Vec::new();
    for event in events {
        match event {
            ModelEvent::ToolStarted { index, name, .. } => {
                assert!(!begun.contains(index) && !name.is_empty(), "a call is begun once, with a name");
                begun.push(*index);
            }
            ModelEvent::ToolDelta { index, .. } | ModelEvent::ToolSigned { index, .. } => {
                assert!(begun.contains(index), "only a call that was begun goes on");
            }
            ModelEvent::Text(text) | ModelEvent::Reasoning(text) => assert!(!text.is_empty()),
            ModelEvent::ReasoningEnded(_)
            | ModelEvent::Source(_)
            | ModelEvent::Usage(_)
            | ModelEvent::FellBack(_)
            | ModelEvent::Finished(_) => {}
        }
    }
}
