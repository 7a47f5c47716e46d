//! `grep-files`: lines of the workspace's files that match a pattern. Asks only where a rule says so.

use std::fmt::Write as _;

use files::{FileDomain, GrepQuery, GrepReport, IgnoreRules};
use policy::Need;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolCtx, ToolError,
    file_work::{blocking, place, reads, within},
};

const DEFAULT_MATCHES: u32 = 100;
const MOST_MATCHES: u32 = 2000;
/// So many lines of one file are shown, so that others are seen too.
const LINES_PER_FILE: usize = 20;
/// The result may have so many characters.
const MOST_CHARACTERS: usize = 40_000;

/// Search the contents of the workspace's files with a regular expression. Returns the matching lines with their numbers,
/// grouped by file, the most recently modified file first. Read more of a file with `read-file` and the line's number.
///
/// Files that `.gitignore` names and binary files are not searched. A pattern matches within one line; escape
/// `( ) [ ] { } . * + ? | ^ $ \` to search for the characters themselves.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// A regular expression, for example `fn \w+_test\(` or `TODO`.
    pattern: String,
    /// The folder or file to search, relative to the work directory. Default: the whole work directory.
    path: Option<String>,
    /// Only search files whose name or path matches this glob, for example `*.rs` or `src/**/*.{ts,tsx}`.
    include: Option<String>,
    /// How many matching lines to return at most. Default: 100, at most 2000.
    limit: Option<u32>,
    /// Whether upper and lower case are the same. Default: false.
    ignore_case: Option<bool>,
    /// `lines` returns the matching lines, `files` only the paths of the files, which is shorter. Default: `lines`.
    output: Option<Shown>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Shown {
    Lines,
    Files,
}

pub struct GrepFiles;

impl Tool for GrepFiles {
    const NAME: &'static str = "grep-files";
    type Input = Input;
    type Output = String;

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        reads(files, input.path.as_deref().unwrap_or_default().trim())
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<String, ToolError> {
        let shown = input.output.unwrap_or(Shown::Lines);
        let query = GrepQuery {
            pattern: input.pattern,
            ignore_case: input.ignore_case.unwrap_or(false),
            path: place(&ctx.files.domain, input.path.as_deref())?,
            include: input.include.filter(|include| !include.trim().is_empty()),
            rules: IgnoreRules::Gitignore,
            lines_per_file: if shown == Shown::Lines { LINES_PER_FILE } else { 0 },
        };
        let report = blocking(&ctx, move |files, watch| files.grep(&query, watch)).await?;
        Ok(describe(&report, within(input.limit, DEFAULT_MATCHES, MOST_MATCHES), shown))
    }
}

fn describe(report: &GrepReport, limit: usize, shown: Shown) -> String {
    let mut text = match shown {
        Shown::Files => paths(report, limit),
        Shown::Lines => lines(report, limit),
    };
    if report.files.is_empty() {
        text.push_str("No file matches the pattern.\n");
    }
    if report.not_allowed > 0 {
        let files = if report.not_allowed == 1 { "file was" } else { "files were" };
        let note = "not searched, because reading them needs an approval; name one as `path` to ask for it";
        append(&mut text, format_args!("({} {files} {note})\n", report.not_allowed));
    }
    if report.cut {
        text.push_str("(not everything was searched; search a folder or use `include`)\n");
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn paths(report: &GrepReport, limit: usize) -> String {
    let mut text = String::new();
    let mut left = report.files.len();
    for file in report.files.iter().take(limit) {
        if text.len() > MOST_CHARACTERS {
            break;
        }
        append(&mut text, format_args!("{}\n", file.path));
        left -= 1;
    }
    if left > 0 {
        append(&mut text, format_args!("({left} more files match)\n"));
    }
    text
}

fn lines(report: &GrepReport, limit: usize) -> String {
    let mut text = String::new();
    let mut room = limit;
    let (mut files_left, mut lines_left) = (0, 0);
    for file in &report.files {
        let shown = if text.len() > MOST_CHARACTERS { 0 } else { file.lines.len().min(room) };
        lines_left += file.matches - shown as u64;
        if shown == 0 {
            files_left += 1;
            continue;
        }
        room -= shown;
        append(&mut text, format_args!("{}\n", file.path));
        for line in file.lines.iter().take(shown) {
            let end = if line.cut { " …" } else { "" };
            append(&mut text, format_args!("  {}: {}{end}\n", line.number, line.text));
        }
        if file.matches > shown as u64 {
            append(&mut text, format_args!("  ({} more in this file)\n", file.matches - shown as u64));
        }
    }
    if files_left > 0 {
        append(&mut text, format_args!("({lines_left} more matching lines, {files_left} more files)\n"));
    }
    text
}

fn append(text: &mut String, more: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    text.write_fmt(more).ok();
}

#[cfg(test)]
#[path = "grep_files_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "grep_files_speed_tests.rs"]
mod speed_tests;
