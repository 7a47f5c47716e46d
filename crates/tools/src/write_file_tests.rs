//! `write-file` on real files: results, previews, conflicts.

use std::{os::unix::fs::PermissionsExt, sync::Arc};

use serde_json::json;

use super::*;
use crate::{erase, testing::Folder, typed::Family};

#[tokio::test]
async fn a_new_file_is_created_with_its_folders() {
    let folder = Folder::with(&[]);
    let output = folder.call(WriteFile, json!({ "path": "/workspace/a/b/c.txt", "content": "ü\n" })).await;
    assert_eq!(output, Ok(json!({ "path": "a/b/c.txt", "bytes": 3, "status": "created" })));
    assert_eq!(folder.text("a/b/c.txt").as_deref(), Some("ü\n"));
}

#[tokio::test]
async fn a_file_that_was_not_read_is_not_replaced() {
    let folder = Folder::with(&[("a.txt", b"old")]);
    let input = json!({ "path": "a.txt", "content": "new" });
    let error = folder.call(WriteFile, input.clone()).await.unwrap_err();
    assert_eq!(error, "conflict: a.txt exists and was not read in this session; read it first");
    folder.read("a.txt").await;
    folder.write("a.txt", b"somebody else");
    let error = folder.call(WriteFile, input.clone()).await.unwrap_err();
    assert_eq!(error, "conflict: a.txt has changed since it was read; read it again");
    assert_eq!(folder.text("a.txt").as_deref(), Some("somebody else"));
    folder.read("a.txt").await;
    let output = folder.call(WriteFile, input).await;
    assert_eq!(output, Ok(json!({ "path": "a.txt", "bytes": 3, "status": "overwritten" })));
    assert_eq!(folder.text("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn a_file_that_the_session_wrote_counts_as_read() {
    let folder = Folder::with(&[]);
    for (content, status) in [("one", "created"), ("two", "overwritten"), ("two", "overwritten")] {
        let output = folder.call(WriteFile, json!({ "path": "a.txt", "content": content })).await;
        assert_eq!(output, Ok(json!({ "path": "a.txt", "bytes": 3, "status": status })));
    }
}

#[tokio::test]
async fn a_file_that_was_deleted_meanwhile_is_created_again() {
    let folder = Folder::with(&[("a.txt", b"old")]);
    folder.read("a.txt").await;
    std::fs::remove_file(folder.path.join("a.txt")).unwrap();
    let output = folder.call(WriteFile, json!({ "path": "a.txt", "content": "new" })).await.unwrap();
    assert_eq!(output["status"], "created");
}

#[tokio::test]
async fn encodings_marks_and_permissions_stay() {
    let gbk =
        b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xce\xc4\xbc\xfe\n";
    let folder =
        Folder::with(&[("gbk.txt", gbk), ("bom.txt", b"\xef\xbb\xbfa\n"), ("utf16.txt", b"\xff\xfea\0\n\0")]);
    let script = std::fs::Permissions::from_mode(0o750);
    std::fs::set_permissions(folder.path.join("gbk.txt"), script).unwrap();
    for name in ["gbk.txt", "bom.txt", "utf16.txt"] {
        folder.read(name).await;
        folder.call(WriteFile, json!({ "path": name, "content": "世界\n" })).await.unwrap();
    }
    assert_eq!(folder.bytes("gbk.txt").unwrap(), b"\xca\xc0\xbd\xe7\n");
    assert_eq!(folder.bytes("bom.txt").unwrap(), "\u{feff}世界\n".as_bytes());
    assert_eq!(folder.bytes("utf16.txt").unwrap(), b"\xff\xfe\x16\x4e\x4c\x75\n\0");
    let mode = std::fs::metadata(folder.path.join("gbk.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    let error = folder.call(WriteFile, json!({ "path": "gbk.txt", "content": "😀\n" })).await;
    // One line of Chinese text may be taken for another encoding of it, which has the character.
    if let Err(error) = error {
        assert!(error.starts_with("invalid_argument: gbk.txt is encoded as "), "{error}");
    }
}

#[tokio::test]
async fn what_is_not_text_is_refused() {
    let folder = Folder::with(&[("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")]);
    folder.read("a.png").await;
    let error = folder.call(WriteFile, json!({ "path": "a.png", "content": "x" })).await.unwrap_err();
    assert_eq!(error, "unsupported_media_type: a.png is not a text file; only text can be changed");
    let error = folder.call(WriteFile, json!({ "path": "b.txt", "content": "a\0b" })).await.unwrap_err();
    assert!(error.starts_with("invalid_argument: "), "{error}");
    let content = "x".repeat(8 * 1024 * 1024 + 1);
    let error = folder.call(WriteFile, json!({ "path": "b.txt", "content": content })).await.unwrap_err();
    assert_eq!(error, "too_large: the content is larger than 8 MiB");
}

#[tokio::test]
async fn other_places_and_other_kinds_are_refused() {
    let folder = Folder::with(&[("dir/a.txt", b"a"), ("real.txt", b"a")]);
    std::os::unix::fs::symlink("real.txt", folder.path.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("dir", folder.path.join("linked")).unwrap();
    for (path, code) in [
        ("../a.txt", "access_denied"),
        ("/etc/passwd", "access_denied"),
        ("a\u{7}b", "invalid_path"),
        ("dir", "invalid_argument"),
        ("", "invalid_argument"),
        ("link.txt", "access_denied"),
        ("linked/a.txt", "access_denied"),
        ("linked/new.txt", "access_denied"),
        ("real.txt/new.txt", "invalid_path"),
    ] {
        let error = folder.call(WriteFile, json!({ "path": path, "content": "x" })).await.unwrap_err();
        assert!(error.starts_with(&format!("{code}: ")), "{path}: {error}");
    }
    assert_eq!(folder.text("real.txt").as_deref(), Some("a"));
}

#[tokio::test]
async fn the_person_is_shown_the_difference() {
    let folder = Folder::with(&[("a.txt", b"a\nb\n")]);
    folder.read("a.txt").await;
    let tool = erase(WriteFile, Family::Host);
    let input = json!({ "path": "./a.txt", "content": "a\nc\n" });
    let diff = FileDiff {
        path: "a.txt".to_owned(),
        from: None,
        kind: protocol::file_change::ChangeKind::Modified,
        added: 1,
        removed: 1,
        diff: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n".to_owned(),
        cut: false,
    };
    assert_eq!(folder.preview(&tool, &input).await, Ok(vec![diff]));
    assert_eq!(folder.text("a.txt").as_deref(), Some("a\nb\n"), "nothing was written");
    let need = Arc::clone(&tool).prepare(&input).unwrap().need(&folder.files.domain);
    assert_eq!(need, Need::Write { paths: vec!["a.txt".to_owned()], why: "It writes a.txt.".to_owned() });
    let outside = tool.prepare(&json!({ "path": "/etc/passwd", "content": "" })).unwrap();
    assert_eq!(outside.need(&folder.files.domain), Need::Nothing, "it fails when it runs");
}

#[test]
fn the_model_reads_this() {
    let tool = erase(WriteFile, Family::Host);
    insta::assert_snapshot!(serde_json::to_string_pretty(tool.spec()).unwrap(), @r##"
    {
      "name": "write-file",
      "description": "Create a text file, or replace the whole content of one. Read an existing file first: one that was not read in this session, or that changed since, is not replaced. To change a part of a file use `edit-file` or `apply-patch`. Folders are made as needed.",
      "input_schema": {
        "type": "object",
        "properties": {
          "actionName": {
            "type": "string",
            "description": "A short purpose of this call, shown to the person."
          },
          "path": {
            "type": "string",
            "description": "The file, relative to the work directory."
          },
          "content": {
            "type": "string",
            "description": "The whole new content."
          }
        },
        "required": [
          "actionName",
          "path",
          "content"
        ]
      }
    }
    "##);
}
