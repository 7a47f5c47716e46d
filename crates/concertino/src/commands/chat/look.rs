//! How output looks: on a terminal or not, in colour or not, how wide.

use std::io::IsTerminal;

/// Lines longer than this are hard to read, however wide the window is.
const WIDEST: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Standard output is a terminal: everything goes there, lines may be rewritten.
    pub(crate) terminal: bool,
    pub(crate) color: bool,
    pub(crate) columns: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
}

impl Look {
    pub(crate) fn of_stdout() -> Self {
        let terminal = std::io::stdout().is_terminal();
        let colorless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { terminal, color: terminal && !colorless, columns: columns() }
    }

    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Dim => 2,
            Paint::Red => 31,
            Paint::Green => 32,
            Paint::Yellow => 33,
            Paint::Cyan => 36,
            Paint::Bold => 1,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// The width of the window now, within what reads well.
pub(crate) fn columns() -> usize {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    if columns < 20 { 80 } else { columns.min(WIDEST) }
}
