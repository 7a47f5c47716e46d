//! Recognises the format of a patch, and bounds what is read of it.

use crate::{
    envelope,
    error::PatchError,
    lines::BOM,
    syntax::{Hunk, Patch},
    unified,
};

/// The longest patch that is read.
pub const MAX_PATCH_BYTES: usize = 16 * 1024 * 1024;
/// The most files that a patch may change.
pub const MAX_FILES: usize = 5_000;
/// The most hunks of all files together.
pub const MAX_HUNKS: usize = 50_000;
/// The most lines of a patch.
pub const MAX_LINES: usize = 1_000_000;

/// Reads a patch: an envelope from `*** Begin Patch` to `*** End Patch`, or a unified diff as `diff -u` and git write it.
/// Text around the patch is ignored.
pub fn parse(text: &str) -> Result<Patch, PatchError> {
    if text.len() > MAX_PATCH_BYTES {
        return Err(PatchError::TooLarge(format!("it has more than {MAX_PATCH_BYTES} bytes")));
    }
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let mut lines: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        if lines.len() >= MAX_LINES {
            return Err(PatchError::TooLarge(format!("it has more than {MAX_LINES} lines")));
        }
        lines.push(line);
    }
    // What follows the last newline is not a line.
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let is_begin = |line: &&str| line.trim_end() == envelope::BEGIN;
    let first = lines.iter().copied().find(is_begin);
    let is_envelope = first.is_some();
    let Some(first) = first.or_else(|| unified::first_header(&lines)) else {
        return Err(nothing_found(&lines));
    };
    // A patch that came with CRLF has it in its own lines too; a patch of a CRLF file only in the lines of the file.
    if first.ends_with('\r') {
        lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
    }
    let mut source = Source { lines, at: 0, files: 0, hunks: 0 };
    let files = if is_envelope { envelope::read(&mut source)? } else { unified::read(&mut source)? };
    Ok(Patch { files })
}

fn nothing_found(lines: &[&str]) -> PatchError {
    let of_envelope = |line: &&str| line.starts_with("*** ") && line.contains(" File: ");
    PatchError::NoPatch(if lines.iter().any(of_envelope) {
        format!("the patch does not begin with the line {}", envelope::BEGIN)
    } else if lines.iter().any(|line| line.starts_with("***************")) {
        "this is a context diff; write a unified diff (diff -u)".to_owned()
    } else {
        format!(
            "there is no patch in the text; write {} … {}, or a unified diff with --- and +++ lines",
            envelope::BEGIN,
            envelope::END
        )
    })
}

/// The lines of a patch, and how much was read.
pub(crate) struct Source<'a> {
    lines: Vec<&'a str>,
    at: usize,
    files: usize,
    hunks: usize,
}

impl<'a> Source<'a> {
    /// Returns the line that is read next.
    pub fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// Returns a line further down; 0 is the one that is read next.
    pub fn peek_at(&self, below: usize) -> Option<&'a str> {
        self.lines.get(self.at + below).copied()
    }

    pub fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// Returns whether the line above the next one is empty.
    pub fn follows_blank(&self) -> bool {
        self.at
            .checked_sub(1)
            .and_then(|above| self.lines.get(above))
            .is_some_and(|line| line.trim_end().is_empty())
    }

    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// The number of the line that is read next, from 1.
    pub fn number(&self) -> usize {
        self.at + 1
    }

    /// An error about the line that is read next.
    pub fn malformed(&self, message: impl Into<String>) -> PatchError {
        self.malformed_at(self.number(), message)
    }

    pub fn malformed_at(&self, line: usize, message: impl Into<String>) -> PatchError {
        PatchError::Malformed { line, message: message.into() }
    }

    pub fn count_file(&mut self) -> Result<(), PatchError> {
        self.files += 1;
        if self.files <= MAX_FILES {
            return Ok(());
        }
        Err(PatchError::TooLarge(format!("it changes more than {MAX_FILES} files")))
    }

    pub fn push_hunk(&mut self, hunks: &mut Vec<Hunk>, hunk: Hunk) -> Result<(), PatchError> {
        self.hunks += 1;
        if self.hunks > MAX_HUNKS {
            return Err(PatchError::TooLarge(format!("it has more than {MAX_HUNKS} hunks")));
        }
        hunks.push(hunk);
        Ok(())
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
