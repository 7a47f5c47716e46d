//! Recorded answers of many servers, each with its expected events, in every cut.
//!
//! `<wire format>/fixtures/<name>.sse` is a streamed body, `<name>.json` a whole answer, `<name>.events` one line for
//! each expected event. Written from the vendors' public documentation. `GOLDEN=write` writes the expectations again;
//! read them before you keep them.

use std::{collections::VecDeque, fs, path::PathBuf};

use bytes::Bytes;
use proptest::prelude::*;
use protocol::Source;

use super::{
    answer_decoder::{AnswerDecoder, Decoded},
    recorded::{self, Recording},
    settings::WireFormat,
};
use crate::model::ModelEvent;

struct Fixture {
    format: WireFormat,
    name: String,
    body: Vec<u8>,
    streams: bool,
    expected: String,
}

fn folder(format: WireFormat) -> &'static str {
    match format {
        WireFormat::OpenAi => "openai",
        WireFormat::OpenAiResponses => "openai_responses",
        WireFormat::Anthropic => "anthropic",
        WireFormat::Google => "gemini",
    }
}

fn fixtures() -> Vec<Fixture> {
    WireFormat::ALL.into_iter().flat_map(fixtures_of).collect()
}

fn fixtures_of(format: WireFormat) -> Vec<Fixture> {
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = folder(format);
    let mut fixtures = Vec::new();
    for entry in fs::read_dir(sources.join(folder).join("fixtures")).unwrap() {
        let path = entry.unwrap().path();
        let streams = path.extension().is_some_and(|extension| extension == "sse");
        if streams || path.extension().is_some_and(|extension| extension == "json") {
            let body = fs::read(&path).unwrap();
            let expectation = path.with_extension("events");
            if std::env::var("GOLDEN").is_ok_and(|golden| golden == "write") {
                let read = if streams { read_stream(format, [&body[..]]) } else { read_whole(format, &body) };
                fs::write(&expectation, read).unwrap();
            }
            fixtures.push(Fixture {
                format,
                name: format!("{folder}/{}", path.file_stem().unwrap().to_string_lossy()),
                body,
                streams,
                expected: fs::read_to_string(expectation).unwrap_or_default(),
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
        ModelEvent::ReasoningEnded(provider) => {
            format!("reasoning ended {}", serde_json::to_string(provider).unwrap())
        }
        ModelEvent::Source(Source::Url { url, title }) => {
            format!("source {url} {}", title.as_deref().unwrap_or("without title"))
        }
        ModelEvent::Source(Source::Document { media_type, title, .. }) => {
            format!("source {media_type} {title}")
        }
        ModelEvent::ToolStarted { index, id, name } => {
            format!("call {index} {name} {}", id.as_deref().unwrap_or("without id"))
        }
        ModelEvent::ToolDelta { index, delta } => format!("arguments {index} {delta}"),
        ModelEvent::ToolSigned { index, provider } => {
            format!("signed {index} {}", serde_json::to_string(provider).unwrap())
        }
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
fn transcript(recording: &Recording) -> String {
    let mut lines: Vec<String> = recording.events.iter().map(line).collect();
    lines.extend(recording.error.as_ref().map(|error| format!("error {error}")));
    lines.push(String::new());
    lines.join("\n")
}

fn read_stream<'a>(format: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    transcript(&recorded::read_stream(format, pieces))
}

fn read_whole(format: WireFormat, body: &[u8]) -> String {
    transcript(&recorded::read_whole(format, body))
}

#[test]
fn every_recorded_answer_becomes_its_events() {
    for format in WireFormat::ALL {
        let least = if format == WireFormat::OpenAi { 25 } else { 8 };
        let found = fixtures_of(format);
        assert!(found.len() >= least, "only {} fixtures of {} were found", found.len(), format.name());
        for Fixture { name, body, streams, expected, .. } in found {
            let read = if streams { read_stream(format, [&body[..]]) } else { read_whole(format, &body) };
            assert_eq!(read, expected, "{name}");
        }
    }
}

#[test]
fn line_ends_and_single_bytes_make_no_difference() {
    let streams = fixtures().into_iter().filter(|fixture| fixture.streams);
    for Fixture { format, name, body, expected, .. } in streams {
        let crlf = String::from_utf8(body.clone()).unwrap().replace('\n', "\r\n");
        assert_eq!(read_stream(format, [crlf.as_bytes()]), expected, "{name} with CRLF");
        assert_eq!(read_stream(format, body.chunks(1)), expected, "{name} byte by byte");
        assert_eq!(
            read_stream(format, crlf.as_bytes().chunks(1)),
            expected,
            "{name} with CRLF, byte by byte"
        );
    }
}

#[test]
fn all_events_of_a_piece_come_before_the_next_piece_is_needed() {
    let piece = br#"data: {"choices":[{"delta":{"content":"a"}}]}

data: {"choices":[{"delta":{}}]}

data: {"choices":[{"delta":{"content":"b"}}]}

"#;
    let mut decoder = AnswerDecoder::new(WireFormat::OpenAi.reader(None));
    let mut events = VecDeque::new();
    decoder.push(Bytes::from_static(piece));
    for expected in ["a", "b"] {
        assert_eq!(decoder.step(&mut events), Ok(Decoded::Events));
        assert_eq!(events.pop_front(), Some(ModelEvent::Text(expected.to_owned())));
        assert_eq!(events.pop_front(), None);
    }
    assert_eq!(decoder.step(&mut events), Ok(Decoded::NeedsInput));
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
        prop_assert_eq!(&read_stream(fixture.format, pieces), &fixture.expected, "{}", &fixture.name);
    }

    #[test]
    fn nonsense_never_breaks_the_reader(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut event = b"data: ".to_vec();
        event.extend_from_slice(&body);
        for format in WireFormat::ALL {
            prop_assert!(!read_stream(format, [&event[..]]).is_empty());
            prop_assert!(!read_whole(format, &body).is_empty());
        }
    }
}
