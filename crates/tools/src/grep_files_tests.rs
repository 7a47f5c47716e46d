//! `grep-files` on real files: matches, limits, files that may not be read.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::*;
use crate::{Family, erase, testing};

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (place, (path, text)) in [
        ("src/a.rs", "fn one() {}\n\nfn two() {}\n"),
        ("src/b.ts", "function one() {}\n"),
        ("notes.md", "One fn\n"),
        (".env", "fn=secret\n"),
        (".gitignore", "*.log\n"),
        ("x.log", "fn\n"),
        ("many.txt", &"fn\n".repeat(30)),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - place as u64);
        fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }
    folder
}

async fn call(folder: &Path, input: Value) -> Result<String, String> {
    let mut files = testing::files_in(folder);
    files.may_read = Arc::new(|path| !path.ends_with(".env"));
    let ctx = ToolCtx { files, ..testing::ctx(&Arc::default()) };
    let output = testing::call_in(ctx, erase(GrepFiles, Family::Host), input).await?;
    Ok(output.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn matching_lines_are_returned_by_file() {
    let folder = project();
    let found = call(folder.path(), json!({ "pattern": r"fn \w+\(", "include": "*.rs" })).await.unwrap();
    assert_eq!(found, "src/a.rs\n  1: fn one() {}\n  3: fn two() {}");
    let found =
        call(folder.path(), json!({ "pattern": "ONE", "path": "src", "ignoreCase": true })).await.unwrap();
    assert_eq!(found, "src/a.rs\n  1: fn one() {}\nsrc/b.ts\n  1: function one() {}");
    let found = call(folder.path(), json!({ "pattern": "^fn$", "path": "many.txt" })).await.unwrap();
    assert!(
        found.starts_with("many.txt\n  1: fn\n") && found.ends_with("\n  20: fn\n  (10 more in this file)"),
        "{found}"
    );
}

#[tokio::test]
async fn paths_only_and_limits() {
    let folder = project();
    let note =
        "(1 file was not searched, because reading them needs an approval; name one as `path` to ask for it)";
    let found = call(folder.path(), json!({ "pattern": "fn", "output": "files" })).await.unwrap();
    assert_eq!(found, format!("src/a.rs\nnotes.md\nmany.txt\n{note}"));
    let found = call(folder.path(), json!({ "pattern": "fn", "output": "files", "limit": 1 })).await.unwrap();
    assert_eq!(found, format!("src/a.rs\n(2 more files match)\n{note}"));
    let found = call(folder.path(), json!({ "pattern": "fn", "limit": 2 })).await.unwrap();
    let expected = "src/a.rs\n  1: fn one() {}\n  3: fn two() {}\n(31 more matching lines, 2 more files)";
    assert_eq!(found, format!("{expected}\n{note}"));
    let found = call(folder.path(), json!({ "pattern": "nowhere", "include": "*.rs" })).await.unwrap();
    assert_eq!(found, "No file matches the pattern.");
}

#[tokio::test]
async fn a_file_that_is_named_itself_is_searched() {
    let folder = project();
    // Reading it was judged before: the call would not run otherwise.
    let found = call(folder.path(), json!({ "pattern": "secret", "path": ".env" })).await.unwrap();
    assert_eq!(found, ".env\n  1: fn=secret");
    let input = serde_json::from_value(json!({ "pattern": "x", "path": ".env" })).unwrap();
    let need = GrepFiles.need(&input, &testing::files_in(folder.path()).domain);
    assert_eq!(need, Need::Read { paths: vec![".env".to_owned()] });
}

#[tokio::test]
async fn failures_have_a_code_and_say_what_is_wrong() {
    let folder = project();
    for (input, start) in [
        (json!({ "pattern": "(" }), "invalid_argument: the pattern is not a valid regular expression"),
        (json!({ "pattern": "x", "include": "{" }), "invalid_argument: the pattern `{` is not a valid glob"),
        (json!({ "pattern": "x", "path": "../.." }), "access_denied: "),
        (json!({ "pattern": "x", "path": "missing" }), "not_found: /workspace/missing does not exist"),
    ] {
        let error = call(folder.path(), input).await.unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let folder = project();
    let ctx = ToolCtx { files: testing::files_in(folder.path()), ..testing::ctx(&Arc::default()) };
    ctx.cancel.cancel();
    let input = serde_json::from_value(json!({ "pattern": "fn" })).unwrap();
    assert!(matches!(GrepFiles.run(ctx, input).await, Err(ToolError::Cancelled)));
}
