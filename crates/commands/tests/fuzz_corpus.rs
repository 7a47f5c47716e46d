//! Replays what fuzzing found interesting: the small corpus in `fuzz/corpus/commands`, with the checks of the fuzz target.
//! The lines of the matrix pass the same checks. `cargo xtask soak fuzz` looks for more.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "../../../fuzz/src/commands.rs"]
mod lines;

use std::{fs, path::Path};

#[test]
fn the_judge_stands_everything_that_was_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/commands");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        lines::commands(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "only {replayed} inputs were found");
}

#[test]
fn the_lines_of_the_matrix_pass_the_same_checks() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix")).unwrap() {
        for line in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let line = line.split_once("  ").map_or(line, |(_, line)| line);
            lines::commands(line.as_bytes());
        }
    }
}
