//! The output of a terminal as text: what a person would read on a screen that is high enough.
//!
//! Programs redraw the line they are on: prompts, progress bars, editing of a line. Movements within a line are followed,
//! and so is erasing; colours, titles and movements to other lines are left out.

/// A cursor is moved at most this far to the right, whatever a program asks for.
const WIDEST: usize = 1000;

/// Returns the text that is on the screen after the output. Linear in the length of the output, and not longer, apart from blanks.
pub(crate) fn terminal_text(output: &str) -> String {
    let mut screen = Screen::default();
    let mut chars = output.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => screen.end_line(),
            '\r' => screen.column = 0,
            '\u{8}' => screen.column = screen.column.saturating_sub(1),
            '\t' => screen.move_to((screen.column / 8 + 1) * 8),
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    let mut parameters = String::new();
                    // A sequence ends with its first letter; parameters come before it.
                    let end = loop {
                        match chars.next() {
                            Some(c @ '\u{20}'..='\u{3f}') => parameters.push(c),
                            end => break end,
                        }
                    };
                    screen.control(&parameters, end.unwrap_or_default());
                }
                // Titles and links, up to BEL or ESC \.
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || c == '\u{1b}' && chars.next_if_eq(&'\\').is_some() {
                            break;
                        }
                    }
                }
                // The choice of a character set.
                Some('(' | ')') => drop(chars.next()),
                _ => {}
            },
            c if c.is_control() => {}
            c => screen.put(c),
        }
    }
    screen.text.extend(screen.line);
    screen.text
}

#[derive(Default)]
struct Screen {
    text: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        match self.line.get_mut(self.column) {
            Some(place) => *place = c,
            None => {
                self.line.resize(self.column, ' ');
                self.line.push(c);
            }
        }
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.text.extend(self.line.drain(..));
        self.text.push('\n');
        self.column = 0;
    }

    fn move_to(&mut self, column: usize) {
        self.column = column.min(WIDEST.max(self.line.len()));
    }

    /// Follows a sequence that moves within the line or erases it.
    fn control(&mut self, parameters: &str, end: char) {
        let number = parameters.split(';').next().and_then(|text| text.parse::<usize>().ok());
        let count = number.unwrap_or(1).max(1);
        match end {
            'C' => self.move_to(self.column.saturating_add(count)),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.move_to(count - 1),
            // Delete characters, insert blanks.
            'P' => drop(self.line.drain(
                self.column.min(self.line.len())..self.line.len().min(self.column.saturating_add(count)),
            )),
            '@' if self.column < self.line.len() => {
                let blanks = std::iter::repeat_n(' ', count.min(WIDEST));
                self.line.splice(self.column..self.column, blanks);
            }
            'K' | 'J' => match number.unwrap_or(0) {
                0 => self.line.truncate(self.column),
                1 => self.line.iter_mut().take(self.column + 1).for_each(|place| *place = ' '),
                _ => self.line.clear(),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_titles_and_carriage_returns_are_left_out() {
        assert_eq!(terminal_text("\u{1b}[32mok\u{1b}[0m\r\n\u{1b}]0;title\u{7}$ "), "ok\n$ ");
        assert_eq!(
            terminal_text("\u{1b}]8;;https://example.com\u{1b}\\link\u{1b}]8;;\u{1b}\\ \u{1b}(B."),
            "link ."
        );
        assert_eq!(terminal_text("\u{1b}[?2004h> 1\u{1b}[?2004l\r\r\n1\r\n"), "> 1\n1\n");
    }

    #[test]
    fn a_redrawn_line_is_read_once() {
        assert_eq!(terminal_text("> \r\u{1b}[K> 1 + 1\r\n2\r\n> "), "> 1 + 1\n2\n> ");
        assert_eq!(terminal_text("> \u{1b}[1G\u{1b}[0J> \u{1b}[3G"), "> ");
        assert_eq!(terminal_text(" 10 %\r 50 %\r100 %\n"), "100 %\n");
        assert_eq!(terminal_text("abc\u{8}\u{8}X\u{1b}[C!"), "aXc!");
        assert_eq!(terminal_text("abcdef\r\u{1b}[2P\u{1b}[@_"), "_cdef");
        assert_eq!(terminal_text("a\tb\n漢字\r汉"), "a       b\n汉字");
    }

    #[test]
    fn sequences_that_are_cut_or_ask_for_too_much_do_no_harm() {
        assert_eq!(terminal_text("a\u{1b}"), "a");
        assert_eq!(terminal_text("a\u{1b}[31"), "a");
        assert_eq!(terminal_text("a\u{1b}]0;title"), "a");
        assert_eq!(terminal_text("\u{1b}[99999999999999999999Cx\u{1b}[999999999Cy").len(), 1001);
    }

    proptest! {
        #[test]
        fn any_output_becomes_bounded_text(output in "(\\PC|[\r\n\t\u{8}\u{1b}]|\u{1b}\\[[0-9;?]{0,4}[A-Za-z@]){0,60}") {
            let text = terminal_text(&output);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(text.chars().count() <= (WIDEST + 60) * 61);
        }
    }
}
