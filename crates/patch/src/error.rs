//! Why a patch cannot be read or applied, in words that tell its author what to do.

use std::fmt;

/// Why a patch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The text is not a patch that can be read. `line` is the line of the patch, from 1.
    #[error("line {line} of the patch: {message}")]
    Malformed { line: usize, message: String },
    /// The text holds no patch at all.
    #[error("{0}")]
    NoPatch(String),
    #[error("the patch is too large: {0}; split it into several patches")]
    TooLarge(String),
    #[error("line {line} of the patch: {path} is a binary file; only text can be patched")]
    Binary { line: usize, path: String },
}

/// Why the hunks of a file do not fit its text. `hunk` counts from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    #[error("hunk {hunk}: no line of the file is {anchor:?}, which its @@ line names{hint}")]
    AnchorNotFound { hunk: usize, anchor: String, hint: String },
    #[error("hunk {hunk}: its lines are not in the file{after}{hint}")]
    NotFound { hunk: usize, after: After, hint: String },
    #[error(
        "hunk {hunk}: its lines are in the file several times, at {places}; add lines around the change, or an @@ line \
         with a line above it, so that only one place fits"
    )]
    Ambiguous { hunk: usize, places: Places },
    #[error(
        "hunk {hunk}: it has no line that is in the file, so its place is unknown; add the lines around the change, or \
         *** End of File to append"
    )]
    NoPlace { hunk: usize },
    #[error("hunk {hunk}: it belongs to the end of the file, but its lines are {found}")]
    NotAtEnd { hunk: usize, found: String },
    #[error(
        "the file repeats its lines so often that the places of the hunks cannot be found; write the file anew"
    )]
    TooMuchWork,
}

/// The line above which nothing was searched, from 1; 0 when the whole file was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After(pub usize);

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, " below line {} (the hunk before it ends there)", self.0) }
    }
}

/// Places in a file, as line numbers from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub lines: Vec<usize>,
    /// Whether there are more than are listed.
    pub more: bool,
}

impl Places {
    /// No error lists more places than this.
    pub const LISTED: usize = 8;
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.lines.len() == 1 && !self.more { "line " } else { "lines " })?;
        for (at, line) in self.lines.iter().enumerate() {
            let last = at + 1 == self.lines.len() && !self.more;
            f.write_str(match at {
                0 => "",
                _ if last => " and ",
                _ => ", ",
            })?;
            write!(f, "{line}")?;
        }
        if self.more { f.write_str(" and more") } else { Ok(()) }
    }
}
