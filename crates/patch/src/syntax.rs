//! A patch that was read: what it does to which files.

/// A patch: changes to files, in the order in which they are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub files: Vec<FilePatch>,
}

/// What a patch does to one file. Paths are as they were written, without the `a/` and `b/` of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// Creates a file that must not exist.
    Add {
        path: String,
        content: String,
        /// The permission bits, when the patch says them.
        mode: Option<u32>,
    },
    /// Deletes a file that must exist.
    Delete {
        path: String,
        /// What the file must contain, when the patch says it: these hunks must remove every line.
        hunks: Vec<Hunk>,
    },
    /// Changes a file that must exist, and moves it when `move_to` is set.
    Update {
        path: String,
        move_to: Option<String>,
        /// The new permission bits, when the patch changes them.
        mode: Option<u32>,
        hunks: Vec<Hunk>,
    },
}

impl FilePatch {
    /// Returns the path of the file before the change.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path, .. } | Self::Update { path, .. } => path,
        }
    }
}

/// A group of neighbouring changes with the lines around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The texts of `@@ text` lines: whole lines of the file that stand above the hunk, in this order.
    pub anchors: Vec<String>,
    /// The line numbers of a `@@ -1,2 +3,4 @@` line. They only decide between places that match equally well.
    pub position: Option<Position>,
    pub lines: Vec<HunkLine>,
    /// Whether the hunk must match at the end of the file.
    pub at_end: bool,
}

/// Where a unified diff says that a hunk belongs in the old file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The number of lines of the old file above the hunk.
    pub above: usize,
    /// The number of old lines in the hunk, as the header says it.
    pub old_lines: usize,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub kind: LineKind,
    /// The text without its prefix and line ending. It ends with `\r` where the patch has it.
    pub text: String,
    /// `false` after `\ No newline at end of file`.
    pub newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

impl Hunk {
    /// Returns the lines that the old file must have.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }
}
