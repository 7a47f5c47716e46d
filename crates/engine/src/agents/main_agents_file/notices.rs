//! What is wrong with a `main-agents.toml`: each notice has its line and column.

use std::fmt;

/// A file can be wrong in as many places as it has bytes; the rest is counted.
const MOST_NOTICES: usize = 100;
/// Longer names are cut in a notice.
const LONGEST_SHOWN: usize = 80;

/// A place in a text. Both numbers begin with 1; columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    /// The position of what follows this text.
    pub fn after(text: &str) -> Self {
        Self::at(text, text.len())
    }

    /// The position of the byte at `offset`.
    pub(super) fn at(text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What a notice means for its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The agent can be selected; what the notice names has no effect.
    Warning,
    /// The agent was left out.
    Dropped,
}

/// Something in the file that does not do what its author expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub position: Position,
    pub severity: Severity,
    pub text: String,
}

/// Collects the notices of one file.
pub(super) struct Notices<'t> {
    text: &'t str,
    list: Vec<Notice>,
    omitted: usize,
}

impl<'t> Notices<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, list: Vec::new(), omitted: 0 }
    }

    pub(super) fn warn(&mut self, offset: usize, text: impl FnOnce() -> String) {
        if self.list.len() < MOST_NOTICES {
            let position = Position::at(self.text, offset);
            self.list.push(Notice { position, severity: Severity::Warning, text: text() });
        } else {
            self.omitted += 1;
        }
    }

    /// How many there are so far, listed and omitted.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.list.len(), self.omitted)
    }

    /// Adds the notice that an agent is left out, in place of all warnings about it since `count`. Never omitted: there
    /// are at most as many as agents.
    pub(super) fn dropped(&mut self, count: (usize, usize), offset: usize, text: String) {
        self.list.truncate(count.0);
        self.omitted = count.1;
        let position = Position::at(self.text, offset);
        self.list.push(Notice { position, severity: Severity::Dropped, text });
    }

    /// All notices in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Notice> {
        self.list.sort_by_key(|notice| notice.position);
        if self.omitted > 0 {
            let text = format!("{} more warnings are not listed.", self.omitted);
            let position = Position::at(self.text, self.text.len());
            self.list.push(Notice { position, severity: Severity::Warning, text });
        }
        self.list
    }
}

/// A name from the file, quoted, on one line and not too long.
pub(super) fn quoted(name: &str) -> String {
    let cut: String = name.chars().take(LONGEST_SHOWN).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("\"{}{more}\"", cut.escape_debug())
}
