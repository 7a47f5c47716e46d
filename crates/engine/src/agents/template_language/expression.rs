//! Reads the inside of a tag: from `or` down to a single value.
//!
//! Recursive descent whose depth is counted in [`Reader::deeper`]; chains of filters, `and` and `or` are loops.

use std::borrow::Cow;

use super::{
    DEEPEST_EXPRESSION, Problem,
    lexer::{Tag, Token, Word},
    syntax::{Choice, Comparison, Expression, Filter, Link, LoopField},
};

/// Words that cannot be names of variables.
const RESERVED: [&str; 18] = [
    "true", "True", "false", "False", "none", "None", "loop", "self", "and", "or", "not", "in", "is", "if",
    "else", "elif", "for", "set",
];
const ARITHMETIC: [&str; 8] = ["+", "-", "*", "/", "%", "~", "**", "//"];
const LANGUAGE: &str = "A template has variables, filters, comparisons, and, or, not, in, is defined, and lists; nothing \
     else.";

pub(super) struct Reader<'s> {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token<'s>>>,
    line: usize,
    depth: usize,
    /// Whether `loop` has a meaning here.
    in_loop: bool,
}

type Read<T> = Result<T, Problem>;

impl<'s> Reader<'s> {
    pub(super) fn new(tag: Tag<'s>, in_loop: bool) -> Self {
        Self { tokens: tag.tokens.into_iter().peekable(), line: tag.line, depth: 0, in_loop }
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    fn peek(&mut self) -> Option<&Word<'s>> {
        self.tokens.peek().map(|token| &token.word)
    }

    fn next(&mut self) -> Option<Word<'s>> {
        let token = self.tokens.next()?;
        self.line = token.line;
        Some(token.word)
    }

    fn is_name(&mut self, name: &str) -> bool {
        matches!(self.peek(), Some(Word::Name(found)) if *found == name)
    }

    /// Takes this word when it is next.
    pub(super) fn takes_name(&mut self, name: &str) -> bool {
        self.is_name(name) && self.next().is_some()
    }

    fn takes(&mut self, sign: &str) -> bool {
        matches!(self.peek(), Some(Word::Sign(found)) if *found == sign) && self.next().is_some()
    }

    /// The first word of a tag.
    pub(super) fn keyword(&mut self) -> Option<&'s str> {
        match self.peek() {
            Some(Word::Name(name)) => {
                let name = *name;
                self.next();
                Some(name)
            }
            _ => None,
        }
    }

    /// A name to be given to a value.
    pub(super) fn new_name(&mut self) -> Read<&'s str> {
        match self.next() {
            Some(Word::Name(name)) if !RESERVED.contains(&name) => Ok(name),
            Some(Word::Name(name)) => {
                let what = format!("{name} has a meaning of its own and cannot be the name of a variable");
                Err(Problem::wrong(self.line, what, "Choose another name."))
            }
            other => Err(self.unexpected(other.as_ref(), "a name")),
        }
    }

    pub(super) fn expect_name(&mut self, name: &str) -> Read<()> {
        let found = self.next();
        match found {
            Some(Word::Name(found)) if found == name => Ok(()),
            other => Err(self.unexpected(other.as_ref(), name)),
        }
    }

    pub(super) fn expect(&mut self, sign: &str) -> Read<()> {
        let found = self.next();
        match found {
            Some(Word::Sign(found)) if found == sign => Ok(()),
            other => Err(self.unexpected(other.as_ref(), sign)),
        }
    }

    /// Nothing may be left of the tag.
    pub(super) fn end(mut self) -> Read<()> {
        match self.next() {
            None => Ok(()),
            other => Err(self.unexpected(other.as_ref(), "the end of the tag")),
        }
    }

    fn unexpected(&self, found: Option<&Word<'s>>, expected: &str) -> Problem {
        let found = match found {
            None => {
                let what = format!("the tag ends where {expected} is expected");
                return Problem::wrong(self.line, what, LANGUAGE);
            }
            Some(Word::Sign(sign)) if ARITHMETIC.contains(sign) => {
                let what = format!("templates cannot calculate: {sign} is not part of the language");
                let fix = "Write the result, or join texts with a list: {{ [name, page]|join(', ') }}.";
                return Problem::wrong(self.line, what, fix);
            }
            Some(Word::Sign(":")) => {
                let fix = "Take one entry, like {{ tools[0] }}, or go through all with for.";
                return Problem::wrong(self.line, "templates cannot take a part of a text or list", fix);
            }
            Some(Word::Sign(sign)) => (*sign).to_owned(),
            Some(Word::Name(name)) => (*name).to_owned(),
            Some(Word::Number(number)) => number.to_string(),
            Some(Word::Text(_)) => "a text in quotes".to_owned(),
        };
        Problem::wrong(self.line, format!("{found} stands where {expected} is expected"), LANGUAGE)
    }

    /// Reads something that lies one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST_EXPRESSION {
            return Err(Problem::limit(
                self.line,
                format!("an expression is nested more than {DEEPEST_EXPRESSION} deep"),
                format!(
                    "Nest parentheses, lists, arguments, not and if at most {DEEPEST_EXPRESSION} deep; split it with set."
                ),
            ));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A whole expression, `value if condition else other` included.
    pub(super) fn expression(&mut self) -> Read<Expression<'s>> {
        self.deeper(|reader| {
            let mut value = reader.or()?;
            // Each further one holds what was read before it, so it counts as a level.
            if reader.takes_name("if") {
                let condition = reader.or()?;
                let otherwise = if reader.takes_name("else") { Some(reader.expression()?) } else { None };
                value = Expression::Choose(Box::new(Choice { condition, value, otherwise }));
            }
            Ok(value)
        })
    }

    /// An expression without `if`, as tags take it.
    pub(super) fn or(&mut self) -> Read<Expression<'s>> {
        let first = self.and()?;
        self.rest_of(first, "or", Self::and, Expression::Or)
    }

    fn and(&mut self) -> Read<Expression<'s>> {
        let first = self.not()?;
        self.rest_of(first, "and", Self::not, Expression::And)
    }

    fn rest_of(
        &mut self,
        first: Expression<'s>,
        word: &str,
        read: impl Fn(&mut Self) -> Read<Expression<'s>>,
        build: impl Fn(Vec<Expression<'s>>) -> Expression<'s>,
    ) -> Read<Expression<'s>> {
        if !self.is_name(word) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.takes_name(word) {
            all.push(read(self)?);
        }
        Ok(build(all))
    }

    fn not(&mut self) -> Read<Expression<'s>> {
        if self.takes_name("not") {
            return Ok(Expression::Not(Box::new(self.deeper(Self::not)?)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Read<Expression<'s>> {
        let left = self.chain()?;
        let Some(comparison) = self.comparison_sign()? else { return Ok(left) };
        let right = self.chain()?;
        if self.comparison_sign()?.is_some() {
            let what = "two comparisons stand in a row";
            return Err(Problem::wrong(
                self.line,
                what,
                "Compare two values at a time and join them with and.",
            ));
        }
        Ok(Expression::Compare(comparison, Box::new([left, right])))
    }

    fn comparison_sign(&mut self) -> Read<Option<Comparison>> {
        let comparison = match self.peek() {
            Some(Word::Sign("==")) => Comparison::Equal,
            Some(Word::Sign("!=")) => Comparison::NotEqual,
            Some(Word::Sign("<")) => Comparison::Less,
            Some(Word::Sign("<=")) => Comparison::LessOrEqual,
            Some(Word::Sign(">")) => Comparison::Greater,
            Some(Word::Sign(">=")) => Comparison::GreaterOrEqual,
            Some(Word::Name("in")) => Comparison::In,
            Some(Word::Name("not")) => {
                self.next();
                self.expect_name("in")?;
                return Ok(Some(Comparison::NotIn));
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(comparison))
    }

    /// A value with its subscripts, filters and tests.
    fn chain(&mut self) -> Read<Expression<'s>> {
        let first = self.value()?;
        let mut links = Vec::new();
        // Subscripts bind to the value itself and come before filters.
        let mut filtered = false;
        loop {
            if !filtered && self.takes("[") {
                let subscript = self.expression()?;
                self.expect("]")?;
                links.push(Link::Subscript(subscript));
            } else if !filtered && self.takes(".") {
                links.push(Link::Subscript(self.place()?));
            } else if self.takes("|") {
                links.push(self.filter()?);
                filtered = true;
            } else if self.takes_name("is") {
                let negated = self.takes_name("not");
                self.test()?;
                links.push(Link::IsDefined { negated });
                filtered = true;
            } else if matches!(self.peek(), Some(Word::Sign("("))) {
                let fix = "Use a variable or a filter; a template cannot call anything.";
                return Err(Problem::wrong(self.line, "something is called", fix));
            } else if links.is_empty() {
                return Ok(first);
            } else {
                return Ok(Expression::Chain(Box::new(first), links));
            }
        }
    }

    /// What follows a dot: the place of an entry.
    fn place(&mut self) -> Read<Expression<'s>> {
        match self.next() {
            Some(Word::Number(place)) => Ok(Expression::Number(place)),
            Some(Word::Name(part)) => {
                let what = format!("a value has no part named {part}");
                let fix = "Only loop has parts, like loop.index; the variables are texts and lists.";
                Err(Problem::wrong(self.line, what, fix))
            }
            other => Err(self.unexpected(other.as_ref(), "a number")),
        }
    }

    fn filter(&mut self) -> Read<Link<'s>> {
        let name = match self.next() {
            Some(Word::Name(name)) => name,
            other => return Err(self.unexpected(other.as_ref(), "the name of a filter")),
        };
        let known = || Filter::ALL.map(|(name, ..)| name).join(", ");
        let Some((_, filter, most)) = Filter::ALL.into_iter().find(|(known, ..)| *known == name) else {
            let what = format!("there is no filter named {name}");
            return Err(Problem::wrong(self.line, what, format!("The filters are: {}.", known())));
        };
        let mut arguments = Vec::new();
        if self.takes("(") && !self.takes(")") {
            loop {
                arguments.push(self.expression()?);
                let more = self.takes(",");
                if self.takes(")") {
                    break;
                }
                if !more {
                    self.expect(")")?;
                    break;
                }
            }
        }
        if arguments.len() > most {
            let what =
                format!("the filter {name} has {} arguments and takes at most {most}", arguments.len());
            return Err(Problem::wrong(self.line, what, "Leave the others out."));
        }
        Ok(Link::Filter(filter, arguments))
    }

    fn test(&mut self) -> Read<()> {
        match self.next() {
            Some(Word::Name("defined")) => Ok(()),
            Some(Word::Name(other)) => {
                let what = format!("there is no test named {other}");
                Err(Problem::wrong(self.line, what, "The only test is: is defined, or is not defined."))
            }
            other => Err(self.unexpected(other.as_ref(), "defined")),
        }
    }

    fn value(&mut self) -> Read<Expression<'s>> {
        Ok(match self.next() {
            Some(Word::Text(text)) => {
                if matches!(self.peek(), Some(Word::Text(_))) {
                    let fix = "Write it as one text.";
                    return Err(Problem::wrong(self.line, "two texts in quotes stand side by side", fix));
                }
                Expression::Text(text)
            }
            Some(Word::Number(number)) => Expression::Number(number),
            Some(Word::Sign("-")) => match self.next() {
                Some(Word::Number(number)) => Expression::Number(-number),
                _ => return Err(self.unexpected(Some(&Word::Sign("-")), "a value")),
            },
            Some(Word::Name("true" | "True")) => Expression::Bool(true),
            Some(Word::Name("false" | "False")) => Expression::Bool(false),
            Some(Word::Name("none" | "None")) => Expression::None,
            Some(Word::Name("loop")) => self.of_loop()?,
            Some(Word::Name(name)) if !RESERVED.contains(&name) => Expression::Variable(name),
            Some(Word::Sign("(")) => {
                let inside = self.expression()?;
                self.expect(")")?;
                inside
            }
            Some(Word::Sign("[")) => Expression::List(self.list()?),
            other => return Err(self.unexpected(other.as_ref(), "a value")),
        })
    }

    fn list(&mut self) -> Read<Vec<Expression<'s>>> {
        let mut entries = Vec::new();
        while !self.takes("]") {
            entries.push(self.expression()?);
            if !self.takes(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(entries)
    }

    fn of_loop(&mut self) -> Read<Expression<'s>> {
        if !self.in_loop {
            let fix = "Use loop only between {% for … %} and {% endfor %}.";
            return Err(Problem::wrong(self.line, "loop is used outside of a for", fix));
        }
        let known: Cow<'_, str> = LoopField::NAMES.map(|(name, _)| name).join(", loop.").into();
        let fix = || format!("Use one of: loop.{known}.");
        if !self.takes(".") {
            return Err(Problem::wrong(self.line, "loop stands for no value of its own", fix()));
        }
        match self.next() {
            Some(Word::Name(name)) => match LoopField::NAMES.into_iter().find(|(known, _)| *known == name) {
                Some((_, field)) => Ok(Expression::Loop(field)),
                None => {
                    let what = format!("loop has no part named {name}");
                    Err(Problem::wrong(self.line, what, fix()))
                }
            },
            _ => Err(Problem::wrong(self.line, "loop stands for no value of its own", fix())),
        }
    }
}
