//! Patches as they are written: envelopes, unified diffs, and what is refused.

use super::*;
use crate::syntax::{FilePatch, LineKind, Position};

fn update(text: &str) -> (Option<String>, Option<u32>, Vec<Hunk>) {
    match parse(text).unwrap().files.remove(0) {
        FilePatch::Update { move_to, mode, hunks, .. } => (move_to, mode, hunks),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_update_has_anchors_lines_and_an_end() {
    let (move_to, mode, hunks) = update(
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ class A\n@@ def f\n x\n-y\n+z\n*** End of File\n*** End Patch",
    );
    assert_eq!((move_to.as_deref(), mode), (Some("b"), None));
    assert_eq!(hunks.len(), 1);
    assert_eq!(hunks[0].anchors, ["class A", "def f"]);
    assert!(hunks[0].at_end);
    let lines: Vec<_> = hunks[0].lines.iter().map(|line| (line.kind, line.text.as_str())).collect();
    assert_eq!(lines, [(LineKind::Context, "x"), (LineKind::Removed, "y"), (LineKind::Added, "z")]);
}

#[test]
fn positions_count_the_lines_above() {
    let text = |range: &str| format!("--- a/x\n+++ b/x\n@@ -{range} +1 @@\n-a\n+b\n");
    let position = |range| update(&text(range)).2[0].position;
    assert_eq!(position("5,1"), Some(Position { above: 4, old_lines: 1 }));
    assert_eq!(position("5"), Some(Position { above: 4, old_lines: 1 }));
    assert_eq!(position("5,0"), Some(Position { above: 5, old_lines: 0 }));
    assert_eq!(position("0,1"), Some(Position { above: 0, old_lines: 1 }));
}

#[test]
fn modes_of_git_are_read() {
    let text = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
    assert_eq!(update(text), (None, Some(0o755), vec![]));
    let text = "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
    let expected = FilePatch::Add { path: "x".to_owned(), content: "a\n".to_owned(), mode: Some(0o755) };
    assert_eq!(parse(text).unwrap().files, [expected]);
}

#[test]
fn what_is_read_is_bounded() {
    let too_large = |text: &str| match parse(text) {
        Err(PatchError::TooLarge(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(too_large(&"x".repeat(MAX_PATCH_BYTES + 1)), "it has more than 16777216 bytes");
    assert_eq!(too_large(&"\n".repeat(MAX_LINES + 1)), "it has more than 1000000 lines");
    let files = "*** Delete File: a\n".repeat(MAX_FILES + 1);
    assert_eq!(
        too_large(&format!("*** Begin Patch\n{files}*** End Patch\n")),
        "it changes more than 5000 files"
    );
    let hunks = "@@\n-a\n".repeat(MAX_HUNKS + 1);
    let text = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    assert_eq!(too_large(&text), "it has more than 50000 hunks");
    let text = format!("--- a\n+++ a\n{}", "@@ -1 +1 @@\n-a\n".repeat(MAX_HUNKS + 1));
    assert_eq!(too_large(&text), "it has more than 50000 hunks");
}
