//! `read-file`: lines of a text file of the workspace. Asks only where a rule says so.

use files::{FileDomain, LogicalPath, Watch, text};
use policy::Need;
use protocol::FailureCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolCtx, ToolError,
    file_work::{blocking, reads},
    indentation::{Around, block},
    project_notes,
};

const DEFAULT_LINES: u32 = 2000;
const MOST_LINES: u32 = 10_000;
/// The lines of a result may have so many characters; the model continues with `offset`.
const MOST_CHARACTERS: usize = 40_000;
/// Only smaller files can be read by indentation.
const MOST_BYTES: u64 = 16 << 20;

/// Read a text file of the workspace. Returns its lines as `L<number>: <text>`. Read a file before you change it.
///
/// Long files: pass `offset` and `limit` to read a part; the result says where to continue. To see one function or block
/// with its surroundings instead of a range, use mode `indentation` with `anchorLine`, for example a line that
/// `grep-files` found. Lines longer than 500 bytes are cut. Binary files are refused.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The file, relative to the work directory, for example `src/main.rs`, or as `/workspace/src/main.rs`.
    path: String,
    /// First line to return, counted from 1. Default: 1.
    offset: Option<u32>,
    /// How many lines to return at most. Default: 2000.
    limit: Option<u32>,
    /// `slice` returns the lines from `offset` on. `indentation` returns the block around `anchorLine`. Default: `slice`.
    mode: Option<Mode>,
    /// Mode `indentation`: a line of the block. Default: `offset`.
    anchor_line: Option<u32>,
    /// Mode `indentation`: how many levels of enclosing blocks to include; 0 includes all. Default: 0.
    max_levels: Option<u32>,
    /// Mode `indentation`: also return the other blocks at the outermost level. Default: false.
    include_siblings: Option<bool>,
    /// Mode `indentation`: also return the comments directly above the block. Default: true.
    include_header: Option<bool>,
    /// Mode `indentation`: how many lines to return at most. Default: `limit`.
    max_lines: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Slice,
    Indentation,
}

pub struct ReadFile;

impl Tool for ReadFile {
    const NAME: &'static str = "read-file";
    type Input = Input;
    type Output = String;

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        reads(files, &input.path)
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<String, ToolError> {
        let path = ctx.files.domain.resolve(&input.path)?;
        let read = path.clone();
        let (version, text) = blocking(&ctx, move |files, watch| {
            // Before the content: a change in between makes the version old, and a later write a conflict.
            let version = files.version(&read)?;
            let text = match input.mode.unwrap_or(Mode::Slice) {
                Mode::Slice => slice(files, &read, &input, watch)?,
                Mode::Indentation => indentation(files, &read, &input)?,
            };
            Ok((version, text))
        })
        .await?;
        if let Some(version) = version {
            ctx.files.record.was_read(&path, version).await;
        }
        Ok(match project_notes::unseen(&ctx, std::iter::once(&path)).await {
            Some(notes) => format!("{text}\n\n{notes}"),
            None => text,
        })
    }
}

fn slice(
    files: &FileDomain,
    path: &LogicalPath,
    input: &Input,
    watch: &Watch,
) -> Result<String, files::FileError> {
    let first = u64::from(input.offset.unwrap_or(1).max(1));
    let count = u64::from(input.limit.unwrap_or(DEFAULT_LINES).clamp(1, MOST_LINES));
    let found = files.lines(path, first, count, watch)?;
    let mut shown = Shown::default();
    for line in &found.lines {
        if !shown.add(line.number, &line.text, line.cut > 0) {
            break;
        }
    }
    let cut_by_us = shown.is_full || input.limit.is_none_or(|limit| limit > MOST_LINES);
    let more = shown.is_full || found.total.is_none();
    Ok(shown.finish(path, (more && cut_by_us).then_some("the file continues"), found.total == Some(0)))
}

fn indentation(files: &FileDomain, path: &LogicalPath, input: &Input) -> Result<String, files::FileError> {
    let content = files.read(path, MOST_BYTES)?;
    let not_text = || {
        let message = format!("{path} is a binary file, not text");
        files::FileError::new(FailureCode::UnsupportedMediaType, message)
    };
    let decoded = text::decode(&content.bytes).ok_or_else(not_text)?;
    let lines: Vec<&str> =
        decoded.text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let anchor = input.anchor_line.or(input.offset).unwrap_or(1).max(1) as usize;
    if anchor > lines.len() {
        let message = format!("{path} has {} lines; `anchorLine` {anchor} is past its end", lines.len());
        return Err(files::FileError::new(FailureCode::InvalidArgument, message));
    }
    let around = Around {
        anchor: anchor - 1,
        max_levels: input.max_levels.unwrap_or(0) as usize,
        include_siblings: input.include_siblings.unwrap_or(false),
        include_header: input.include_header.unwrap_or(true),
        max_lines: input.max_lines.or(input.limit).unwrap_or(DEFAULT_LINES).clamp(1, MOST_LINES) as usize,
    };
    let mut shown = Shown::default();
    let range = block(&lines, &around);
    for (place, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
        let text = cut(line);
        if !shown.add(place as u64 + 1, text, text.len() < line.len()) {
            break;
        }
    }
    let more = shown.is_full.then_some("the block continues");
    Ok(shown.finish(path, more, false))
}

/// The beginning of a line, cut at the end of a character.
fn cut(line: &str) -> &str {
    line.get(..line.floor_char_boundary(files::LINE_BYTES)).unwrap_or(line)
}

/// The lines of a result, within the limit of characters.
#[derive(Default)]
struct Shown {
    text: String,
    characters: usize,
    next: u64,
    cut_lines: u64,
    is_full: bool,
}

impl Shown {
    /// Whether the line had room.
    fn add(&mut self, number: u64, text: &str, is_cut: bool) -> bool {
        let line = format!("L{number}: {text}\n");
        // Quotes, backslashes and control characters take two characters or more in the result.
        let escaped = line.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | 0..=31)).count();
        self.characters += line.chars().count() + escaped;
        self.is_full = self.characters > MOST_CHARACTERS && !self.text.is_empty();
        if self.is_full {
            return false;
        }
        self.text.push_str(&line);
        self.next = number + 1;
        self.cut_lines += u64::from(is_cut);
        true
    }

    fn finish(mut self, path: &LogicalPath, more: Option<&str>, is_empty: bool) -> String {
        if is_empty {
            return format!("({path} is empty)");
        }
        if self.cut_lines > 0 {
            let lines = if self.cut_lines == 1 { "line is" } else { "lines are" };
            self.text.push_str(&format!("({} {lines} shown up to 500 bytes)\n", self.cut_lines));
        }
        if let Some(more) = more {
            self.text.push_str(&format!("({more}; read on with offset {})\n", self.next));
        }
        self.text.truncate(self.text.trim_end_matches('\n').len());
        self.text
    }
}

#[cfg(test)]
#[path = "read_file_tests.rs"]
mod tests;
