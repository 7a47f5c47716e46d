//! Reads the part of the shell language whose meaning is the same in `sh` and bash, and certain.
//!
//! Everything else is [`NotUnderstood`], and asks: here-documents, `case`, `select`, `[[`, arithmetic, functions, arrays,
//! extended patterns, expansions with operators.

use super::{
    tree::{Assignment, Loop, Node, Redirect, RedirectKind, Simple, Value},
    word::ends_word,
};

/// A construct that is not read, named for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotUnderstood(pub(crate) &'static str);

type Read<T> = Result<T, NotUnderstood>;

const MAX_DEPTH: u32 = 24;
const MAX_NODES: u32 = 1000;
/// The most commands in a row of `&&` and `||`.
const MAX_CHAIN: usize = 64;

/// Words that have a meaning of their own where a command could start.
const RESERVED: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "{", "}", "!", "in", "case",
    "esac", "select", "function", "coproc", "[[",
];

/// Reads a whole line.
pub(crate) fn parse(line: &str) -> Read<Node> {
    let mut parser = Parser { text: line, at: 0, end: line.len(), depth: 0, nodes: 0 };
    let node = parser.list(&[])?;
    if parser.peek().is_some() { Err(NotUnderstood("a sign in an unexpected place")) } else { Ok(node) }
}

/// A position in the line that is read.
pub(super) struct Parser<'a> {
    text: &'a str,
    pub(super) at: usize,
    end: usize,
    depth: u32,
    nodes: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Skips blanks, escaped line ends and a comment.
    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with('#') && self.starts_comment() {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    fn starts_comment(&self) -> bool {
        self.text
            .get(..self.at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|c| ends_word(c) || c == '`')
    }

    /// Skips blanks, comments and line ends.
    fn lines(&mut self) {
        loop {
            self.blanks();
            if !self.take("\n") {
                return;
            }
        }
    }

    /// The reserved word here, if there is one.
    fn reserved(&self) -> Option<&'static str> {
        let rest = self.rest();
        let end = rest.find(ends_word).unwrap_or(rest.len());
        let word = rest.get(..end)?;
        RESERVED.into_iter().find(|reserved| *reserved == word)
    }

    fn take_reserved(&mut self, wanted: &str) -> Read<()> {
        self.lines();
        if self.reserved() == Some(wanted) && self.take(wanted) {
            return Ok(());
        }
        Err(NotUnderstood("a compound command that is not complete"))
    }

    fn enter<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        self.nodes += 1;
        if self.depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(NotUnderstood("deep or long nesting"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads the commands of `$(…)` behind the opening parenthesis, and the closing one.
    pub(super) fn nested(&mut self) -> Read<Node> {
        let node = self.enter(|parser| parser.list(&[]))?;
        if self.take(")") { Ok(node) } else { Err(NotUnderstood("a parenthesis that is not closed")) }
    }

    /// Reads a part of the line on its own.
    pub(super) fn part(&mut self, from: usize, to: usize) -> Read<Node> {
        let mut part = Parser { text: self.text, at: from, end: to, depth: self.depth, nodes: self.nodes };
        let node = part.enter(|parser| parser.list(&[]))?;
        self.nodes = part.nodes;
        if part.peek().is_some() { Err(NotUnderstood("a sign in an unexpected place")) } else { Ok(node) }
    }

    /// Reads commands up to the end, a closing parenthesis or one of the reserved words.
    fn list(&mut self, ends: &[&str]) -> Read<Node> {
        let mut nodes = Vec::new();
        loop {
            self.lines();
            let ended = matches!(self.peek(), None | Some(')'))
                || self.reserved().is_some_and(|word| ends.contains(&word));
            if ended {
                break;
            }
            let node = self.enter(Self::and_or)?;
            self.blanks();
            if self.take(";;") {
                return Err(NotUnderstood("a sign in an unexpected place"));
            } else if self.take("&") {
                nodes.push(Node::Background(Box::new(node)));
            } else {
                nodes.push(node);
                if !self.take(";") && !self.take("\n") {
                    self.lines();
                    if matches!(self.peek(), None | Some(')')) {
                        break;
                    }
                    return Err(NotUnderstood("a sign in an unexpected place"));
                }
            }
        }
        Ok(match <[Node; 1]>::try_from(nodes) {
            Ok([node]) => node,
            Err(nodes) => Node::Sequence(nodes),
        })
    }

    fn and_or(&mut self) -> Read<Node> {
        let mut left = self.pipeline()?;
        for _ in 0..MAX_CHAIN {
            self.blanks();
            let and = self.take("&&");
            if !and && !self.take("||") {
                return Ok(left);
            }
            self.lines();
            let right = Box::new(self.enter(Self::pipeline)?);
            left = if and { Node::And(Box::new(left), right) } else { Node::Or(Box::new(left), right) };
        }
        Err(NotUnderstood("a long chain of commands"))
    }

    fn pipeline(&mut self) -> Read<Node> {
        self.blanks();
        while self.reserved() == Some("!") {
            self.skip(1);
            self.blanks();
        }
        let mut nodes = vec![self.command()?];
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !self.take("|") {
                break;
            }
            self.take("&");
            self.lines();
            nodes.push(self.enter(Self::command)?);
        }
        Ok(match <[Node; 1]>::try_from(nodes) {
            Ok([node]) => node,
            Err(nodes) => Node::Pipeline(nodes),
        })
    }

    fn command(&mut self) -> Read<Node> {
        if self.rest().starts_with("((") {
            return Err(NotUnderstood("arithmetic"));
        }
        if self.take("(") {
            let inside = Box::new(self.nested()?);
            return Ok(Node::Subshell(inside, self.redirects()?));
        }
        let start = self.at;
        match self.reserved() {
            None => self.simple(),
            Some("{") => {
                self.skip(1);
                let inside = Box::new(self.block("}")?);
                Ok(Node::Group(inside, self.redirects()?))
            }
            Some("if") => self.condition(),
            Some(word @ ("while" | "until")) => {
                self.skip(word.len());
                let condition = Some(Box::new(self.block("do")?));
                self.loop_body(Loop { condition, ..Loop::starting_at(start) })
            }
            Some("for") => {
                self.skip(3);
                self.for_loop(start)
            }
            Some(_) => Err(NotUnderstood("this compound command")),
        }
    }

    /// Reads commands up to a reserved word, and the word.
    fn block(&mut self, end: &str) -> Read<Node> {
        let node = self.enter(|parser| parser.list(&[end]))?;
        self.take_reserved(end)?;
        Ok(node)
    }

    fn condition(&mut self) -> Read<Node> {
        self.skip(2);
        let mut parts = vec![self.block("then")?];
        loop {
            parts.push(self.enter(|parser| parser.list(&["elif", "else", "fi"]))?);
            self.lines();
            match self.reserved() {
                Some("elif") => {
                    self.skip(4);
                    parts.push(self.block("then")?);
                }
                Some("else") => {
                    self.skip(4);
                    parts.push(self.block("fi")?);
                    break;
                }
                _ => {
                    self.take_reserved("fi")?;
                    break;
                }
            }
        }
        Ok(Node::If(parts, self.redirects()?))
    }

    fn for_loop(&mut self, start: usize) -> Read<Node> {
        self.blanks();
        let mut substitutions = Vec::new();
        let variable = self.word(&mut substitutions)?.bare().ok_or(NotUnderstood("this `for` loop"))?;
        self.lines();
        if self.reserved() != Some("in") {
            return Err(NotUnderstood("this `for` loop"));
        }
        self.skip(2);
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(';' | '\n') => break,
                Some(c) if ends_word(c) && c != '<' && c != '>' => {
                    return Err(NotUnderstood("this `for` loop"));
                }
                None => return Err(NotUnderstood("this `for` loop")),
                _ => {}
            }
            let word = self.word(&mut substitutions)?;
            if word.start() == self.at {
                return Err(NotUnderstood("this `for` loop"));
            }
            words.extend(word.words()?);
        }
        self.skip(1);
        self.take_reserved("do")?;
        self.loop_body(Loop { variable: Some(variable), words, substitutions, ..Loop::starting_at(start) })
    }

    fn loop_body(&mut self, mut found: Loop) -> Read<Node> {
        *found.body = self.block("done")?;
        found.range.end = self.at;
        found.redirects = self.redirects()?;
        Ok(Node::Loop(found))
    }

    /// The redirections behind a compound command.
    fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut holder = Simple::default();
        loop {
            self.blanks();
            if !self.redirect(&mut holder)? {
                break;
            }
        }
        if holder.substitutions.is_empty() {
            Ok(holder.redirects)
        } else {
            Err(NotUnderstood("a substitution in a redirection"))
        }
    }

    fn simple(&mut self) -> Read<Node> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut end = start;
        loop {
            self.blanks();
            let ended = match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => true,
                Some('&') => !self.rest().starts_with("&>"),
                Some('(') => return Err(NotUnderstood("a function or an extended pattern")),
                _ => false,
            };
            if ended {
                break;
            }
            if !self.redirect(&mut simple)? {
                self.simple_word(&mut simple)?;
            }
            end = self.at;
        }
        if end == start {
            return Err(NotUnderstood("a sign in an unexpected place"));
        }
        simple.range = start..end;
        Ok(Node::Simple(simple))
    }

    fn simple_word(&mut self, simple: &mut Simple) -> Read<()> {
        let word = self.word(&mut simple.substitutions)?;
        if matches!(self.peek(), Some('<' | '>')) && word.bare().is_some_and(|text| text.starts_with('{')) {
            return Err(NotUnderstood("a redirection into a variable"));
        }
        if simple.words.is_empty()
            && let Some((name, value)) = word.assignment()
        {
            if self.peek() == Some('(') {
                return Err(NotUnderstood("an array"));
            }
            let range = word.start()..self.at;
            let value = value.single().map_or(Value::Runtime, |word| word.value);
            simple.assignments.push(Assignment { name, value, range });
            return Ok(());
        }
        simple.words.extend(word.words()?);
        Ok(())
    }

    /// Reads a redirection, if there is one here.
    fn redirect(&mut self, simple: &mut Simple) -> Read<bool> {
        let start = self.at;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let sign = self.rest().get(digits..).unwrap_or_default();
        if sign.starts_with("<(") || sign.starts_with(">(") {
            return if digits == 0 { Ok(false) } else { Err(NotUnderstood("a redirection of this kind")) };
        }
        if sign.starts_with("<<") || sign.starts_with("<>") {
            return Err(NotUnderstood("a here-document or a redirection of this kind"));
        }
        const SIGNS: [(&str, RedirectKind); 8] = [
            ("&>>", RedirectKind::Write),
            ("&>", RedirectKind::Write),
            (">>", RedirectKind::Write),
            (">|", RedirectKind::Write),
            (">&", RedirectKind::Descriptor),
            ("<&", RedirectKind::Descriptor),
            (">", RedirectKind::Write),
            ("<", RedirectKind::Read),
        ];
        let Some((sign, kind)) = SIGNS.into_iter().find(|(known, _)| sign.starts_with(known)) else {
            return Ok(false);
        };
        if digits > 0 && sign.starts_with('&') {
            return Ok(false);
        }
        self.skip(digits + sign.len());
        self.blanks();
        let word = self.word(&mut simple.substitutions)?;
        if word.start() == self.at {
            return Err(NotUnderstood("a redirection without a file"));
        }
        let word = word.single()?;
        let descriptor = |text: &str| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            !text.is_empty() && digits.len() < 3 && digits.bytes().all(|c| c.is_ascii_digit())
        };
        let kind = match (kind, &word.value) {
            (RedirectKind::Descriptor, Value::Known(text)) if descriptor(text) => RedirectKind::Descriptor,
            (RedirectKind::Descriptor, _) => RedirectKind::Write,
            (kind, _) => kind,
        };
        simple.redirects.push(Redirect { kind, target: word.value, range: start..self.at });
        Ok(true)
    }
}
