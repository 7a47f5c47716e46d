//! `glob-files`: files of the workspace by their paths. Asks only where a rule says so.

use files::{FileDomain, FileError, GlobQuery, IgnoreRules};
use policy::Need;
use protocol::FailureCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolCtx, ToolError,
    file_work::{blocking, place, reads, within},
};

const DEFAULT_FILES: u32 = 100;
const MOST_FILES: u32 = 2000;

/// Find files of the workspace by name. Returns their paths relative to the work directory, the most recently modified
/// first. Use it when you know a name or an ending; use `grep-files` to search in contents.
///
/// Files that `.gitignore` names are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// A glob: `*.rs` finds files in every folder, `src/**/*.ts` below `src`, `{a,b}/*.md` in two folders.
    pattern: String,
    /// The folder to search, relative to the work directory; the pattern is relative to it. Default: the work directory.
    path: Option<String>,
    /// How many paths to return at most. Default: 100, at most 2000.
    limit: Option<u32>,
}

pub struct GlobFiles;

impl Tool for GlobFiles {
    const NAME: &'static str = "glob-files";
    type Input = Input;
    type Output = String;

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        reads(files, input.path.as_deref().unwrap_or_default().trim())
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<String, ToolError> {
        let query = GlobQuery {
            pattern: relative(input.pattern.trim())?.to_owned(),
            path: place(&ctx.files.domain, input.path.as_deref())?,
            rules: IgnoreRules::Gitignore,
            limit: within(input.limit, DEFAULT_FILES, MOST_FILES),
        };
        let report = blocking(&ctx, move |files, watch| files.glob(&query, watch)).await?;
        let mut text = report.files.join("\n");
        let left = report.total - report.files.len();
        if report.total == 0 {
            text.push_str("No file matches the pattern.");
        }
        if left > 0 {
            text.push_str(&format!("\n({left} more files match)"));
        }
        if report.cut {
            text.push_str("\n(not everything was searched; name a folder as `path`)");
        }
        Ok(text)
    }
}

/// Models also write patterns below `/workspace`; other absolute ones match nothing here.
fn relative(pattern: &str) -> Result<&str, FileError> {
    let pattern = pattern.strip_prefix("/workspace/").unwrap_or(pattern);
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        let message =
            "the pattern must be relative to the work directory and stay in it, for example `src/**/*.rs`";
        return Err(FileError::new(FailureCode::AccessDenied, message));
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Arc};

    use serde_json::{Value, json};

    use super::*;
    use crate::{Family, erase, testing};

    async fn call(folder: &Path, input: Value) -> Result<String, String> {
        let ctx = ToolCtx { files: testing::files_in(folder), ..testing::ctx(&Arc::default()) };
        let output = testing::call_in(ctx, erase(GlobFiles, Family::Host), input).await?;
        Ok(output.as_str().unwrap().to_owned())
    }

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in ["src/a.rs", "src/deep/b.rs", "c.rs", "src/d.ts", "target/e.rs", ".gitignore"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "target\n").unwrap();
            // All at the same time: then they are sorted by path.
            let time = std::time::SystemTime::UNIX_EPOCH;
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        }
        folder
    }

    #[tokio::test]
    async fn files_are_found_by_their_paths() {
        let folder = project();
        for (input, expected) in [
            (json!({ "pattern": "*.rs" }), "c.rs\nsrc/a.rs\nsrc/deep/b.rs"),
            (json!({ "pattern": "src/*" }), "src/a.rs\nsrc/d.ts"),
            (json!({ "pattern": "/workspace/src/**/*.rs" }), "src/a.rs\nsrc/deep/b.rs"),
            (json!({ "pattern": "deep/*", "path": "src" }), "src/deep/b.rs"),
            (json!({ "pattern": "*", "limit": 2 }), ".gitignore\nc.rs\n(3 more files match)"),
            (json!({ "pattern": "*.py" }), "No file matches the pattern."),
        ] {
            assert_eq!(call(folder.path(), input).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn patterns_that_leave_and_broken_ones_are_refused() {
        let folder = project();
        for (pattern, code) in [
            ("/etc/*", "access_denied"),
            ("../*", "access_denied"),
            ("a/../../*", "access_denied"),
            ("[", "invalid_argument"),
            ("", "invalid_argument"),
        ] {
            let error = call(folder.path(), json!({ "pattern": pattern })).await.unwrap_err();
            assert!(error.starts_with(code), "{pattern}: {error}");
        }
        let error = call(folder.path(), json!({ "pattern": "*", "path": "/etc" })).await.unwrap_err();
        assert!(error.starts_with("access_denied"), "{error}");
    }
}
