//! Blocks of lines by their indentation.

use proptest::prelude::*;

use super::*;

const RUST: &str = "\
use a;

/// One.
fn one() {
    let x = 1;
}

/// Two.
/// More.
#[test]
fn two() {
    if x {
        deep();

        deeper();
    } else {
        other();
    }
}

fn three() {}
";

const PYTHON: &str = "\
import a

# Adds.
def add(a, b):
    if a:
        return b

    return a

def sub(a, b):
    return a - b
";

fn found(text: &str, line: usize, change: impl Fn(&mut Around)) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut around = Around {
        anchor: line - 1,
        max_levels: 0,
        include_siblings: false,
        include_header: true,
        max_lines: 100,
    };
    change(&mut around);
    let range = block(&lines, &around);
    format!("{}-{}", range.start + 1, range.end)
}

#[test]
fn the_whole_function_around_a_line_is_found() {
    for (line, expected) in
        [(5, "3-6"), (4, "3-6"), (6, "3-6"), (13, "8-19"), (17, "8-19"), (11, "8-19"), (21, "21-21")]
    {
        assert_eq!(found(RUST, line, |_| ()), expected, "line {line}");
    }
    for (line, expected) in [(6, "3-8"), (4, "3-8"), (8, "3-8"), (11, "10-11"), (10, "10-11"), (1, "1-1")] {
        assert_eq!(found(PYTHON, line, |_| ()), expected, "line {line}");
    }
}

#[test]
fn header_siblings_and_levels_are_chosen() {
    assert_eq!(found(RUST, 13, |around| around.include_header = false), "11-19");
    assert_eq!(found(RUST, 13, |around| around.include_siblings = true), "1-21");
    assert_eq!(found(RUST, 13, |around| around.max_levels = 1), "12-18");
    assert_eq!(found(PYTHON, 6, |around| around.max_levels = 1), "5-6");
}

#[test]
fn the_limit_keeps_the_lines_nearest_to_the_anchor() {
    assert_eq!(found(RUST, 13, |around| around.max_lines = 1), "13-13");
    assert_eq!(found(RUST, 13, |around| around.max_lines = 3), "12-13");
    assert_eq!(found(RUST, 12, |around| around.max_lines = 5), "10-13");
}

proptest! {
    #[test]
    fn the_block_contains_the_anchor_and_keeps_the_limit(
        text in "([ \t]{0,8}[a-z{}#]{0,3}\n){1,40}", anchor in 0_usize..50, max_levels in 0_usize..4,
        include_siblings: bool, include_header: bool, max_lines in 1_usize..20,
    ) {
        let lines: Vec<&str> = text.lines().collect();
        let anchor = anchor % lines.len();
        let range = block(&lines, &Around { anchor, max_levels, include_siblings, include_header, max_lines });
        prop_assert!(range.end <= lines.len() && range.len() <= max_lines);
        prop_assert!(range.contains(&anchor) || lines[anchor].trim().is_empty());
    }
}
