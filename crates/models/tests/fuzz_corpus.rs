//! Replays the inputs that fuzzing found: the small corpora in `fuzz/corpus`, with the checks of the fuzz targets.
//! `cargo xtask soak fuzz` searches for more.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "../../../fuzz/src/answers.rs"]
mod answers;

use std::{fs, path::Path};

use models::WireFormat;

fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        check(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "only {replayed} inputs for {target} were found");
}

#[test]
fn the_sse_decoder_stands_everything_that_was_found() {
    replay("sse", answers::sse);
}

#[test]
fn the_stream_decoders_stand_everything_that_was_found() {
    replay("openai", |input| answers::answer(WireFormat::OpenAi, input));
    replay("openai_responses", |input| answers::answer(WireFormat::OpenAiResponses, input));
    replay("anthropic", |input| answers::answer(WireFormat::Anthropic, input));
    replay("gemini", |input| answers::answer(WireFormat::Google, input));
}
