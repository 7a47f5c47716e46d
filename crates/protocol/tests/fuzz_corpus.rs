//! Replays what fuzzing found interesting: the small corpus in `fuzz/corpus/planted`, with the checks of the fuzz target.
//! `cargo xtask soak fuzz` looks for more.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "../../../fuzz/src/planted.rs"]
mod planted;

use std::{fs, path::Path};

#[test]
fn the_reader_of_planted_messages_stands_everything_that_was_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/planted");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        planted::planted(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "only {replayed} inputs were found");
}
