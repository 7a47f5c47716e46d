//! Places of lines in a text.

use super::*;
use crate::lines::split;

#[test]
fn places_are_found_in_order_and_from_a_line_on() {
    let lines = split("a\nb\na\nb\na\n");
    let mut index = LineIndex::new(&lines);
    assert_eq!(index.find(Exactness::Exact, &["a", "b"], 0, 9), Ok(vec![0, 2]));
    assert_eq!(index.find(Exactness::Exact, &["a", "b"], 1, 9), Ok(vec![2]));
    assert_eq!(index.find(Exactness::Exact, &["b", "a"], 0, 1), Ok(vec![1]));
    assert_eq!(index.find(Exactness::Exact, &["b", "b"], 0, 9), Ok(vec![]));
    assert_eq!(index.find(Exactness::Exact, &["c"], 0, 9), Ok(vec![]));
    assert_eq!(index.find(Exactness::Exact, &["a"; 6], 0, 9), Ok(vec![]));
    assert_eq!(index.find(Exactness::Exact, &["a"], 77, 9), Ok(vec![]));
}

#[test]
fn each_rule_is_looser_than_the_one_before() {
    let lines = split("\u{feff}x\r\n  say \u{201c}hi\u{201d}  \n");
    let mut index = LineIndex::new(&lines);
    let mut first = |wanted: &str| {
        Exactness::ALL.into_iter().find(|rule| index.find(*rule, &[wanted], 0, 1) == Ok(vec![1]))
    };
    assert_eq!(first("  say \u{201c}hi\u{201d}  "), Some(Exactness::Exact));
    assert_eq!(first("  say \u{201c}hi\u{201d}"), Some(Exactness::TrailingSpace));
    assert_eq!(first("say \u{201c}hi\u{201d}"), Some(Exactness::Space));
    assert_eq!(first("say \"hi\""), Some(Exactness::Punctuation));
    assert_eq!(first("say  \"hi\""), None);
    assert_eq!(first("Say \"hi\""), None);
    assert_eq!(
        index.find(Exactness::Exact, &["x"], 0, 1),
        Ok(vec![0]),
        "byte order mark and CR do not count"
    );
}

#[test]
fn endless_comparisons_are_cut_off() {
    let text = "a\n".repeat(20_000);
    let lines = split(&text);
    let mut index = LineIndex::new(&lines);
    let mut wanted = vec!["a"; 10_000];
    assert_eq!(index.find(Exactness::Exact, &wanted, 0, 2), Ok(vec![0, 1]));
    wanted.push("b");
    assert_eq!(index.find(Exactness::Exact, &wanted, 0, 2), Ok(vec![]));
    wanted.pop();
    assert_eq!(index.find(Exactness::Exact, &wanted, 0, usize::MAX), Err(HunkError::TooMuchWork));
}
