//! Suffixes are compared without case, by every tool that changes files.

use serde_json::json;

use super::*;
use crate::{apply_patch::ApplyPatch, edit_file::EditFile, testing::Folder, write_file::WriteFile};

fn limit(suffixes: &[&str]) -> EditLimit {
    let suffixes: Vec<String> = suffixes.iter().map(|&suffix| suffix.to_owned()).collect();
    EditLimit::default().with(&suffixes)
}

#[test]
fn a_suffix_begins_with_a_dot_and_is_no_path() {
    for good in [".md", ".MD", ".d.ts", ".文档"] {
        assert!(EditLimit::is_suffix(good), "{good}");
    }
    for bad in
        ["", ".", "md", "*.md", ".m d", "./md", ".a/b", ".a\\b", ".\n", ".*", &format!(".{}", "x".repeat(64))]
    {
        assert!(!EditLimit::is_suffix(bad), "{bad:?}");
    }
}

#[test]
fn names_are_compared_without_case_and_an_empty_list_is_no_limit() {
    let folder = Folder::with(&[]);
    let path = |name: &str| folder.files.domain.resolve(name).unwrap();
    let markdown = limit(&[".Md", ".txt"]);
    for allowed in ["a.md", "A.MD", "docs/x.Md", "x.TXT"] {
        assert!(markdown.check([&path(allowed)]).is_ok(), "{allowed}");
    }
    for refused in ["a.rs", "md", "a.md.rs", "md.d/a", "a.md2", "Makefile"] {
        assert!(markdown.check([&path(refused)]).is_err(), "{refused}");
    }
    assert!(markdown.check([&path("a.md"), &path("b.rs")]).is_err(), "one of several is enough");
    assert!(!limit(&[]).is_limited() && limit(&[]).check([&path("a.rs")]).is_ok());
}

#[test]
fn a_sub_agent_is_bound_to_the_limits_of_all_its_callers() {
    let folder = Folder::with(&[]);
    let path = |name: &str| folder.files.domain.resolve(name).unwrap();
    let below = limit(&[".md", ".txt"]).with(&[".md".to_owned(), ".rs".to_owned()]).with(&[]);
    assert!(below.check([&path("a.md")]).is_ok());
    assert!(below.check([&path("a.rs")]).is_err() && below.check([&path("a.txt")]).is_err());
}

#[tokio::test]
async fn every_tool_that_changes_files_keeps_to_the_limit() {
    let mut folder = Folder::with(&[("a.md", b"one\n"), ("a.rs", b"one\n")]);
    folder.read("a.md").await;
    folder.read("a.rs").await;
    folder.files.edit_limit = limit(&[".md"]);
    let edits = json!([{ "oldText": "one", "newText": "two" }]);
    let patch = |text: &str| json!({ "patch": format!("*** Begin Patch\n{text}\n*** End Patch") });
    let refused = [
        folder.call(WriteFile, json!({ "path": "a.rs", "content": "x" })).await,
        folder.call(WriteFile, json!({ "path": "new.rs", "content": "x" })).await,
        folder.call(EditFile, json!({ "path": "a.rs", "edits": edits })).await,
        folder.call(ApplyPatch, patch("*** Add File: b.rs\n+x")).await,
        folder.call(ApplyPatch, patch("*** Delete File: a.rs")).await,
        folder.call(ApplyPatch, patch("*** Update File: a.rs\n-one\n+two")).await,
        folder.call(ApplyPatch, patch("*** Update File: a.md\n*** Move to: a.sh\n-one\n+two")).await,
        folder.call(ApplyPatch, patch("*** Update File: a.rs\n*** Move to: b.md\n-one\n+two")).await,
        folder.call(ApplyPatch, patch("*** Update File: a.md\n-one\n+two\n*** Add File: b.rs\n+x")).await,
    ];
    for result in refused {
        let message = result.unwrap_err();
        assert!(message.contains("names end in .md"), "{message}");
    }
    let names = |path: &std::path::Path| {
        let entries =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    };
    assert_eq!(names(&folder.path), ["a.md", "a.rs"]);
    assert_eq!(std::fs::read(folder.path.join("a.md")).unwrap(), b"one\n");
    folder.call(EditFile, json!({ "path": "a.md", "edits": edits })).await.unwrap();
    folder.call(WriteFile, json!({ "path": "B.MD", "content": "x" })).await.unwrap();
    folder.call(ApplyPatch, patch("*** Update File: a.md\n*** Move to: c.Md\n-two\n+three")).await.unwrap();
    assert_eq!(names(&folder.path), ["B.MD", "a.rs", "c.Md"]);
}
