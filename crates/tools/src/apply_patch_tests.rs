//! `apply-patch` on real files: results, previews, conflicts, limits.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;

use super::*;
use crate::{erase, testing::Folder, typed::Family};

#[path = "../../patch/tests/support/corpus.rs"]
mod corpus;

async fn apply_text(folder: &Folder, patch: &str) -> Result<serde_json::Value, String> {
    folder.call(ApplyPatch, json!({ "patch": patch })).await
}

const ALL_KINDS: &str = "*** Begin Patch
*** Add File: new/a.txt
+new
*** Update File: change.txt
@@
 one
-two
+2
*** Delete File: delete.txt
*** Update File: move.sh
*** Move to: bin/moved.sh
-c
+C
*** End Patch
";

#[tokio::test]
async fn files_of_every_kind_are_changed_together() {
    let files: [(&str, &[u8]); 3] =
        [("change.txt", b"one\ntwo\n"), ("delete.txt", b"x\n"), ("move.sh", b"c\nd\n")];
    let folder = Folder::with(&files);
    fs::set_permissions(folder.path.join("move.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = apply_text(&folder, ALL_KINDS).await.unwrap();
    let expected = json!({ "files": [
        { "path": "new/a.txt", "kind": "created", "added": 1, "removed": 0, "diff": "@@ -0,0 +1 @@\n+new\n" },
        { "path": "change.txt", "kind": "modified", "added": 1, "removed": 1, "diff": "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" },
        { "path": "delete.txt", "kind": "deleted", "added": 0, "removed": 1, "diff": "@@ -1 +0,0 @@\n-x\n" },
        { "path": "bin/moved.sh", "from": "move.sh", "kind": "modified", "added": 1, "removed": 1,
          "diff": "@@ -1,2 +1,2 @@\n-c\n+C\n d\n" },
    ] });
    assert_eq!(output, expected);
    assert_eq!(folder.text("new/a.txt").as_deref(), Some("new\n"));
    assert_eq!(folder.text("change.txt").as_deref(), Some("one\n2\n"));
    assert_eq!((folder.text("delete.txt"), folder.text("move.sh")), (None, None));
    assert_eq!(folder.text("bin/moved.sh").as_deref(), Some("C\nd\n"));
    let mode = fs::metadata(folder.path.join("bin/moved.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "a move keeps the permissions");
}

#[tokio::test]
async fn when_one_file_does_not_fit_none_is_changed() {
    let files: [(&str, &[u8]); 3] =
        [("change.txt", b"one\nother\n"), ("delete.txt", b"x\n"), ("move.sh", b"c\n")];
    let folder = Folder::with(&files);
    let error = apply_text(&folder, ALL_KINDS).await.unwrap_err();
    assert_eq!(
        error,
        "conflict: change.txt: hunk 1: its lines are not in the file; the nearest is at line 1: line 2 is \"other\", but \
         the patch has \"two\"; nothing was changed"
    );
    for (name, bytes) in files {
        assert_eq!(folder.bytes(name).as_deref(), Some(bytes));
    }
    assert!(!folder.path.join("new").exists());
}

/// The whole corpus of the crate `patch`, through the tool and real files.
#[tokio::test]
async fn every_patch_of_the_corpus_gives_its_files() {
    let cases = corpus::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../patch/tests/corpus"));
    let mut changed = 0;
    for case in &cases {
        let before: Vec<(&str, &[u8])> =
            case.before.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        let folder = Folder::with(&before);
        let result = apply_text(&folder, &case.patch).await;
        let mut after = if case.error.is_some() { &case.before } else { &case.after };
        match &result {
            Ok(output) => {
                assert_eq!(
                    output.get("inexact").is_some(),
                    case.exactness.is_some(),
                    "{}: {output}",
                    case.name
                );
                assert!(case.error.is_none(), "{}: {output}", case.name);
                changed += 1;
            }
            Err(error) if case.error.is_none() => {
                assert!(error.contains("changes nothing"), "{}: {error}", case.name);
                after = &case.before;
            }
            Err(_) => {}
        }
        assert_eq!(tree(&folder.path), *after, "{}: {result:?}", case.name);
    }
    assert!(cases.len() >= 150 && changed >= 100, "{changed} of {}", cases.len());
}

fn tree(folder: &Path) -> corpus::Tree {
    let mut files = corpus::Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, String::from_utf8(fs::read(&path).unwrap()).unwrap());
            }
        }
    }
    files
}

#[tokio::test]
async fn a_file_that_exists_is_neither_added_nor_moved_over() {
    let folder = Folder::with(&[("a.txt", b"a\n"), ("b.txt", b"b\n"), ("dir/c.txt", b"c\n")]);
    for (change, expected) in [
        ("*** Add File: a.txt\n+x", "conflict: a.txt exists already; update it, or choose another name"),
        ("*** Add File: dir\n+x", "invalid_argument: /workspace/dir is a folder, not a file"),
        (
            "*** Add File: a.txt/x\n+x",
            "invalid_path: a.txt/x cannot be made, because a.txt is a file, not a folder",
        ),
        (
            "*** Update File: a.txt\n*** Move to: b.txt",
            "conflict: b.txt exists already; update it, or choose another name",
        ),
        ("*** Update File: none.txt\n-a\n+b", "not_found: none.txt does not exist"),
        ("*** Delete File: none.txt", "not_found: none.txt does not exist"),
        (
            "*** Update File: a.txt\n a",
            "invalid_argument: the call changes nothing: the files stay as they are",
        ),
        (
            "*** Update File: a.txt\n*** Move to: ./a.txt",
            "invalid_argument: the call changes nothing: the files stay as they are",
        ),
    ] {
        let patch = format!("*** Begin Patch\n{change}\n*** End Patch\n");
        assert_eq!(apply_text(&folder, &patch).await, Err(expected.to_owned()));
    }
}

#[tokio::test]
async fn a_file_gives_way_to_a_folder_and_a_folder_to_a_file() {
    let folder = Folder::with(&[("a", b"a\n"), ("b/c.txt", b"c\n")]);
    let patch = "*** Begin Patch\n*** Delete File: a\n*** Add File: a/new.txt\n+x\n*** Delete File: b/c.txt\n*** Add File: b\n+y\n*** End Patch";
    apply_text(&folder, patch).await.unwrap();
    assert_eq!(
        (folder.text("a/new.txt").as_deref(), folder.text("b").as_deref()),
        (Some("x\n"), Some("y\n"))
    );
}

#[tokio::test]
async fn one_file_under_two_names_is_one_file() {
    let folder = Folder::with(&[("a.txt", b"a\nb\n")]);
    let absolute = folder.path.canonicalize().unwrap().join("a.txt");
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Update File: /workspace/./a.txt\n A\n-b\n+B\n*** Update File: {}\n B\n+C\n*** End Patch",
        absolute.display()
    );
    let output = apply_text(&folder, &patch).await.unwrap();
    assert_eq!(output["files"].as_array().unwrap().len(), 1, "{output}");
    assert_eq!(output["files"][0]["path"], "a.txt");
    assert_eq!(folder.text("a.txt").as_deref(), Some("A\nB\nC\n"));
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let folder = Folder::with(&[("a.txt", b"a\n"), ("b.txt", b"b\n")]);
    folder.read("a.txt").await;
    folder.write("a.txt", b"a\nmore\n");
    for change in [
        "*** Update File: a.txt\n-a\n+A",
        "*** Delete File: a.txt",
        "*** Update File: a.txt\n*** Move to: c.txt",
    ] {
        let patch = format!("*** Begin Patch\n*** Delete File: b.txt\n{change}\n*** End Patch\n");
        let expected = "conflict: a.txt has changed since it was read; read it again";
        assert_eq!(apply_text(&folder, &patch).await, Err(expected.to_owned()));
    }
    assert_eq!(folder.text("b.txt").as_deref(), Some("b\n"));
}

#[tokio::test]
async fn permissions_of_git_diffs_are_set_and_shown() {
    let folder = Folder::with(&[("a.sh", b"a\n")]);
    let patch = "diff --git a/a.sh b/a.sh\nold mode 100644\nnew mode 100755\n\
                 diff --git a/b.sh b/b.sh\nnew file mode 100755\n--- /dev/null\n+++ b/b.sh\n@@ -0,0 +1 @@\n+b\n";
    let output = apply_text(&folder, patch).await.unwrap();
    assert_eq!(output["files"][0]["diff"], "\\ The permissions change from 644 to 755\n");
    assert_eq!(output["files"][1]["diff"], "\\ The permissions are 755\n@@ -0,0 +1 @@\n+b\n");
    for name in ["a.sh", "b.sh"] {
        assert_eq!(fs::metadata(folder.path.join(name)).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[tokio::test]
async fn binary_files_are_moved_and_deleted_but_not_changed() {
    let folder = Folder::with(&[("a.bin", b"a\0b"), ("b.bin", b"\0")]);
    let error = apply_text(&folder, "--- a/a.bin\n+++ b/a.bin\n@@ -1 +1 @@\n-a\n+b\n").await.unwrap_err();
    assert_eq!(error, "unsupported_media_type: a.bin is not a text file; only text can be changed");
    let patch =
        "*** Begin Patch\n*** Update File: a.bin\n*** Move to: c.bin\n*** Delete File: b.bin\n*** End Patch";
    let output = apply_text(&folder, patch).await.unwrap();
    assert_eq!(folder.bytes("c.bin").as_deref(), Some(&b"a\0b"[..]));
    assert_eq!((folder.bytes("a.bin"), folder.bytes("b.bin")), (None, None));
    assert_eq!(output["files"][0]["diff"], "");
}

#[tokio::test]
async fn broken_patches_fail_with_a_code() {
    let folder = Folder::with(&[("a.txt", b"a\n")]);
    for (patch, start) in [
        ("no patch", "invalid_argument: there is no patch in the text"),
        (
            "*** Begin Patch\n*** Add File: a\n+x\n",
            "invalid_argument: line 4 of the patch: the line *** End Patch is missing",
        ),
        (
            "Binary files a/x and b/x differ\n--- a/y\n+++ b/y\n",
            "unsupported_media_type: line 1 of the patch",
        ),
        ("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch", "access_denied: "),
        ("*** Begin Patch\n*** Update File: a.txt\n*** Move to: /etc/x\n*** End Patch", "access_denied: "),
    ] {
        let error = apply_text(&folder, patch).await.unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
}

#[tokio::test]
async fn the_question_names_the_files() {
    let folder = Folder::with(&[]);
    let need = |patch: &str| {
        let tool = erase(ApplyPatch, Family::Host);
        tool.prepare(&json!({ "patch": patch })).unwrap().need(&folder.files.domain)
    };
    let paths = ["new/a.txt", "change.txt", "delete.txt", "move.sh", "bin/moved.sh"].map(str::to_owned);
    let why = "It changes new/a.txt, change.txt and 3 more files.".to_owned();
    assert_eq!(need(ALL_KINDS), Need::Write { paths: paths.to_vec(), why });
    assert_eq!(need("no patch"), Need::Nothing, "it fails when it runs");
}

#[tokio::test]
async fn long_differences_are_cut_and_counted() {
    let folder = Folder::with(&[]);
    let mut patch = "*** Begin Patch\n".to_owned();
    for file in 0..20 {
        patch += &format!("*** Add File: {file}.txt\n{}", "+a line of text\n".repeat(1_000));
    }
    patch += "*** End Patch\n";
    let tool = erase(ApplyPatch, Family::Host);
    let preview = folder.preview(&tool, &json!({ "patch": patch })).await.unwrap();
    let together: usize = preview.iter().map(|file| file.diff.len()).sum();
    assert!(together <= 256 << 10 && preview.last().unwrap().cut && !preview[0].cut);
    let output = apply_text(&folder, &patch).await.unwrap();
    let files = output["files"].as_array().unwrap();
    assert_eq!(files.len(), 20);
    assert!(files.iter().all(|file| file["added"] == 1_000 && file["cut"] == true));
    assert!(output.to_string().len() < 30_000);
}

#[test]
fn the_model_reads_this() {
    let tool = erase(ApplyPatch, Family::Host);
    insta::assert_snapshot!(serde_json::to_string_pretty(tool.spec()).unwrap(), @r##"
    {
      "name": "apply-patch",
      "description": "Change several files at once: all changes are made, or none. The patch is a unified diff, or this format:\n\n*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@ def main():\n unchanged line\n-removed line\n+added line\n*** Add File: new.txt\n+every line of the new file\n*** Delete File: old.txt\n*** End Patch\n\nEvery line of a hunk begins with a space, `-` or `+`. Give about three unchanged lines around a change; a line after `@@` is a whole line of the file above the change and is needed only where the lines occur several times. `*** Move to:` is optional. `*** End of File` after a hunk says that it is at the end of the file.",
      "input_schema": {
        "type": "object",
        "properties": {
          "actionName": {
            "type": "string",
            "description": "A short purpose of this call, shown to the person."
          },
          "patch": {
            "type": "string",
            "description": "The patch."
          }
        },
        "required": [
          "actionName",
          "patch"
        ]
      }
    }
    "##);
}
