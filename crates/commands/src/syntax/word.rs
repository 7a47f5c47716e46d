//! Reads one word: quotes, escapes, substitutions.

use super::{
    ansi_c,
    braces::{self, Piece},
    parse::{NotUnderstood, Parser},
    tree::{Node, Spelling, Value, Word},
};

/// A word as it was read, before braces are expanded.
pub(super) struct RawWord {
    pieces: Vec<Piece>,
    plain: bool,
    range: std::ops::Range<usize>,
}

impl RawWord {
    /// The expanded words.
    pub(super) fn words(self) -> Result<Vec<Word>, NotUnderstood> {
        let expanded =
            braces::expand(self.pieces).ok_or(NotUnderstood("braces that expand to many words"))?;
        let spelling = match (self.plain, expanded.len()) {
            (false, _) => Spelling::Escapes,
            (true, 1) => Spelling::Plain,
            (true, _) => Spelling::Braces,
        };
        let word = |pieces: Vec<Piece>| Word { value: value(&pieces), spelling, range: self.range.clone() };
        Ok(expanded.into_iter().map(word).collect())
    }

    /// The one word of a place where braces do not expand in the same way in every shell.
    pub(super) fn single(self) -> Result<Word, NotUnderstood> {
        match <[Word; 1]>::try_from(self.words()?) {
            Ok([word]) => Ok(word),
            Err(_) => Err(NotUnderstood("braces in this place")),
        }
    }

    /// Splits `NAME=value`. The name and the `=` must not be quoted.
    pub(super) fn assignment(&self) -> Option<(String, Self)> {
        let mut name = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Char('=', false) if !name.is_empty() => {
                    let pieces = self.pieces.get(at + 1..)?.to_vec();
                    return Some((name, Self { pieces, plain: self.plain, range: self.range.clone() }));
                }
                Piece::Char('+', false)
                    if !name.is_empty() && self.pieces.get(at + 1) == Some(&Piece::Char('=', false)) => {}
                Piece::Char(c, false) if c.is_ascii_alphabetic() || *c == '_' => name.push(*c),
                Piece::Char(c, false) if c.is_ascii_digit() && !name.is_empty() => name.push(*c),
                _ => return None,
            }
        }
        None
    }

    /// The text of the word if it has neither quotes nor anything that expands.
    pub(super) fn bare(&self) -> Option<String> {
        let bare = |piece: &Piece| match piece {
            Piece::Char(c, false) => Some(*c),
            Piece::Open => Some('{'),
            Piece::Close => Some('}'),
            _ => None,
        };
        self.pieces.iter().map(bare).collect()
    }

    pub(super) fn start(&self) -> usize {
        self.range.start
    }
}

fn value(pieces: &[Piece]) -> Value {
    let has = |wanted: &Piece| pieces.contains(wanted);
    if pieces == [Piece::Pipe] {
        return Value::Pipe;
    }
    if has(&Piece::Runtime) || has(&Piece::Pipe) || (has(&Piece::Open) && has(&Piece::Comma)) {
        return Value::Runtime;
    }
    // Some shells replace `~` after `=` in such words.
    let later_tilde =
        pieces.windows(2).any(|two| matches!(two, [Piece::Char('=' | ':', false), Piece::Char('~', false)]));
    if later_tilde {
        return Value::Runtime;
    }
    let glob = pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) && pieces != [Piece::Glob('[')];
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Char(c, true) if glob && "*?[]\\{}".contains(*c) => text.extend(['\\', *c]),
            Piece::Char(c, _) | Piece::Glob(c) => text.push(*c),
            Piece::Open => text.push('{'),
            Piece::Comma => text.push(','),
            Piece::Close => text.push('}'),
            Piece::Tilde | Piece::Pipe | Piece::Runtime => {}
        }
    }
    match (has(&Piece::Tilde), glob) {
        (true, _) if text.is_empty() || text.starts_with('/') => Value::Home(text),
        (true, _) => Value::Runtime,
        (false, true) => Value::Glob(text),
        (false, false) => Value::Known(text),
    }
}

/// Whether a character ends an unquoted word.
pub(super) fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

impl Parser<'_> {
    /// Reads a word. Commands inside it are added to `substitutions`.
    pub(super) fn word(&mut self, substitutions: &mut Vec<Node>) -> Result<RawWord, NotUnderstood> {
        let start = self.at;
        let mut pieces = Vec::new();
        let mut plain = true;
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.rest().get(1..2) == Some("(") => {
                    self.skip(2);
                    substitutions.push(self.nested()?);
                    pieces.push(Piece::Pipe);
                }
                _ if ends_word(c) => break,
                '\'' => {
                    let inside = self.rest().get(1..).unwrap_or_default();
                    let end = inside.find('\'').ok_or(NotUnderstood("a quote that is not closed"))?;
                    pieces
                        .extend(inside.get(..end).unwrap_or_default().chars().map(|c| Piece::Char(c, true)));
                    self.skip(end + 2);
                }
                '"' => self.double_quoted(&mut pieces, substitutions)?,
                '\\' => {
                    self.skip(1);
                    match self.next() {
                        Some('\n') => {}
                        Some(c) => pieces.push(Piece::Char(c, true)),
                        None => return Err(NotUnderstood("a backslash at the end")),
                    }
                }
                '$' if self.rest().starts_with("$'") => {
                    let inside = self.rest().get(2..).unwrap_or_default();
                    let (text, read) = ansi_c::decode(inside).ok_or(NotUnderstood("an escape in $'…'"))?;
                    pieces.extend(text.chars().map(|c| Piece::Char(c, true)));
                    plain = false;
                    self.skip(2 + read);
                }
                '$' if self.rest().starts_with("$\"") => return Err(NotUnderstood("a translated string")),
                '$' => self.expansion(&mut pieces, substitutions)?,
                '`' => self.backticks(&mut pieces, substitutions)?,
                '!' if self.at > start || self.expands_history() => {
                    return Err(NotUnderstood("a history expansion"));
                }
                _ => {
                    self.skip(c.len_utf8());
                    pieces.push(match c {
                        '*' | '?' | '[' => Piece::Glob(c),
                        '{' => Piece::Open,
                        ',' => Piece::Comma,
                        '}' => Piece::Close,
                        '~' if self.at == start + 1 => Piece::Tilde,
                        _ => Piece::Char(c, false),
                    });
                }
            }
        }
        Ok(RawWord { pieces, plain, range: start..self.at })
    }

    /// Whether the `!` here could be replaced by an earlier command in an interactive shell.
    fn expands_history(&self) -> bool {
        !matches!(self.rest().chars().nth(1), None | Some(' ' | '\t' | '\n' | '='))
    }

    fn double_quoted(
        &mut self,
        pieces: &mut Vec<Piece>,
        substitutions: &mut Vec<Node>,
    ) -> Result<(), NotUnderstood> {
        self.skip(1);
        loop {
            match self.peek() {
                None => return Err(NotUnderstood("a quote that is not closed")),
                Some('"') => {
                    self.skip(1);
                    // Keeps `""` a word, and a `~` behind it an ordinary character.
                    return Ok(());
                }
                Some('\\') => {
                    self.skip(1);
                    match self.next() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => pieces.push(Piece::Char(c, true)),
                        Some(c) => pieces.extend([Piece::Char('\\', true), Piece::Char(c, true)]),
                        None => return Err(NotUnderstood("a quote that is not closed")),
                    }
                }
                Some('$') => self.expansion(pieces, substitutions)?,
                Some('`') => self.backticks(pieces, substitutions)?,
                Some(c) => {
                    self.skip(c.len_utf8());
                    pieces.push(Piece::Char(c, true));
                }
            }
        }
    }

    /// `$name`, `${name}`, `$(…)`, or a plain `$`.
    fn expansion(
        &mut self,
        pieces: &mut Vec<Piece>,
        substitutions: &mut Vec<Node>,
    ) -> Result<(), NotUnderstood> {
        let rest = self.rest();
        let after = rest.get(1..).unwrap_or_default();
        let identifier =
            |text: &str| text.bytes().take_while(|c| c.is_ascii_alphanumeric() || *c == b'_').count();
        match after.chars().next() {
            Some('(') if after.starts_with("((") => return Err(NotUnderstood("arithmetic")),
            Some('[') => return Err(NotUnderstood("arithmetic")),
            Some('(') => {
                self.skip(2);
                substitutions.push(self.nested()?);
            }
            Some('{') => {
                let name = identifier(after.get(1..).unwrap_or_default());
                if name == 0 || !after.get(1 + name..).is_some_and(|rest| rest.starts_with('}')) {
                    return Err(NotUnderstood("an expansion that does more than insert a variable"));
                }
                self.skip(3 + name);
            }
            Some(c) if c.is_ascii_digit() => self.skip(2),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.skip(1 + identifier(after)),
            Some('?' | '$' | '#' | '@' | '*' | '!' | '-') => self.skip(2),
            _ => {
                self.skip(1);
                pieces.push(Piece::Char('$', true));
                return Ok(());
            }
        }
        pieces.push(Piece::Runtime);
        Ok(())
    }

    /// Backticks without a backslash inside; others are read in different ways.
    fn backticks(
        &mut self,
        pieces: &mut Vec<Piece>,
        substitutions: &mut Vec<Node>,
    ) -> Result<(), NotUnderstood> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let end = inside.find('`').ok_or(NotUnderstood("a backtick that is not closed"))?;
        let inside = inside.get(..end).unwrap_or_default();
        if inside.contains('\\') {
            return Err(NotUnderstood("a backslash between backticks"));
        }
        let from = self.at + 1;
        substitutions.push(self.part(from, from + end)?);
        self.skip(end + 2);
        pieces.push(Piece::Runtime);
        Ok(())
    }
}
