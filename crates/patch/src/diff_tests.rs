//! Differences of texts: hunks, counts, limits, binary content.

use proptest::prelude::*;
use test_support::cpu_time;

use super::*;

const NO_LIMIT: usize = usize::MAX;

fn text(old: &str, new: &str, context: usize) -> String {
    diff(old.as_bytes(), new.as_bytes(), context, NO_LIMIT).text
}

#[test]
fn hunks_are_written_as_diff_writes_them() {
    assert_eq!(text("a\nb\nc\n", "a\nB\nc\n", 3), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    assert_eq!(text("a\nb\nc\n", "a\nB\nc\n", 0), "@@ -2 +2 @@\n-b\n+B\n");
    assert_eq!(text("a\nb\n", "a\nx\nb\n", 0), "@@ -1,0 +2 @@\n+x\n");
    assert_eq!(text("", "a\n", 3), "@@ -0,0 +1 @@\n+a\n");
    assert_eq!(text("a\n", "", 3), "@@ -1 +0,0 @@\n-a\n");
    assert_eq!(text("a", "a\n", 3), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    assert_eq!(
        text("a\r\nb", "a\r\nc", 3),
        "@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    );
    let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let new = old.replace("3\n", "x\n");
    assert_eq!(
        text(&old, &new, 1),
        "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n@@ -12,3 +12,3 @@\n 12\n-13\n+1x\n 14\n"
    );
}

#[test]
fn equal_texts_have_no_difference() {
    assert_eq!(diff(b"a\nb", b"a\nb", 3, NO_LIMIT), TextDiff::default());
    assert_eq!(diff(b"", b"", 3, 0), TextDiff::default());
}

#[test]
fn changes_are_counted() {
    let result = diff(b"a\nb\nc\n", b"a\nx\ny\nc\nd\n", 3, NO_LIMIT);
    assert_eq!((result.added, result.removed, result.cut, result.binary), (3, 1, false, false));
}

#[test]
fn binary_files_have_no_text() {
    let expected = TextDiff { binary: true, ..TextDiff::default() };
    assert_eq!(diff(b"a\0", b"b", 3, NO_LIMIT), expected);
    assert_eq!(diff(b"a", b"\0", 3, NO_LIMIT), expected);
}

#[test]
fn other_encodings_are_shown_as_far_as_possible() {
    let result = diff(b"caf\xe9\n", b"cafe\n", 3, NO_LIMIT);
    assert_eq!(result.text, "@@ -1 +1 @@\n-caf\u{fffd}\n+cafe\n");
}

#[test]
fn long_differences_are_cut_between_lines() {
    let old = "a\nb\nc\n";
    let new = "a\nB\nC\nD\n";
    let whole = text(old, new, 3);
    for limit in 0..=whole.len() {
        let result = diff(old.as_bytes(), new.as_bytes(), 3, limit);
        assert!(result.text.len() <= limit && whole.starts_with(&result.text));
        assert!(result.text.is_empty() || result.text.ends_with('\n'));
        assert_eq!(result.cut, limit < whole.len());
        assert_eq!((result.added, result.removed), (3, 2), "all changes are counted");
        assert!(!result.text.ends_with("@@\n"), "no header without lines");
        let mut same = diff(old.as_bytes(), new.as_bytes(), 3, NO_LIMIT);
        cut(&mut same, limit);
        assert_eq!(same, result);
    }
}

/// Random texts with a few edits, some of many equal lines.
fn edited() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let line = prop::sample::select(vec!["", "}", "a", "b", "same", "other"]);
    let numbered = (0..40_usize).prop_map(|number| format!("line {number}"));
    let line = prop_oneof![line.prop_map(str::to_owned), numbered];
    let edit = (0..200_usize, 0..4_usize, prop::collection::vec(line.clone(), 0..4));
    let texts = (prop::collection::vec(line, 0..200), prop::collection::vec(edit, 0..6));
    texts.prop_map(|(old, edits)| {
        let mut new = old.clone();
        for (at, removed, added) in edits {
            let at = at.min(new.len());
            new.splice(at..(at + removed).min(new.len()), added);
        }
        (old, new)
    })
}

proptest! {
    /// The operations cover both texts in order, and what they call equal is equal.
    #[test]
    fn a_difference_leads_from_one_text_to_the_other((old, new) in edited()) {
        let lines = |text: &[String]| text.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>();
        let (old, new) = (lines(&old), lines(&new));
        let slices = |lines: &'_ [String]| lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>();
        let (old, new) = (slices(&old), slices(&new));
        let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
            (old.iter().map(Vec::as_slice).collect(), new.iter().map(Vec::as_slice).collect());
        let (mut at, mut was_equal) = ((0, 0), false);
        for operation in operations(&old, &new) {
            let (removed, added) = (operation.old_range(), operation.new_range());
            prop_assert_eq!((removed.start, added.start), at);
            at = (removed.end, added.end);
            let is_equal = matches!(operation, DiffOp::Equal { .. });
            prop_assert!(!is_equal || old[removed] == new[added]);
            prop_assert!(!(is_equal && was_equal), "equal lines are one operation");
            was_equal = is_equal;
        }
        prop_assert_eq!(at, (old.len(), new.len()));
    }
}

#[test]
fn hostile_texts_take_bounded_time() {
    let mut state = 7_u64;
    let mut line = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{}\n", (state >> 33) % 1_000)
    };
    let old: String = (0..150_000).map(|_| line()).collect();
    let new: String = (0..150_000).map(|_| line()).collect();
    let (short, long) = ("\n".repeat(1_000_000), "\n".repeat(1_500_000));
    for (old, new) in [(&old, &new), (&short, &long)] {
        let (result, took) = cpu_time(|| diff(old.as_bytes(), new.as_bytes(), 3, 10_000));
        assert!(took.as_secs() < 8, "{took:?}, unoptimised");
        assert!(result.added > 0 && result.text.len() <= 10_000);
    }
}
