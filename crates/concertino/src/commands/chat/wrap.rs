//! Wraps text while it streams: whole words, CJK between any two characters, list items with a hanging indent,
//! fenced code as it is. A word is held back until it is known to be complete; nothing is printed twice.

use super::text::{char_width, is_harmful, width};

pub(crate) struct Wrap {
    columns: usize,
    column: usize,
    /// The word being read, and the spaces before it.
    word: String,
    word_width: usize,
    spaces: usize,
    /// Where continued lines begin.
    indent: usize,
    /// The first word of the line has not been printed.
    at_start: bool,
    /// What comes belongs to a word that was too long to hold back.
    glued: bool,
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
            glued: false,
            fenced: false,
        }
    }

    /// What can be printed now that this text has come.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                ' ' => self.space(&mut out, 1),
                '\t' => self.space(&mut out, 4),
                c if is_harmful(c) => {}
                c if char_width(c) == 2 && !self.fenced => self.wide(&mut out, c),
                c => self.letter(&mut out, c),
            }
        }
        out
    }

    /// The word that was held back.
    pub(crate) fn flush(&mut self) -> String {
        let mut out = String::new();
        self.put_word(&mut out);
        out
    }

    fn end_line(&mut self, out: &mut String) {
        self.put_word(out);
        out.push('\n');
        self.glued = false;
        self.column = 0;
        self.spaces = 0;
        self.indent = 0;
        self.at_start = true;
    }

    fn space(&mut self, out: &mut String, count: usize) {
        self.put_word(out);
        self.glued = false;
        self.spaces += count;
    }

    fn letter(&mut self, out: &mut String, c: char) {
        self.word.push(c);
        self.word_width += char_width(c);
        // A word longer than a line will not fit better later.
        if self.word_width >= self.columns {
            self.put_word(out);
            self.glued = true;
        }
    }

    /// A line may break before it, unless it is a mark that closes.
    fn wide(&mut self, out: &mut String, c: char) {
        let closes = "，。、；：？！）》」』】〉”’…".contains(c);
        if !closes {
            self.put_word(out);
            self.glued = false;
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
        if !self.fenced && !self.glued && self.column > self.indent && self.column + needed > self.columns {
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

    /// What the first word says about the line.
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

    /// However the text is cut into deltas, the result is the same.
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
    fn list_items_hang() {
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
    fn a_word_without_end_is_not_held_back_for_ever() {
        let mut wrap = Wrap::new(20);
        assert_eq!(wrap.push(&"x".repeat(30)).len(), 20);
        assert_eq!(wrap.flush().len(), 10);
    }
}
