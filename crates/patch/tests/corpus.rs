//! Applies every patch of the corpus and compares the files after it, or the error.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "support/corpus.rs"]
mod corpus;

use std::path::Path;

use corpus::Tree;
use patch::{Exactness, FilePatch, apply_hunks, parse};

/// Applies a patch to files in memory: all or nothing.
fn apply(before: &Tree, text: &str) -> Result<(Tree, Exactness), String> {
    let patch = parse(text).map_err(|error| error.to_string())?;
    let mut files = before.clone();
    let mut worst = Exactness::Exact;
    for file in &patch.files {
        let missing = |path: &str| format!("{path} does not exist");
        match file {
            FilePatch::Add { path, content, .. } => {
                if files.insert(path.clone(), content.clone()).is_some() {
                    return Err(format!("{path} exists"));
                }
            }
            FilePatch::Delete { path, hunks } => {
                let old = files.remove(path).ok_or_else(|| missing(path))?;
                let rest = apply_hunks(&old, hunks).map_err(|error| format!("{path}: {error}"))?.text;
                if !hunks.is_empty() && !rest.is_empty() {
                    return Err(format!("{path} has other lines than the patch deletes"));
                }
            }
            FilePatch::Update { path, move_to, hunks, .. } => {
                let old = files.remove(path).ok_or_else(|| missing(path))?;
                let applied = apply_hunks(&old, hunks).map_err(|error| format!("{path}: {error}"))?;
                worst = worst.max(applied.exactness());
                let target = move_to.as_ref().unwrap_or(path);
                if files.insert(target.clone(), applied.text).is_some() {
                    return Err(format!("{target} exists"));
                }
            }
        }
    }
    Ok((files, worst))
}

#[test]
fn every_patch_of_the_corpus_gives_its_result() {
    let cases = corpus::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"));
    assert!(cases.len() >= 150, "only {} cases were found", cases.len());
    let mut names = std::collections::BTreeSet::new();
    let mut wrong = Vec::new();
    for case in &cases {
        assert!(names.insert(&case.name), "two cases are named {:?}", case.name);
        assert!(!case.patch.is_empty(), "{:?} has no patch", case.name);
        let exactness = match case.exactness.as_deref() {
            None => Exactness::Exact,
            Some("trailing-space") => Exactness::TrailingSpace,
            Some("space") => Exactness::Space,
            Some("punctuation") => Exactness::Punctuation,
            Some(other) => panic!("{other}"),
        };
        let result = apply(&case.before, &case.patch);
        let right = match (&result, &case.error) {
            (Ok((after, matched)), None) => *after == case.after && *matched == exactness,
            (Err(error), Some(expected)) => error.contains(expected) && !expected.is_empty(),
            _ => false,
        };
        if !right {
            let expected = case.error.as_ref().map_or(Ok((&case.after, exactness)), Err);
            wrong.push(format!("{}:\n  expected {expected:?}\n  result   {result:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The text of a patch that adds, changes, moves and deletes many files.
fn thousand_files() -> (Tree, String, Tree) {
    let (mut before, mut after) = (Tree::new(), Tree::new());
    let mut text = "*** Begin Patch\n".to_owned();
    for number in 0..1_000 {
        let path = format!("dir{}/file{number}.txt", number % 10);
        let old = format!("first {number}\nsecond {number}\nthird {number}\n");
        let new = format!("first {number}\n2nd {number}\nthird {number}\n");
        let hunk = format!("@@\n first {number}\n-second {number}\n+2nd {number}\n third {number}\n");
        match number % 4 {
            0 => {
                text += &format!("*** Add File: {path}\n+first {number}\n+2nd {number}\n+third {number}\n");
                after.insert(path, new);
            }
            1 => {
                text += &format!("*** Delete File: {path}\n");
                before.insert(path, old);
            }
            2 => {
                text += &format!("*** Update File: {path}\n*** Move to: moved/{number}\n{hunk}");
                before.insert(path, old);
                after.insert(format!("moved/{number}"), new);
            }
            _ => {
                text += &format!("*** Update File: {path}\n{hunk}");
                before.insert(path.clone(), old);
                after.insert(path, new);
            }
        }
    }
    (before, text + "*** End Patch\n", after)
}

#[test]
fn a_thousand_files_are_changed_by_one_patch() {
    let (before, text, after) = thousand_files();
    assert_eq!(apply(&before, &text), Ok((after, Exactness::Exact)));
}

#[test]
fn one_wrong_file_of_a_thousand_is_named() {
    let (mut before, text, _) = thousand_files();
    before.insert("dir3/file503.txt".to_owned(), "first 503\nsecond\nthird 503\n".to_owned());
    let error = apply(&before, &text).unwrap_err();
    assert_eq!(
        error,
        "dir3/file503.txt: hunk 1: its lines are not in the file; the nearest is at line 1: line 2 is \"second\", but \
         the patch has \"second 503\""
    );
}
