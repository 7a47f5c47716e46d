//! Wraps text while it streams: between words, in CJK text between any two characters, list items with a hanging indent,
//! fenced code not at all. A word is buffered until it is complete; nothing is printed twice.

use super::text::{char_width, is_control, width};

pub(crate) struct Wrap {
    columns: usize,
    column: usize,
    /// The word that is not complete yet, and the spaces before it.
    word: String,
    word_width: usize,
    spaces: usize,
    /// The column at which continued lines begin.
    indent: usize,
    /// No word of the line has been printed yet.
    at_start: bool,
    /// The next letters belong to a word that was too long to buffer.
    continues_word: bool,
    fenced: bool,
}

impl Wrap {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(20),
            column: 0,
            word: String::new(),
            word_width: 0,
            spaces: 0,
            indent: 0,
            at_start: true,
            continues_word: false,
            fenced: false,
        }
    }

    /// Adds text and returns what can be printed now.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                ' ' => self.space(&mut out, 1),
                '\t' => self.space(&mut out, 4),
                c if is_control(c) => {}
                c if char_width(c) == 2 && !self.fenced => self.wide(&mut out, c),
                c => self.letter(&mut out, c),
            }
        }
        out
    }

    /// Returns the word that was buffered.
    pub(crate) fn flush(&mut self) -> String {
        let mut out = String::new();
        self.put_word(&mut out);
        out
    }

    fn end_line(&mut self, out: &mut String) {
        self.put_word(out);
        out.push('\n');
        self.continues_word = false;
        self.column = 0;
        self.spaces = 0;
        self.indent = 0;
        self.at_start = true;
    }

    fn space(&mut self, out: &mut String, count: usize) {
        self.put_word(out);
        self.continues_word = false;
        self.spaces += count;
    }

    fn letter(&mut self, out: &mut String, c: char) {
        self.word.push(c);
        self.word_width += char_width(c);
        // A word longer than a line will not fit later either.
        if self.word_width >= self.columns {
            self.put_word(out);
            self.continues_word = true;
        }
    }

    /// Adds a wide character. A line may break before it, unless it is a closing mark.
    fn wide(&mut self, out: &mut String, c: char) {
        let closes = "，。、；：？！）》」』】〉”’…".contains(c);
        if !closes {
            self.put_word(out);
            self.continues_word = false;
        }
        self.word.push(c);
        self.word_width += 2;
    }

    fn put_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        if self.at_start {
            self.start_line();
        }
        let needed = self.spaces + self.word_width;
        if !self.fenced
            && !self.continues_word
            && self.column > self.indent
            && self.column + needed > self.columns
        {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', self.indent));
            self.column = self.indent;
        } else {
            out.extend(std::iter::repeat_n(' ', self.spaces));
            self.column += self.spaces;
        }
        self.spaces = 0;
        out.push_str(&self.word);
        self.column = (self.column + self.word_width) % (self.columns + 1);
        self.word.clear();
        self.word_width = 0;
    }

    /// Derives the indent and the code fence from the first word of the line.
    fn start_line(&mut self) {
        self.at_start = false;
        if self.word.starts_with("```") {
            self.fenced = !self.fenced;
        }
        self.indent = self.spaces;
        if is_list_mark(&self.word) {
            self.indent += width(&self.word) + 1;
        }
        if self.indent > self.columns / 2 {
            self.indent = 0;
        }
    }
}

fn is_list_mark(word: &str) -> bool {
    match word.strip_suffix(['.', ')']) {
        Some(number) => !number.is_empty() && number.len() < 4 && number.bytes().all(|b| b.is_ascii_digit()),
        None => matches!(word, "-" | "*" | "+" | "•"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the result is the same for any split into deltas.
    #[track_caller]
    fn wraps(columns: usize, text: &str, expected: &str) {
        let mut whole = Wrap::new(columns);
        let mut out = whole.push(text);
        out.push_str(&whole.flush());
        assert_eq!(out, expected);
        let mut pieces = Wrap::new(columns);
        let mut out: String = text.chars().map(|c| pieces.push(c.encode_utf8(&mut [0; 4]))).collect();
        out.push_str(&pieces.flush());
        assert_eq!(out, expected);
        for line in expected.lines() {
            assert!(width(line) <= columns, "{line}");
        }
    }

    #[test]
    fn words_stay_whole() {
        wraps(20, "the quick brown fox jumps over", "the quick brown fox\njumps over");
        wraps(20, "exactly twenty chars and more", "exactly twenty chars\nand more");
        wraps(20, "one\n\ntwo  three", "one\n\ntwo  three");
    }

    #[test]
    fn chinese_breaks_anywhere_but_before_closing_marks() {
        wraps(20, "现在是北京时间下午三点二十分。", "现在是北京时间下午三\n点二十分。");
        wraps(20, "一二三四五六七八九十，好", "一二三四五六七八九\n十，好");
    }

    #[test]
    fn list_items_have_a_hanging_indent() {
        wraps(
            20,
            "- alpha beta gamma delta\n12. alpha beta gammas",
            "- alpha beta gamma\n  delta\n12. alpha beta\n    gammas",
        );
    }

    #[test]
    fn fenced_code_is_left_alone() {
        let text = "```\nlet x = some_function(a, b);\n```\n";
        let mut wrap = Wrap::new(20);
        assert_eq!(wrap.push(text), text);
    }

    #[test]
    fn a_very_long_word_is_not_buffered_to_its_end() {
        let mut wrap = Wrap::new(20);
        assert_eq!(wrap.push(&"x".repeat(30)).len(), 20);
        assert_eq!(wrap.flush().len(), 10);
    }
}
