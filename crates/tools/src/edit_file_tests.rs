//! `edit-file` on real files: results, previews, conflicts, encodings.

use serde_json::{Value, json};

use super::*;
use crate::{erase, testing::Folder, typed::Family};

fn input(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> =
        edits.iter().map(|(old, new)| json!({ "oldText": old, "newText": new })).collect();
    json!({ "path": path, "edits": edits })
}

#[tokio::test]
async fn text_is_replaced_and_the_difference_returned() {
    let folder = Folder::with(&[("a.txt", b"one\r\ntwo\r\nthree\r\n")]);
    let output = folder.call(EditFile, input("a.txt", &[("one\ntwo", "1\n2"), ("2", "zwei")])).await;
    let diff = "@@ -1,3 +1,3 @@\n-one\r\n-two\r\n+1\r\n+zwei\r\n three\r\n";
    let expected = json!({ "path": "a.txt", "kind": "modified", "added": 2, "removed": 2, "diff": diff });
    assert_eq!(output, Ok(expected));
    assert_eq!(folder.text("a.txt").as_deref(), Some("1\r\nzwei\r\nthree\r\n"));
}

#[tokio::test]
async fn replace_all_replaces_every_occurrence() {
    let folder = Folder::with(&[("a.txt", b"x x\nx\n")]);
    let edit = json!({ "oldText": "x", "newText": "y", "replaceAll": true });
    folder.call(EditFile, json!({ "path": "a.txt", "edits": [edit] })).await.unwrap();
    assert_eq!(folder.text("a.txt").as_deref(), Some("y y\ny\n"));
}

#[tokio::test]
async fn an_edit_that_does_not_fit_changes_nothing() {
    let folder = Folder::with(&[("a.txt", b"one\ntwo\ntwo\n")]);
    for (edits, expected) in [
        (
            &[("one", "1"), ("three", "3")][..],
            "conflict: a.txt: edit 2: the old text is not in the file; read the file again and copy the text exactly; \
             nothing was changed",
        ),
        (
            &[("two", "2")],
            "conflict: a.txt: edit 1: the old text is in the file 2 times, at lines 2 and 3; add text around it so that \
             it is unique, or set replaceAll; nothing was changed",
        ),
        (
            &[("", "2")],
            "invalid_argument: a.txt: edit 1: the old text is empty; write the text that is replaced; nothing was changed",
        ),
        (
            &[("one", "1"), ("1", "one")],
            "invalid_argument: the call changes nothing: the files stay as they are",
        ),
    ] {
        assert_eq!(folder.call(EditFile, input("a.txt", edits)).await, Err(expected.to_owned()));
        assert_eq!(folder.text("a.txt").as_deref(), Some("one\ntwo\ntwo\n"));
    }
    let error = folder.call(EditFile, input("a.txt", &[])).await.unwrap_err();
    assert!(error.contains("edits"), "{error}");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_edited() {
    let folder = Folder::with(&[("a.txt", b"one\n")]);
    folder.read("a.txt").await;
    folder.write("a.txt", b"one\nmore\n");
    let error = folder.call(EditFile, input("a.txt", &[("one", "1")])).await.unwrap_err();
    assert_eq!(error, "conflict: a.txt has changed since it was read; read it again");
    folder.read("a.txt").await;
    folder.call(EditFile, input("a.txt", &[("one", "1")])).await.unwrap();
    folder.call(EditFile, input("a.txt", &[("1", "2")])).await.unwrap();
    assert_eq!(folder.text("a.txt").as_deref(), Some("2\nmore\n"), "its own change counts as read");
}

#[tokio::test]
async fn files_that_are_missing_binary_or_too_large_are_refused() {
    let folder = Folder::with(&[("a.bin", b"a\0b"), ("big.txt", &vec![b'a'; 8 * 1024 * 1024 + 1])]);
    for (path, expected) in [
        ("none.txt", "not_found: none.txt does not exist"),
        ("a.bin", "unsupported_media_type: a.bin is not a text file; only text can be changed"),
        ("big.txt", "too_large: /workspace/big.txt has 8388609 bytes; at most 8388608 can be read at once"),
    ] {
        assert_eq!(folder.call(EditFile, input(path, &[("a", "b")])).await, Err(expected.to_owned()));
    }
}

#[tokio::test]
async fn other_encodings_stay() {
    let latin1 = b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Stra\xdfe\n";
    let folder = Folder::with(&[("a.txt", latin1)]);
    let output = folder.call(EditFile, input("a.txt", &[("Köln", "Düren")])).await.unwrap();
    assert_eq!(folder.bytes("a.txt").unwrap(), b"Gr\xfc\xdfe aus D\xfcren, sch\xf6ne Stra\xdfe\n");
    assert!(output["diff"].as_str().unwrap().contains("+Grüße aus Düren"), "{output}");
}

#[test]
fn the_model_reads_this() {
    let tool = erase(EditFile, Family::Host);
    insta::assert_snapshot!(serde_json::to_string_pretty(tool.spec()).unwrap(), @r##"
    {
      "name": "edit-file",
      "description": "Replace exact text in a file. Each `oldText` must be copied from the file with its white space and occur exactly once: add text around it to make it unique, or set `replaceAll`. Edits are applied in order; when one does not fit, none is.",
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
          "edits": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "oldText": {
                  "description": "The text to replace, exactly as it is in the file.",
                  "type": "string"
                },
                "newText": {
                  "description": "The text to put in its place; empty to remove it.",
                  "type": "string"
                },
                "replaceAll": {
                  "description": "Replace every occurrence. Default: the text must occur exactly once.",
                  "type": "boolean"
                }
              },
              "required": [
                "oldText",
                "newText"
              ]
            },
            "description": "What to replace, in order. Each edit sees the result of the one before.",
            "minItems": 1,
            "maxItems": 200
          }
        },
        "required": [
          "actionName",
          "path",
          "edits"
        ]
      }
    }
    "##);
}
