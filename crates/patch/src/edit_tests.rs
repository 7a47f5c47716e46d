//! Edits: exact texts, several matches, line ends.

use super::*;

fn one(old: &str, old_text: &str, new_text: &str, replace_all: bool) -> Result<String, EditError> {
    edit(old, &[Edit { old_text: old_text.to_owned(), new_text: new_text.to_owned(), replace_all }])
}

fn changed(old: &str, old_text: &str, new_text: &str) -> String {
    one(old, old_text, new_text, false).unwrap()
}

fn message(old: &str, old_text: &str, new_text: &str) -> String {
    one(old, old_text, new_text, false).unwrap_err().to_string()
}

#[test]
fn text_that_occurs_once_is_replaced() {
    assert_eq!(changed("one two\nthree\n", "two\nth", "2\nT"), "one 2\nTree\n");
    assert_eq!(changed("a", "a", ""), "");
    assert_eq!(changed("äöü", "ö", "o"), "äoü");
}

#[test]
fn text_that_is_not_unique_is_counted_and_located() {
    let expected = "edit 1: the old text is in the file 3 times, at lines 1, 2 and 4; add text around it so that it is \
                    unique, or set replaceAll";
    assert_eq!(message("x\nax\n\nx", "x", "y"), expected);
    let many = message(&"x\n".repeat(20), "x", "y");
    assert!(many.contains("20 times, at lines 1, 2, 3, 4, 5, 6, 7, 8 and more;"), "{many}");
    assert_eq!(one("x x x", "x", "yy", true).unwrap(), "yy yy yy");
}

#[test]
fn overlapping_text_is_not_unique() {
    assert!(message("aaa", "aa", "b").contains("2 times, at lines 1 and 1;"));
    assert!(message("x\r\nx\r\nx", "x\nx", "b").contains("2 times, at lines 1 and 2;"));
    assert_eq!(one("aaa", "aa", "b", true).unwrap(), "ba");
}

#[test]
fn absent_text_is_explained() {
    assert_eq!(
        message("fn a() {\n    b();\n}\n", "fn a() {\n  b();\n}", "x"),
        "edit 1: the old text is not in the file; it is at line 1 with other white space: copy it exactly"
    );
    assert_eq!(
        message("x\nit’s\n", "it's", "x"),
        "edit 1: the old text is not in the file; it is at line 2 with other quotes or dashes: copy it exactly"
    );
    assert_eq!(
        message("a\n", "b", "x"),
        "edit 1: the old text is not in the file; read the file again and copy the text exactly"
    );
    assert_eq!(message("", "b", "x"), message("a", "b", "x"));
}

#[test]
fn edits_without_meaning_are_refused() {
    assert_eq!(one("a", "", "b", true), Err(EditError::Empty { edit: 1 }));
    assert_eq!(one("a", "a", "a", false), Err(EditError::Same { edit: 1 }));
    let edits = vec![Edit { old_text: "a".into(), new_text: "b".into(), replace_all: true }; MAX_EDITS + 1];
    assert_eq!(edit("a", &edits), Err(EditError::TooMany(MAX_EDITS + 1)));
    let huge = "b".repeat(100);
    assert_eq!(one(&"a".repeat(1_000_000), "a", &huge, true), Err(EditError::TooLarge { edit: 1 }));
}

#[test]
fn edits_follow_each_other_and_none_is_applied_alone() {
    let step = |old_text: &str, new_text: &str| Edit {
        old_text: old_text.to_owned(),
        new_text: new_text.to_owned(),
        replace_all: false,
    };
    assert_eq!(edit("a\n", &[step("a", "b"), step("b\n", "c\n")]).unwrap(), "c\n");
    let error = edit("a\n", &[step("a", "b"), step("a", "c")]).unwrap_err();
    assert!(matches!(error, EditError::Absent { edit: 2, .. }));
}

#[test]
fn files_with_crlf_accept_lf_and_stay_crlf() {
    assert_eq!(changed("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(changed("a\r\nb\r\n", "b", "x\ny"), "a\r\nx\r\ny\r\n");
    assert_eq!(changed("a\r\nb", "b", "x\ny"), "a\r\nx\r\ny");
    assert_eq!(changed("a\r\nb\r\n", "\nb", "\nx"), "a\r\nx\r\n");
    assert_eq!(changed("a\r\nb\nc", "a\nb\nc", "x\ny"), "x\r\ny", "mixed endings match too");
    assert_eq!(changed("a\nb\r\nc\nd\n", "c", "x\ny"), "a\nb\r\nx\ny\nd\n");
    assert_eq!(changed("a\nb\n", "a\nb", "x\ny"), "x\ny\n");
}

#[test]
fn carriage_returns_of_an_edit_are_kept() {
    assert_eq!(changed("a\r\nb\r\n", "a\r\n", "a\n"), "a\nb\r\n");
    assert_eq!(changed("a\nb\n", "a\n", "a\r\n"), "a\r\nb\n");
}

#[test]
fn a_byte_order_mark_stays() {
    assert_eq!(changed("\u{feff}a\n", "a", "b"), "\u{feff}b\n");
}
