//! A line editor. [`Line`] is pure and turns keys into text and a cursor; [`read_line`] does the I/O.

use std::io::{self, Write};

use anyhow::Result;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;

use super::{
    terminal::{RawMode, Signal, Signals},
    text::{char_width, width},
};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineInput {
    Line(String),
    /// Ctrl-C on an empty line, or a signal.
    Interrupted,
    /// Ctrl-D on an empty line, or the terminal was closed.
    Ended,
}

/// Reads one line. The arrow keys recall the lines of `earlier`.
pub(crate) async fn read_line(signals: &mut Signals, prompt: &str, earlier: &[String]) -> Result<LineInput> {
    read(signals, prompt, Line::new(earlier)).await
}

/// Reads one line and shows a dot for every character.
pub(crate) async fn read_hidden_line(signals: &mut Signals, prompt: &str) -> Result<LineInput> {
    read(signals, prompt, Line { hidden: true, ..Line::new(&[]) }).await
}

async fn read(signals: &mut Signals, prompt: &str, mut line: Line<'_>) -> Result<LineInput> {
    let _raw = RawMode::on()?;
    let mut keys = EventStream::new();
    let mut drawn = DrawnLine::default();
    drawn.draw(prompt, &line)?;
    loop {
        let event = tokio::select! {
            event = keys.next() => event,
            signal = signals.next() => {
                drawn.leave()?;
                return Ok(if signal == Signal::Interrupt { LineInput::Interrupted } else { LineInput::Ended });
            }
        };
        let read = match event {
            None => Some(LineInput::Ended),
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => line.key(key),
            Some(Ok(Event::Paste(text))) => {
                line.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
                None
            }
            Some(Ok(_)) => None,
        };
        if let Some(read) = read {
            line.cursor = line.text.len();
            drawn.draw(prompt, &line)?;
            drawn.leave()?;
            return Ok(read);
        }
        drawn.draw(prompt, &line)?;
    }
}

/// What is on the screen and has to be cleared before the line is drawn again.
#[derive(Default)]
struct DrawnLine {
    cursor_row: usize,
}

impl DrawnLine {
    fn draw(&mut self, prompt: &str, line: &Line<'_>) -> io::Result<()> {
        let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns).max(8));
        let laid_out = {
            let (text, cursor) = line.shown();
            layout(prompt, &text, cursor, columns)
        };
        let mut out = String::new();
        if self.cursor_row > 0 {
            out.push_str(&format!("\u{1b}[{}A", self.cursor_row));
        }
        out.push_str("\r\u{1b}[J");
        out.push_str(&laid_out.rows.join("\r\n"));
        let below = laid_out.rows.len() - 1 - laid_out.cursor.row;
        if below > 0 {
            out.push_str(&format!("\u{1b}[{below}A"));
        }
        out.push('\r');
        if laid_out.cursor.column > 0 {
            out.push_str(&format!("\u{1b}[{}C", laid_out.cursor.column));
        }
        self.cursor_row = laid_out.cursor.row;
        let mut stdout = io::stdout().lock();
        stdout.write_all(out.as_bytes())?;
        stdout.flush()
    }

    fn leave(&self) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(b"\r\n")?;
        stdout.flush()
    }
}

struct Layout {
    rows: Vec<String>,
    cursor: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    row: usize,
    column: usize,
}

/// Breaks a line into the rows of a window; the last column stays free.
fn layout(prompt: &str, text: &str, cursor: usize, columns: usize) -> Layout {
    let indent = width(prompt);
    let mut rows = vec![prompt.to_owned()];
    let mut used = indent;
    let mut position = Position { row: 0, column: indent };
    for (at, c) in text.char_indices() {
        if c == '\n' || used + char_width(c) >= columns {
            if at == cursor && c == '\n' {
                position = Position { row: rows.len() - 1, column: used };
            }
            rows.push(" ".repeat(indent));
            used = indent;
        }
        if at == cursor && c != '\n' {
            position = Position { row: rows.len() - 1, column: used };
        }
        if c != '\n' {
            used += char_width(c);
            if let Some(row) = rows.last_mut() {
                row.push(c);
            }
        }
    }
    if cursor >= text.len() {
        position = Position { row: rows.len() - 1, column: used };
    }
    Layout { rows, cursor: position }
}

struct Line<'a> {
    text: String,
    /// A byte offset, always between two characters.
    cursor: usize,
    earlier: &'a [String],
    /// The index of the earlier line that is shown; `earlier.len()` is the new line.
    at: usize,
    /// The new line, while an earlier one is shown.
    draft: String,
    /// A dot is shown for every character.
    hidden: bool,
}

impl<'a> Line<'a> {
    fn new(earlier: &'a [String]) -> Self {
        Self {
            text: String::new(),
            cursor: 0,
            earlier,
            at: earlier.len(),
            draft: String::new(),
            hidden: false,
        }
    }

    /// The text as it is drawn, and the cursor in it.
    fn shown(&self) -> (String, usize) {
        const DOT: char = '•';
        if !self.hidden {
            return (self.text.clone(), self.cursor);
        }
        let dots = |text: &str| text.chars().map(|_| DOT).collect::<String>();
        (dots(&self.text), dots(&self.text[..self.cursor]).len())
    }

    fn key(&mut self, key: KeyEvent) -> Option<LineInput> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => self.insert("\n"),
            KeyCode::Enter => return Some(LineInput::Line(self.text.clone())),
            KeyCode::Char('c') if control && self.text.is_empty() => return Some(LineInput::Interrupted),
            KeyCode::Char('c') if control => self.set(String::new()),
            KeyCode::Char('d') if control && self.text.is_empty() => return Some(LineInput::Ended),
            KeyCode::Delete => self.remove(self.cursor, self.after()),
            KeyCode::Char('d') if control => self.remove(self.cursor, self.after()),
            KeyCode::Backspace => self.remove(self.before(), self.cursor),
            KeyCode::Char('h') if control => self.remove(self.before(), self.cursor),
            KeyCode::Char('u') if control => self.remove(0, self.cursor),
            KeyCode::Char('k') if control => self.remove(self.cursor, self.text.len()),
            KeyCode::Char('w') if control => self.remove(self.word_start(), self.cursor),
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Char('b') if control => self.cursor = self.before(),
            KeyCode::Right => self.cursor = self.after(),
            KeyCode::Char('f') if control => self.cursor = self.after(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Up => self.recall(self.at.checked_sub(1)),
            KeyCode::Down => self.recall(Some(self.at + 1)),
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
        None
    }

    fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(place, _)| place)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |c| self.cursor + c.len_utf8())
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_whitespace())
            .map_or(0, |(place, c)| place + c.len_utf8())
    }

    fn recall(&mut self, to: Option<usize>) {
        let Some(to) = to.filter(|to| *to <= self.earlier.len()) else { return };
        if self.at == self.earlier.len() {
            self.draft = std::mem::take(&mut self.text);
        }
        self.at = to;
        self.set(self.earlier.get(to).unwrap_or(&self.draft).clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &mut Line<'_>, keys: &str) {
        for c in keys.chars() {
            let key = match c {
                '←' => KeyEvent::from(KeyCode::Left),
                '↑' => KeyEvent::from(KeyCode::Up),
                '↓' => KeyEvent::from(KeyCode::Down),
                '⌫' => KeyEvent::from(KeyCode::Backspace),
                'W' => KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL),
                c => KeyEvent::from(KeyCode::Char(c)),
            };
            assert_eq!(line.key(key), None);
        }
    }

    #[test]
    fn editing_keeps_whole_characters() {
        let mut line = Line::new(&[]);
        typed(&mut line, "现在几点←⌫在e");
        assert_eq!(line.text, "现在在e点");
        typed(&mut line, " two wordsW");
        assert_eq!(line.text, "现在在e two 点");
        assert_eq!(
            line.key(KeyEvent::from(KeyCode::Enter)),
            Some(LineInput::Line("现在在e two 点".to_owned()))
        );
    }

    #[test]
    fn a_hidden_line_is_drawn_as_dots() {
        let mut line = Line { hidden: true, ..Line::new(&[]) };
        typed(&mut line, "é密x←");
        assert_eq!(line.shown(), ("•••".to_owned(), "••".len()));
        let read = line.key(KeyEvent::from(KeyCode::Enter));
        assert_eq!(read, Some(LineInput::Line("é密x".to_owned())));
    }

    #[test]
    fn arrows_recall_earlier_lines_and_return_to_the_new_one() {
        let earlier = ["one".to_owned(), "two".to_owned()];
        let mut line = Line::new(&earlier);
        typed(&mut line, "new↑↑↑");
        assert_eq!(line.text, "one");
        typed(&mut line, "↓↓");
        assert_eq!(line.text, "new");
    }

    #[test]
    fn ctrl_c_clears_before_it_interrupts_and_ctrl_d_ends_only_an_empty_line() {
        let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let mut line = Line::new(&[]);
        typed(&mut line, "x");
        assert_eq!(line.key(ctrl('d')), None);
        assert_eq!(line.key(ctrl('c')), None);
        assert_eq!(line.text, "");
        assert_eq!(line.key(ctrl('c')), Some(LineInput::Interrupted));
        assert_eq!(line.key(ctrl('d')), Some(LineInput::Ended));
    }

    #[test]
    fn a_long_line_takes_rows_and_the_cursor_is_where_it_belongs() {
        let laid_out = layout("› ", "abcdefghij", 10, 10);
        assert_eq!(laid_out.rows, ["› abcdefg", "  hij"]);
        assert_eq!(laid_out.cursor, Position { row: 1, column: 5 });
        let laid_out = layout("› ", "现在几点了", 9, 10);
        assert_eq!(laid_out.rows, ["› 现在几", "  点了"]);
        assert_eq!(laid_out.cursor, Position { row: 1, column: 2 });
        let laid_out = layout("› ", "a\nb", 1, 10);
        assert_eq!((laid_out.rows.len(), laid_out.cursor), (2, Position { row: 0, column: 3 }));
    }
}
