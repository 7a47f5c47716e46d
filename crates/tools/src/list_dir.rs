//! `list-dir`: the entries below a folder of the workspace. Asks only where a rule says so.

use std::fmt::Write as _;

use files::{FileDomain, FileError, IgnoreRules, LogicalPath, WalkEntry, WalkQuery, WalkReport};
use policy::Need;
use protocol::{FailureCode, file_change::EntryKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolCtx, ToolError,
    file_work::{blocking, reads, within},
};

const DEFAULT_ENTRIES: u32 = 25;
const MOST_ENTRIES: u32 = 1000;
const DEFAULT_DEPTH: u32 = 2;
const MOST_DEPTH: u32 = 20;

/// List a folder of the workspace as a tree. Folders end with `/`, links with `@`, other special files with `?`; files have
/// their size. Use `glob-files` to find files by name and `grep-files` to find them by content.
///
/// What `.gitignore` names is left out, and so are folders of dependencies and generated files (`node_modules`, `dist`,
/// `build`); the result says how many entries that are.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The folder, relative to the work directory, for example `src`. `.` is the work directory itself.
    path: String,
    /// How many levels to list; 1 lists the folder only. Default: 2.
    depth: Option<u32>,
    /// First entry to return, counted from 1. Default: 1.
    offset: Option<u32>,
    /// How many entries to return at most. Default: 25, at most 1000.
    limit: Option<u32>,
    /// `false` also lists what `.gitignore` and the defaults leave out. Default: true.
    ignore_gitignore: Option<bool>,
}

pub struct ListDir;

impl Tool for ListDir {
    const NAME: &'static str = "list-dir";
    type Input = Input;
    type Output = String;

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        reads(files, &input.path)
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<String, ToolError> {
        let path = ctx.files.domain.resolve(&input.path)?;
        let rules = match input.ignore_gitignore {
            Some(false) => IgnoreRules::None,
            _ => IgnoreRules::GitignoreAndGenerated,
        };
        let depth = within(input.depth, DEFAULT_DEPTH, MOST_DEPTH);
        let query = WalkQuery { path: path.clone(), depth, rules };
        let report = blocking(&ctx, move |files, watch| files.walk(&query, watch)).await?;
        let first = input.offset.unwrap_or(1).max(1) as usize;
        Ok(describe(&path, &report, first, within(input.limit, DEFAULT_ENTRIES, MOST_ENTRIES))?)
    }
}

fn describe(
    path: &LogicalPath,
    report: &WalkReport,
    first: usize,
    limit: usize,
) -> Result<String, FileError> {
    let total = report.entries.len();
    if first > total.max(1) {
        let message = format!("{path} has {total} entries; `offset` {first} is past the end");
        return Err(FileError::new(FailureCode::InvalidArgument, message));
    }
    let folders = report.entries.iter().filter(|entry| entry.info.kind == EntryKind::Directory).count();
    let mut text = format!("{path}\n{}, {}", count(folders, "folder"), count(total - folders, "file"));
    if report.ignored > 0 {
        append(&mut text, format_args!(", {} ignored", report.ignored));
    }
    for entry in report.entries.iter().skip(first - 1).take(limit) {
        append(&mut text, format_args!("\n{}", line(entry)));
    }
    let next = first.saturating_add(limit);
    if next <= total {
        append(&mut text, format_args!("\n({} more; list on with offset {next})", total - next + 1));
    }
    if report.cut {
        text.push_str("\n(there is more than can be listed; list a folder below, or use a smaller depth)");
    }
    Ok(text)
}

fn line(entry: &WalkEntry) -> String {
    let name = entry.path.rsplit('/').next().unwrap_or(&entry.path);
    let indent = "  ".repeat(entry.depth);
    match entry.info.kind {
        EntryKind::Directory => format!("{indent}{name}/"),
        EntryKind::Link => format!("{indent}{name}@"),
        EntryKind::Other => format!("{indent}{name}?"),
        EntryKind::File => format!("{indent}{name} ({})", size(entry.info.bytes)),
    }
}

fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let scaled = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", scaled(1024)),
        1_048_576..1_073_741_824 => format!("{:.1} MB", scaled(1 << 20)),
        _ => format!("{:.1} GB", scaled(1 << 30)),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn append(text: &mut String, more: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    text.write_fmt(more).ok();
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::{Family, erase, testing};

    async fn call(folder: &std::path::Path, input: Value) -> Result<Value, String> {
        let ctx = ToolCtx { files: testing::files_in(folder), ..testing::ctx(&Default::default()) };
        testing::call_in(ctx, erase(ListDir, Family::Host), input).await
    }

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("src/deep/er/a.rs", "x"),
            ("src/main.rs", "fn main() {}\n"),
            ("Cargo.toml", ""),
            (".gitignore", "*.log\ntarget/\n"),
            ("a.log", ""),
            ("target/debug/x", ""),
            ("node_modules/m/i.js", ""),
            ("big.txt", &"x".repeat(1536)),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink("src", folder.path().join("link")).unwrap();
        folder
    }

    #[tokio::test]
    async fn a_folder_is_listed_as_a_tree() {
        let folder = project();
        let expected = "/workspace\n2 folders, 5 files, 3 ignored\n  .gitignore (14 B)\n  Cargo.toml (0 B)\n  \
                        big.txt (1.5 KB)\n  link@\n  src/\n    deep/\n    main.rs (13 B)";
        assert_eq!(call(folder.path(), json!({ "path": "." })).await, Ok(json!(expected)));
        let absolute = folder.path().canonicalize().unwrap().join("src");
        for path in ["src", "/workspace/src", absolute.to_str().unwrap(), "link"] {
            let listed = call(folder.path(), json!({ "path": path, "depth": 1 })).await.unwrap();
            let listed = listed.as_str().unwrap().to_owned();
            assert!(listed.ends_with("\n1 folder, 1 file\n  deep/\n  main.rs (13 B)"), "{listed}");
            assert!(!listed.contains(folder.path().to_str().unwrap()));
        }
        let all =
            call(folder.path(), json!({ "path": ".", "depth": 9, "ignoreGitignore": false })).await.unwrap();
        assert!(all.as_str().unwrap().contains("      i.js (0 B)"), "{all}");
    }

    #[tokio::test]
    async fn a_long_list_is_returned_in_parts() {
        let folder = project();
        let part = call(folder.path(), json!({ "path": "", "offset": 2, "limit": 2 })).await.unwrap();
        let expected = "/workspace\n2 folders, 5 files, 3 ignored\n  Cargo.toml (0 B)\n  big.txt (1.5 KB)\n\
                        (4 more; list on with offset 4)";
        assert_eq!(part, expected);
        let error = call(folder.path(), json!({ "path": "", "offset": 8 })).await.unwrap_err();
        assert_eq!(error, "invalid_argument: /workspace has 7 entries; `offset` 8 is past the end");
    }

    #[tokio::test]
    async fn what_is_no_folder_is_refused_with_a_code() {
        let folder = project();
        for (path, code) in [
            ("Cargo.toml", "invalid_argument"),
            ("missing", "not_found"),
            ("..", "access_denied"),
            ("/etc", "access_denied"),
            ("a\u{1b}b", "invalid_path"),
        ] {
            let error = call(folder.path(), json!({ "path": path })).await.unwrap_err();
            assert!(error.starts_with(code), "{path}: {error}");
        }
    }

    #[test]
    fn it_needs_to_read_the_folder_and_what_it_leads_to() {
        let folder = project();
        let files = testing::files_in(folder.path()).domain;
        let need = |path: &str| {
            let input = serde_json::from_value(json!({ "path": path })).unwrap();
            ListDir.need(&input, &files)
        };
        assert_eq!(need("./src/"), Need::Read { paths: vec!["src".to_owned()] });
        assert_eq!(need("link"), Need::Read { paths: vec!["link".to_owned(), "src".to_owned()] });
        assert_eq!(need(""), Need::Read { paths: vec![String::new()] });
        assert_eq!(need("/etc"), Need::Nothing);
    }
}
