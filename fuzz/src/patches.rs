//! A patch and the file that it changes: any text.

use patch::{FilePatch, Hunk, apply_hunks, diff, parse};

/// Reading never panics; a change that was applied can be shown as a difference, and the difference applied again. The
/// input is the file, a zero byte and the patch.
pub fn patch(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (old, text) = text.split_once('\0').unwrap_or(("a\nb\nc\n", text));
    let read = parse(text);
    assert_eq!(read, parse(text), "the same text reads the same");
    let Ok(read) = read else { return };
    assert!(!read.files.is_empty(), "a patch changes a file");
    for file in &read.files {
        assert!(!file.path().is_empty(), "every file has a name");
        match file {
            FilePatch::Add { content, .. } => assert!(content.len() <= text.len()),
            FilePatch::Delete { hunks, .. } | FilePatch::Update { hunks, .. } => apply(old, text, hunks),
        }
    }
}

fn apply(old: &str, text: &str, hunks: &[Hunk]) {
    let applied = match apply_hunks(old, hunks) {
        Ok(applied) => applied,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(applied.places.len(), hunks.len(), "every hunk has a place");
    assert!(applied.text.len() <= 2 * (old.len() + text.len()) + 8, "nothing is invented");
    let changed = diff(old.as_bytes(), applied.text.as_bytes(), 3, usize::MAX);
    if changed.binary || old == applied.text {
        return;
    }
    let again = parse(&format!("--- a/x\n+++ b/x\n{}", changed.text)).expect("a difference can be read");
    let Some(FilePatch::Update { hunks, .. }) = again.files.first() else { panic!("{again:?}") };
    let again = apply_hunks(old, hunks).expect("a difference can be applied").text;
    assert_eq!(again, applied.text, "the difference is the change");
}
