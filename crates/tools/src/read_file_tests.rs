//! `read-file` on real files: lines, modes, encodings, limits.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use super::*;
use crate::{Family, WorkspaceFiles, erase, testing};

async fn call_with(files: &WorkspaceFiles, input: Value) -> Result<String, String> {
    let ctx = ToolCtx { files: files.clone(), ..testing::ctx(&Arc::default()) };
    let output = testing::call_in(ctx, erase(ReadFile, Family::Host), input).await?;
    Ok(output.as_str().unwrap().to_owned())
}

async fn call(folder: &Path, input: Value) -> Result<String, String> {
    call_with(&testing::files_in(folder), input).await
}

fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[tokio::test]
async fn lines_are_returned_with_their_numbers() {
    let folder = folder_with(&[("src/a.txt", b"one\r\ntwo\n\nfour"), ("empty", b"")]);
    let absolute = folder.path().canonicalize().unwrap().join("src/a.txt");
    for path in ["src/a.txt", "./src/a.txt", "/workspace/src/a.txt", absolute.to_str().unwrap()] {
        let read = call(folder.path(), json!({ "path": path })).await.unwrap();
        assert_eq!(read, "L1: one\nL2: two\nL3: \nL4: four");
    }
    let read = call(folder.path(), json!({ "path": "src/a.txt", "offset": 2, "limit": 1 })).await.unwrap();
    assert_eq!(read, "L2: two");
    let read = call(folder.path(), json!({ "path": "empty" })).await.unwrap();
    assert_eq!(read, "(/workspace/empty is empty)");
}

#[tokio::test]
async fn a_long_file_says_where_to_read_on() {
    let text: String = (1..=2500).map(|number| format!("line {number}\n")).collect();
    let folder =
        folder_with(&[("long.txt", text.as_bytes()), ("wide.txt", "x".repeat(600).repeat(200).as_bytes())]);
    let read = call(folder.path(), json!({ "path": "long.txt" })).await.unwrap();
    assert!(
        read.ends_with("\nL2000: line 2000\n(the file continues; read on with offset 2001)"),
        "{}",
        &read[read.len() - 90..]
    );
    let read = call(folder.path(), json!({ "path": "long.txt", "offset": 2001 })).await.unwrap();
    assert!(read.ends_with("\nL2500: line 2500"));
    let read = call(folder.path(), json!({ "path": "wide.txt" })).await.unwrap();
    assert_eq!(read, format!("L1: {}\n(1 line is shown up to 500 bytes)", "x".repeat(500)));
    let many = format!("{}\n", "y".repeat(300)).repeat(1000);
    fs::write(folder.path().join("many.txt"), many).unwrap();
    let read = call(folder.path(), json!({ "path": "many.txt", "limit": 1000 })).await.unwrap();
    assert!(read.chars().count() < 41_000);
    assert!(read.contains("(the file continues; read on with offset 1"), "{}", &read[read.len() - 90..]);
}

#[tokio::test]
async fn other_encodings_are_read() {
    let utf16: Vec<u8> = "\u{feff}grüß\r\n你好\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = folder_with(&[
        ("utf16.txt", &utf16),
        ("gbk.txt", b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\n"),
    ]);
    for mode in ["slice", "indentation"] {
        let read =
            call(folder.path(), json!({ "path": "utf16.txt", "mode": mode, "includeSiblings": true })).await;
        assert_eq!(read.unwrap(), "L1: grüß\nL2: 你好");
    }
    let read = call(folder.path(), json!({ "path": "gbk.txt" })).await.unwrap();
    assert_eq!(read, "L1: 你好，世界。");
}

#[tokio::test]
async fn failures_have_a_code_and_say_what_to_do() {
    let folder = folder_with(&[
        ("a.txt", b"one\ntwo\n"),
        ("b.bin", b"\x7fELF\x02\x01\0\0\0\0\0\xff\xfe"),
        ("dir/x", b""),
    ]);
    for (input, expected) in [
        (
            json!({ "path": "a.txt", "offset": 3 }),
            "invalid_argument: /workspace/a.txt has 2 lines; line 3 is past its end",
        ),
        (
            json!({ "path": "a.txt", "mode": "indentation", "anchorLine": 9 }),
            "invalid_argument: /workspace/a.txt has 2 lines; `anchorLine` 9 is past its end",
        ),
        (json!({ "path": "b.bin" }), "unsupported_media_type: /workspace/b.bin is a binary file, not text"),
        (json!({ "path": "dir" }), "invalid_argument: /workspace/dir is a folder, not a file"),
        (json!({ "path": "missing" }), "not_found: /workspace/missing does not exist"),
        (json!({ "path": "../x" }), "access_denied: the path leaves the work directory through `..`"),
    ] {
        assert_eq!(call(folder.path(), input).await.unwrap_err(), expected);
    }
    let error = call(folder.path(), json!({ "path": "/etc/passwd" })).await.unwrap_err();
    assert!(error.starts_with("access_denied: ") && !error.contains("passwd"), "{error}");
}

#[tokio::test]
async fn a_block_is_read_by_indentation() {
    let text =
        b"import a\n\n# Adds.\ndef add(a):\n\tif a:\n\t\treturn 1\n\n\treturn 2\n\ndef sub(a):\n\tpass\n";
    let folder = folder_with(&[("a.py", text)]);
    let input = json!({ "path": "a.py", "mode": "indentation", "anchorLine": 6 });
    let read = call(folder.path(), input).await.unwrap();
    assert_eq!(read, "L3: # Adds.\nL4: def add(a):\nL5: \tif a:\nL6: \t\treturn 1\nL7: \nL8: \treturn 2");
    let input =
        json!({ "path": "a.py", "mode": "indentation", "anchorLine": 6, "maxLevels": 1, "maxLines": 2 });
    assert_eq!(call(folder.path(), input).await.unwrap(), "L6: \t\treturn 1");
}

#[tokio::test]
async fn what_was_read_is_recorded() {
    let folder = folder_with(&[("a.txt", b"abc")]);
    let files = testing::files_in(folder.path());
    call_with(&files, json!({ "path": "a.txt" })).await.unwrap();
    let path = files.domain.resolve("a.txt").unwrap();
    assert_eq!(files.record.last_read(&path).await.unwrap(), files.domain.version(&path).unwrap());
    assert!(call_with(&files, json!({ "path": "b.txt" })).await.is_err());
    let path = files.domain.resolve("b.txt").unwrap();
    assert_eq!(files.record.last_read(&path).await.unwrap(), None);
}

#[test]
fn it_needs_to_read_the_file_and_what_it_leads_to() {
    let folder = folder_with(&[(".env", b"KEY=1")]);
    std::os::unix::fs::symlink(".env", folder.path().join("harmless.txt")).unwrap();
    let files = testing::files_in(folder.path()).domain;
    let input = serde_json::from_value(json!({ "path": "/workspace/harmless.txt" })).unwrap();
    let paths = vec!["harmless.txt".to_owned(), ".env".to_owned()];
    assert_eq!(ReadFile.need(&input, &files), Need::Read { paths });
}
