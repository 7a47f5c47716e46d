//! Settings of the output: whether it goes to a terminal, whether it has colours, and how wide it is.

use std::io::IsTerminal;

/// Longer lines are hard to read, even in a wide window.
const MAX_COLUMNS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputSettings {
    /// Standard output is a terminal: all output goes there, and lines can be rewritten.
    pub(crate) terminal: bool,
    pub(crate) color: bool,
    pub(crate) columns: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum TextStyle {
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
}

impl OutputSettings {
    pub(crate) fn of_stdout() -> Self {
        let terminal = std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { terminal, color: terminal && !no_color, columns: columns() }
    }

    pub(crate) fn styled(&self, style: TextStyle, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            TextStyle::Dim => 2,
            TextStyle::Red => 31,
            TextStyle::Green => 32,
            TextStyle::Yellow => 33,
            TextStyle::Cyan => 36,
            TextStyle::Bold => 1,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Returns the present width of the window, at most `MAX_COLUMNS`.
pub(crate) fn columns() -> usize {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    if columns < 20 { 80 } else { columns.min(MAX_COLUMNS) }
}
