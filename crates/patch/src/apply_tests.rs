//! Hunks on texts: exact, shifted and inexact matches, line ends, ambiguous places.

use test_support::cpu_time;

use super::*;
use crate::{
    parse,
    syntax::{FilePatch, Position},
};

fn hunks(text: &str) -> Vec<Hunk> {
    match parse(text).unwrap().files.remove(0) {
        FilePatch::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_places_and_shifts_of_hunks_are_reported() {
    let hunks = hunks("--- a\n+++ a\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -5 +5 @@\n-  e\n+E\n");
    let applied = apply_hunks("new\na\nb\nc\nd\ne\n", &hunks).unwrap();
    assert_eq!(applied.text, "new\na\nB\nc\nd\nE\n");
    let exact = Place { line: 2, exactness: Exactness::Exact, shifted: 1 };
    let fuzzy = Place { line: 6, exactness: Exactness::Space, shifted: 1 };
    assert_eq!(applied.places, [exact, fuzzy]);
    assert_eq!(applied.exactness(), Exactness::Space);
}

#[test]
fn no_hunks_change_nothing() {
    for text in ["", "a", "a\n", "\u{feff}", "\u{feff}a\r\n"] {
        assert_eq!(apply_hunks(text, &[]).unwrap().text, text);
    }
}

#[test]
fn numbers_far_outside_the_file_do_no_harm() {
    let line = |kind| HunkLine { kind, text: "a".to_owned(), newline: true };
    for above in [usize::MAX, usize::MAX - 1, isize::MAX as usize] {
        for old_lines in [0, 1, usize::MAX] {
            let position = Some(Position { above, old_lines });
            let insertion = Hunk { position, lines: vec![line(LineKind::Added)], ..Hunk::default() };
            assert_eq!(apply_hunks("a\n", &[insertion]), Err(HunkError::NoPlace { hunk: 1 }));
            let removal = Hunk { position, lines: vec![line(LineKind::Removed)], ..Hunk::default() };
            assert_eq!(apply_hunks("a\n", std::slice::from_ref(&removal)).unwrap().text, "");
            assert!(apply_hunks("a\nb\n", &[removal.clone(), removal]).is_err());
        }
    }
}

#[test]
fn a_file_that_repeats_itself_takes_bounded_time() {
    let old = "x\n".repeat(200_000);
    let text = "*** Begin Patch\n*** Update File: a\n".to_owned()
        + &format!("@@ -150000,500 +1 @@\n{}+y\n", " x\n".repeat(500))
        + &format!("@@ -90000,500 +1 @@\n{}-y\n", " x\n".repeat(500))
        + "*** End Patch\n";
    let error = apply_hunks(&old, &hunks(&text)).unwrap_err();
    assert!(matches!(error, HunkError::NotFound { hunk: 2, .. } | HunkError::TooMuchWork), "{error}");
}

#[test]
fn many_hunks_in_a_file_of_equal_lines_take_bounded_time() {
    let old = "x\n".repeat(300_000);
    let mut text = "--- a/x\n+++ b/x\n".to_owned();
    for hunk in 0..20_000 {
        text += &format!("@@ -{0} +{0} @@\n-x\n+y\n", 260_002 + hunk * 2);
    }
    // The last of them is the last line. These are above the others, where every line is a candidate.
    for hunk in 0..1_000 {
        text += &format!("@@ -{0} +{0} @@\n-x\n+z\n", 100_000 - hunk * 2);
    }
    let (result, took) = cpu_time(|| apply_hunks(&old, &hunks(&text)));
    assert!(took.as_secs() < 20, "{took:?}, unoptimised");
    assert_eq!(result, Err(HunkError::TooMuchWork));
}
