//! Replays what fuzzing found interesting: the small corpus in `fuzz/corpus/template`, with the checks of the fuzz target.
//! `cargo xtask soak fuzz` looks for more.

#[path = "../../../fuzz/src/templates.rs"]
mod templates;

use std::{fs, path::Path};

#[test]
fn templates_stand_everything_that_was_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/template");
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        templates::template(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "only {replayed} inputs were found");
}
