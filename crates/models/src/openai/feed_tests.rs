//! Recorded shapes of many servers' answers, each beside the events it must become, and in every cut.
//!
//! `fixtures/<name>.sse` is a streamed body, `<name>.json` a whole completion, `<name>.events` one line for each
//! expected event.

use std::{fs, path::PathBuf};

use proptest::prelude::*;

use super::*;

struct Fixture {
    name: String,
    body: Vec<u8>,
    streams: bool,
    expected: String,
}

fn fixtures() -> Vec<Fixture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/openai/fixtures");
    let mut fixtures = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let streams = path.extension().is_some_and(|extension| extension == "sse");
        if streams || path.extension().is_some_and(|extension| extension == "json") {
            fixtures.push(Fixture {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                body: fs::read(&path).unwrap(),
                streams,
                expected: fs::read_to_string(path.with_extension("events")).unwrap(),
            });
        }
    }
    fixtures.sort_by(|a, b| a.name.cmp(&b.name));
    fixtures
}

fn line(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Text(text) => format!("text {text:?}"),
        ModelEvent::Reasoning(text) => format!("reasoning {text:?}"),
        ModelEvent::ToolStarted { index, id, name } => {
            format!("call {index} {name} {}", id.as_deref().unwrap_or("without id"))
        }
        ModelEvent::ToolDelta { index, delta } => format!("arguments {index} {delta}"),
        ModelEvent::Usage(usage) => format!(
            "usage in {} ({} cached) out {} ({} reasoning) total {}",
            usage.input_tokens,
            usage.cached_input_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
            usage.total_tokens
        ),
        ModelEvent::FellBack(note) => format!("fell back {note:?}"),
        ModelEvent::Finished(reason) => format!("finished {reason:?}"),
    }
}

/// The lines of a transcript: the events, and the error if there is one.
fn transcript(outcome: Result<(), ModelError>, events: VecDeque<ModelEvent>) -> String {
    let mut lines: Vec<String> = events.iter().map(line).collect();
    lines.extend(outcome.err().map(|error| format!("error {error}")));
    lines.push(String::new());
    lines.join("\n")
}

fn read_stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut events = VecDeque::new();
    let outcome = feed(pieces, &mut events);
    transcript(outcome, events)
}

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    events: &mut VecDeque<ModelEvent>,
) -> Result<(), ModelError> {
    let mut feed = Feed::new(Reader::default());
    for piece in pieces {
        feed.push(Bytes::copy_from_slice(piece));
        loop {
            let mut new = VecDeque::new();
            let step = feed.step(&mut new);
            events.append(&mut new);
            match step? {
                Step::Spoke => {}
                Step::Dry => break,
                Step::Done => return Ok(()),
            }
        }
    }
    feed.end(events)
}

fn read_whole(body: &[u8]) -> String {
    let mut events = VecDeque::new();
    let mut reader = Reader::default();
    let outcome = reader.whole(body, &mut events).and_then(|()| reader.end(Progress::Done, &mut events));
    transcript(outcome, events)
}

#[test]
fn every_recorded_answer_becomes_its_events() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 25, "only {} fixtures were found", fixtures.len());
    for Fixture { name, body, streams, expected } in fixtures {
        let read = if streams { read_stream([&body[..]]) } else { read_whole(&body) };
        assert_eq!(read, expected, "{name}");
    }
}

#[test]
fn line_ends_and_single_bytes_make_no_difference() {
    for Fixture { name, body, expected, .. } in fixtures().into_iter().filter(|fixture| fixture.streams) {
        let crlf = String::from_utf8(body.clone()).unwrap().replace('\n', "\r\n");
        assert_eq!(read_stream([crlf.as_bytes()]), expected, "{name} with CRLF");
        assert_eq!(read_stream(body.chunks(1)), expected, "{name} byte by byte");
        assert_eq!(read_stream(crlf.as_bytes().chunks(1)), expected, "{name} with CRLF, byte by byte");
    }
}

#[test]
fn all_events_of_a_piece_come_before_the_next_piece_is_needed() {
    let piece = br#"data: {"choices":[{"delta":{"content":"a"}}]}

data: {"choices":[{"delta":{}}]}

data: {"choices":[{"delta":{"content":"b"}}]}

"#;
    let mut feed = Feed::new(Reader::default());
    let mut events = VecDeque::new();
    feed.push(Bytes::from_static(piece));
    for expected in ["a", "b"] {
        assert_eq!(feed.step(&mut events), Ok(Step::Spoke));
        assert_eq!(events.pop_front(), Some(ModelEvent::Text(expected.to_owned())));
        assert_eq!(events.pop_front(), None);
    }
    assert_eq!(feed.step(&mut events), Ok(Step::Dry));
}

proptest! {
    #[test]
    fn how_the_body_is_cut_makes_no_difference(
        which in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..24),
    ) {
        let fixtures: Vec<Fixture> = fixtures().into_iter().filter(|fixture| fixture.streams).collect();
        let fixture = &fixtures[which.index(fixtures.len())];
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(fixture.body.len() + 1)).collect();
        places.extend([0, fixture.body.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| &fixture.body[pair[0]..pair[1]]);
        prop_assert_eq!(&read_stream(pieces), &fixture.expected, "{}", &fixture.name);
    }

    #[test]
    fn nonsense_never_breaks_the_reader(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut event = b"data: ".to_vec();
        event.extend_from_slice(&body);
        prop_assert!(!read_stream([&event[..]]).is_empty());
        prop_assert!(!read_whole(&body).is_empty());
    }
}
