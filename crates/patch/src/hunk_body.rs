//! Reads the `@@` line and the lines of a hunk, which both formats share.

use crate::syntax::{Hunk, HunkLine, LineKind, Position};

/// A hunk that is being read.
#[derive(Default)]
pub(crate) struct HunkBody {
    hunk: Hunk,
    /// Empty lines at the end that lack their prefix. They are context when other lines follow, else they only separate.
    blank: usize,
}

impl HunkBody {
    pub fn is_empty(&self) -> bool {
        self.hunk.lines.is_empty()
    }

    /// Reads an `@@` line: a position, a line of the file, or nothing.
    pub fn read_header(&mut self, header: &Header) {
        self.blank = 0;
        match header {
            Header::Numbers(numbers) => self.hunk.position = Some(numbers.position()),
            Header::Text(text) => self.hunk.anchors.push(text.clone()),
            Header::Empty => {}
        }
    }

    pub fn set_at_end(&mut self) {
        self.hunk.at_end = true;
    }

    /// Takes a line of the hunk, and returns `false` when the line cannot belong to one.
    pub fn take(&mut self, line: &str) -> bool {
        let kind = match line.as_bytes().first() {
            None => {
                self.blank += 1;
                return true;
            }
            Some(b' ') => LineKind::Context,
            Some(b'-') => LineKind::Removed,
            Some(b'+') => LineKind::Added,
            Some(b'\\') => return self.end_without_newline(line),
            Some(b'\r') if line.len() == 1 => {
                self.blank += 1;
                return true;
            }
            Some(_) => return false,
        };
        self.keep_blank(self.blank);
        self.push(kind, line.get(1..).unwrap_or_default());
        true
    }

    /// Counts up to this many of the empty lines at the end as context.
    pub fn keep_blank(&mut self, most: usize) {
        for _ in 0..self.blank.min(most) {
            self.push(LineKind::Context, "");
        }
        self.blank = 0;
    }

    pub fn finish(self) -> Hunk {
        self.hunk
    }

    fn push(&mut self, kind: LineKind, text: &str) {
        self.hunk.lines.push(HunkLine { kind, text: text.to_owned(), newline: true });
    }

    /// Reads `\ No newline at end of file`, in whatever language it is written.
    fn end_without_newline(&mut self, line: &str) -> bool {
        let Some(last) = self.hunk.lines.last_mut().filter(|_| line.starts_with("\\ ")) else { return false };
        last.newline = false;
        self.hunk.at_end = true;
        self.blank = 0;
        true
    }
}

/// What an `@@` line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Numbers(Numbers),
    /// A line of the file that stands above the hunk.
    Text(String),
    Empty,
}

/// `-12,3 +12,4`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_lines: usize,
}

impl Numbers {
    fn position(self) -> Position {
        // The start of an empty range is the line above it.
        let above = if self.old_lines == 0 { self.old_start } else { self.old_start.saturating_sub(1) };
        Position { above, old_lines: self.old_lines }
    }
}

/// Reads an `@@` line, or returns `None` when the line is none.
pub(crate) fn header(line: &str) -> Option<Header> {
    let rest = line.strip_prefix("@@")?;
    if let Some(numbers) = numbers(rest) {
        return Some(Header::Numbers(numbers));
    }
    let text = rest.trim_end();
    let text = text.strip_suffix(" @@").unwrap_or(text).trim_end();
    let text = text.strip_prefix(' ').unwrap_or(text);
    Some(if text.is_empty() || text == "@@" { Header::Empty } else { Header::Text(text.to_owned()) })
}

/// Reads ` -12,3 +12,4 @@ anything`.
fn numbers(rest: &str) -> Option<Numbers> {
    let mut words = rest.split_ascii_whitespace();
    let (old_start, old_lines) = range(words.next()?.strip_prefix('-')?)?;
    let (_, new_lines) = range(words.next()?.strip_prefix('+')?)?;
    (words.next()?.starts_with("@@")).then_some(Numbers { old_start, old_lines, new_lines })
}

fn range(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| digits).map(|number| number as usize)
    };
    match text.split_once(',') {
        Some((start, lines)) => Some((number(start)?, number(lines)?)),
        None => Some((number(text)?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numbers_text_or_nothing() {
        let numbers = |old_start, old_lines, new_lines| {
            Some(Header::Numbers(Numbers { old_start, old_lines, new_lines }))
        };
        assert_eq!(header("@@ -12,3 +12,4 @@ fn main() {"), numbers(12, 3, 4));
        assert_eq!(header("@@ -1 +1 @@"), numbers(1, 1, 1));
        assert_eq!(header("@@ -0,0 +1,2 @@"), numbers(0, 0, 2));
        assert_eq!(header("@@"), Some(Header::Empty));
        assert_eq!(header("@@ @@"), Some(Header::Empty));
        assert_eq!(header("@@  fn a() { @@"), Some(Header::Text(" fn a() {".to_owned())));
        assert_eq!(header("@@ -x +y @@"), Some(Header::Text("-x +y".to_owned())));
        assert_eq!(header("@@ -99999999999 +1 @@"), Some(Header::Text("-99999999999 +1".to_owned())));
        assert_eq!(header(" @@"), None);
    }

    #[test]
    fn empty_lines_are_context_only_between_lines() {
        let mut body = HunkBody::default();
        assert!(["", " a", "", "-b", "", ""].into_iter().all(|line| body.take(line)));
        let texts: Vec<_> = body.finish().lines.into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["", "a", "", "b"]);
    }
}
