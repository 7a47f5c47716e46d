//! Cuts a template into text and tags, and the inside of a tag into words and signs.
//!
//! Reads the source once from the beginning to the end; the rules for white space are those of Jinja: a `-` beside a mark
//! removes the white space next to it, and one line break at the very end is left out.

use std::borrow::Cow;

use super::{LARGEST_EXPRESSION, LONGEST_NAME, Problem};

/// A stretch of the source.
#[derive(Debug)]
pub(super) enum Piece<'s> {
    Text(&'s str),
    /// Between `{{` and `}}`.
    Print(Tag<'s>),
    /// Between `{%` and `%}`.
    Tag(Tag<'s>),
}

#[derive(Debug)]
pub(super) struct Tag<'s> {
    /// Where it begins.
    pub(super) line: usize,
    pub(super) tokens: Vec<Token<'s>>,
}

#[derive(Debug)]
pub(super) struct Token<'s> {
    pub(super) line: usize,
    pub(super) word: Word<'s>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word<'s> {
    Name(&'s str),
    Text(Cow<'s, str>),
    Number(i64),
    Sign(&'static str),
}

/// Longer ones first. Those that no template can use are read so that they can be named.
const SIGNS: [&str; 26] = [
    "==", "!=", "<=", ">=", "**", "//", "<", ">", "=", "|", ".", ",", "(", ")", "[", "]", "{", "}", ":", "+",
    "-", "*", "/", "%", "~", "!",
];

pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: usize,
    /// The tag before asked for the white space after it to be removed.
    trim_start: bool,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let source = source.strip_suffix('\n').unwrap_or(source);
        let source = source.strip_suffix('\r').unwrap_or(source);
        Self { source, at: 0, line: 1, trim_start: false }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    /// Moves on and counts the lines.
    fn advance(&mut self, bytes: usize) -> &'s str {
        let passed = &self.rest()[..bytes];
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.at += bytes;
        passed
    }

    pub(super) fn next(&mut self) -> Result<Option<Piece<'s>>, Problem> {
        loop {
            if std::mem::take(&mut self.trim_start) {
                let rest = self.rest();
                self.advance(rest.len() - rest.trim_start().len());
            }
            let rest = self.rest();
            if rest.is_empty() {
                return Ok(None);
            }
            let (start, mark) = next_mark(rest).unwrap_or((rest.len(), b' '));
            if start > 0 {
                let removes = mark != b' ' && rest.as_bytes().get(start + 2) == Some(&b'-');
                let text = self.advance(start);
                let text = if removes { text.trim_end() } else { text };
                if !text.is_empty() {
                    return Ok(Some(Piece::Text(text)));
                }
                continue;
            }
            let line = self.line;
            let control = usize::from(matches!(rest.as_bytes().get(2), Some(b'-' | b'+')));
            match mark {
                b'#' => self.comment(2 + control)?,
                b'{' => {
                    self.advance(2 + control);
                    return Ok(Some(Piece::Print(Tag { line, tokens: self.tokens("}}", line)? })));
                }
                _ => {
                    if let Some((length, trims)) = plain_tag(&rest[2 + control..], "raw") {
                        self.advance(2 + control + length);
                        let text = self.raw(trims, line)?;
                        if !text.is_empty() {
                            return Ok(Some(Piece::Text(text)));
                        }
                        continue;
                    }
                    self.advance(2 + control);
                    return Ok(Some(Piece::Tag(Tag { line, tokens: self.tokens("%}", line)? })));
                }
            }
        }
    }

    fn comment(&mut self, open: usize) -> Result<(), Problem> {
        let inside = &self.rest()[open..];
        let Some(end) = inside.find("#}") else {
            let fix = "End the comment with #}, or write {{ '{#' }} for the letters themselves.";
            return Err(Problem::wrong(self.line, "a comment begins and does not end", fix));
        };
        self.trim_start = inside[..end].ends_with('-');
        self.advance(open + end + 2);
        Ok(())
    }

    /// Everything up to `{% endraw %}`.
    fn raw(&mut self, trims_start: bool, line: usize) -> Result<&'s str, Problem> {
        let rest = self.rest();
        let mut from = 0;
        while let Some(found) = rest[from..].find("{%") {
            let end = from + found;
            from = end + 2;
            let control = rest[from..].chars().next().filter(|sign| matches!(sign, '-' | '+'));
            let inside = from + control.map_or(0, char::len_utf8);
            if let Some((length, trims_next)) = plain_tag(&rest[inside..], "endraw") {
                let text = &rest[..end];
                let text = if trims_start { text.trim_start() } else { text };
                let text = if control == Some('-') { text.trim_end() } else { text };
                self.advance(inside + length);
                self.trim_start = trims_next;
                return Ok(text);
            }
        }
        Err(Problem::wrong(line, "raw text begins and does not end", "Write {% endraw %} where it ends."))
    }

    /// The words and signs up to `end`.
    fn tokens(&mut self, end: &str, line: usize) -> Result<Vec<Token<'s>>, Problem> {
        let mut tokens = Vec::new();
        loop {
            let rest = self.rest();
            self.advance(rest.len() - rest.trim_ascii_start().len());
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                let begin = if end == "}}" { "{{" } else { "{%" };
                let fix =
                    format!("Write {end} where it ends, or {{{{ '{begin}' }}}} for the letters themselves.");
                return Err(Problem::wrong(line, format!("{begin} begins and {end} does not follow"), fix));
            };
            if rest.starts_with(end) {
                self.advance(end.len());
                return Ok(tokens);
            }
            if matches!(first, '-' | '+') && rest[1..].starts_with(end) {
                self.advance(1 + end.len());
                self.trim_start = first == '-';
                return Ok(tokens);
            }
            if tokens.len() == LARGEST_EXPRESSION {
                return Err(Problem::limit(
                    line,
                    format!("there are more than {LARGEST_EXPRESSION} words and signs between two marks"),
                    format!(
                        "Close every {{{{ and {{%; use at most {LARGEST_EXPRESSION}, and split it with set."
                    ),
                ));
            }
            let line = self.line;
            let word = match first {
                '\'' | '"' => self.quoted(first)?,
                '0'..='9' => self.number()?,
                'a'..='z' | 'A'..='Z' | '_' => self.name()?,
                _ => self.sign(first)?,
            };
            tokens.push(Token { line, word });
        }
    }

    fn name(&mut self) -> Result<Word<'s>, Problem> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = self.rest().as_bytes().iter().take_while(|byte| is_part(byte)).count();
        if length > LONGEST_NAME {
            let what = format!("a name has {length} characters, more than {LONGEST_NAME}");
            return Err(Problem::limit(self.line, what, format!("Use at most {LONGEST_NAME} characters.")));
        }
        Ok(Word::Name(self.advance(length)))
    }

    fn number(&mut self) -> Result<Word<'s>, Problem> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..length].parse();
        let goes_on = rest[length..].starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
        match number {
            Ok(number) if !goes_on => {
                self.advance(length);
                Ok(Word::Number(number))
            }
            _ => {
                let fix = "Use whole numbers below 9223372036854775808, in digits only.";
                Err(Problem::wrong(self.line, "a number cannot be read", fix))
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Word<'s>, Problem> {
        let inside = &self.rest()[1..];
        let mut escaped = false;
        let end = inside.bytes().position(|byte| {
            let ends = !escaped && byte == quote as u8;
            escaped = !escaped && byte == b'\\';
            ends
        });
        let Some(end) = end else {
            let fix = format!("Write {quote} where it ends.");
            return Err(Problem::wrong(self.line, "a text in quotes begins and does not end", fix));
        };
        let line = self.line;
        let text = &inside[..end];
        self.advance(end + 2);
        if !text.contains('\\') {
            return Ok(Word::Text(Cow::Borrowed(text)));
        }
        let text = unescaped(text).ok_or_else(|| {
            let fix = "Use \\n, \\t, \\r, \\\\, \\', \\\" or \\u and four hexadecimal digits; write other characters as they are.";
            Problem::wrong(line, "a text in quotes has an escape that cannot be read", fix)
        })?;
        Ok(Word::Text(Cow::Owned(text)))
    }

    fn sign(&mut self, first: char) -> Result<Word<'s>, Problem> {
        let rest = self.rest();
        let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
            let what = format!("the character {first:?} has no meaning between two marks");
            let fix = "Put text into quotes, or outside of {{ }} and {% %}.";
            return Err(Problem::wrong(self.line, what, fix));
        };
        self.advance(sign.len());
        Ok(Word::Sign(sign))
    }
}

/// Where the next `{{`, `{%` or `{#` begins, and its second character.
fn next_mark(text: &str) -> Option<(usize, u8)> {
    let bytes = text.as_bytes();
    let at = bytes.windows(2).position(|pair| matches!(pair, b"{{" | b"{%" | b"{#"))?;
    Some((at, bytes[at + 1]))
}

/// Reads `name %}` or `name -%}`: its length, and whether white space after it is to be removed.
fn plain_tag(text: &str, name: &str) -> Option<(usize, bool)> {
    let rest = text.trim_ascii_start().strip_prefix(name)?.trim_ascii_start();
    let (rest, trims) = match rest.strip_prefix(['-', '+']) {
        Some(after) => (after, rest.starts_with('-')),
        None => (rest, false),
    };
    let rest = rest.strip_prefix("%}")?;
    Some((text.len() - rest.len(), trims))
}

/// The text with its escapes replaced; an unknown escape stays as it is.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next()? {
            own @ ('"' | '\\' | '/' | '\'') => out.push(own),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let digits = letters.as_str().get(..4)?;
                out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                letters = letters.as_str()[4..].chars();
            }
            // Jinja reads these as control characters and code points; no prompt needs them.
            'b' | 'f' | 'x' | '0'..='7' => return None,
            other => out.extend(['\\', other]),
        }
    }
    Some(out)
}
