//! Replays what fuzzing found interesting: the small corpus in `fuzz/corpus/patch`, with the checks of the fuzz target.
//! `cargo xtask soak fuzz` looks for more.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "../../../fuzz/src/patches.rs"]
mod patches;

use std::{fs, path::Path};

#[test]
fn the_patch_reader_stands_everything_that_was_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/patch");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        patches::patch(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "only {replayed} inputs were found");
}
