//! The values of a template while it is rendered. Lists are flat, so no value can be nested or grow by itself.

use std::{cmp::Ordering, fmt::Write, rc::Rc};

use super::syntax::Comparison;

/// A value from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Text(String),
    List(Vec<String>),
}

/// The kinds that a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const TEXT: Self = Self(1);
    pub(crate) const LIST: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const BOOL: Self = Self(8);
    pub(super) const NONE: Self = Self(16);
    pub(super) const UNDEFINED: Self = Self(32);
    /// What a list may contain.
    pub(super) const ENTRY: Self = Self(1 | 4 | 8 | 16);

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// For messages.
    pub(super) fn name(self) -> &'static str {
        let all = [
            (Self::TEXT, "a text"),
            (Self::LIST, "a list"),
            (Self::NUMBER, "a number"),
            (Self::BOOL, "true or false"),
            (Self::NONE, "none"),
            (Self::UNDEFINED, "a value that is not defined"),
        ];
        all.iter().find(|(kind, _)| self.may_be(*kind)).map_or("nothing", |(_, name)| name)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A text that a filter made.
    Made(Rc<str>),
    Number(i64),
    Bool(bool),
    None,
    List(Rc<[Value<'a>]>),
    /// Must not be used, except by `default` and `is defined`.
    Undefined,
    /// `value if condition` without `else` where the condition is false: not defined, but prints as nothing.
    Nothing,
}

impl Value<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Made(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> Kinds {
        match self {
            Self::Text(_) | Self::Made(_) => Kinds::TEXT,
            Self::Number(_) => Kinds::NUMBER,
            Self::Bool(_) => Kinds::BOOL,
            Self::None => Kinds::NONE,
            Self::List(_) => Kinds::LIST,
            Self::Undefined | Self::Nothing => Kinds::UNDEFINED,
        }
    }

    pub(super) fn is_defined(&self) -> bool {
        !matches!(self, Self::Undefined | Self::Nothing)
    }

    /// Whether `if` takes it as true.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Made(text) => !text.is_empty(),
            Self::Number(number) => *number != 0,
            Self::Bool(is) => *is,
            Self::List(entries) => !entries.is_empty(),
            Self::None | Self::Undefined | Self::Nothing => false,
        }
    }

    /// The bytes that comparing, copying or changing it looks at, at most.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::List(entries) => entries.iter().map(|entry| 32 + entry.bytes()).sum(),
            other => other.text().map_or(8, str::len),
        }
    }

    /// Whether both are the same; a text is never the same as a number.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one == two,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Number(number), Self::Bool(is)) | (Self::Bool(is), Self::Number(number)) => {
                *number == i64::from(*is)
            }
            (Self::None, Self::None) | (Self::Nothing, Self::Nothing) => true,
            (Self::List(one), Self::List(two)) => {
                one.len() == two.len() && one.iter().zip(two.iter()).all(|(one, two)| one.equals(two))
            }
            (one, two) => one.text().is_some() && one.text() == two.text(),
        }
    }

    /// How two texts or two numbers are ordered; others are not.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => Some(one.cmp(two)),
            (one, two) => Some(one.text()?.cmp(two.text()?)),
        }
    }

    /// Writes it as `{{ }}` shows it.
    pub(super) fn show(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Made(text) => out.push_str(text),
            // Writing into a String cannot fail.
            Self::Number(number) => drop(write!(out, "{number}")),
            Self::Bool(true) => out.push_str("True"),
            Self::Bool(false) => out.push_str("False"),
            Self::None => out.push_str("None"),
            Self::Undefined | Self::Nothing => {}
            Self::List(entries) => {
                out.push('[');
                for (place, entry) in entries.iter().enumerate() {
                    if place > 0 {
                        out.push_str(", ");
                    }
                    match entry.text() {
                        Some(text) => show_quoted(text, out),
                        None => entry.show(out),
                    }
                }
                out.push(']');
            }
        }
    }
}

/// A text inside a list, as Jinja shows it.
fn show_quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter == quote => out.extend(['\\', letter]),
            letter if letter.is_control() => drop(write!(out, "\\x{:02x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push(quote);
}

/// Whether two values have this relation; `None` when they cannot be compared so.
pub(super) fn compare(comparison: Comparison, left: &Value<'_>, right: &Value<'_>) -> Option<bool> {
    let ordered = || left.order(right);
    Some(match comparison {
        Comparison::Equal => left.equals(right),
        Comparison::NotEqual => !left.equals(right),
        Comparison::Less => ordered()?.is_lt(),
        Comparison::LessOrEqual => ordered()?.is_le(),
        Comparison::Greater => ordered()?.is_gt(),
        Comparison::GreaterOrEqual => ordered()?.is_ge(),
        Comparison::In => contains(right, left)?,
        Comparison::NotIn => !contains(right, left)?,
    })
}

fn contains(container: &Value<'_>, value: &Value<'_>) -> Option<bool> {
    match container {
        Value::List(entries) => Some(entries.iter().any(|entry| entry.equals(value))),
        container => Some(container.text()?.contains(value.text()?)),
    }
}

/// The kinds for which [`compare`] gives an answer.
pub(super) fn comparable(comparison: Comparison, left: Kinds, right: Kinds) -> bool {
    match comparison {
        Comparison::Equal | Comparison::NotEqual => true,
        Comparison::In | Comparison::NotIn => {
            right.may_be(Kinds::LIST) || (right.may_be(Kinds::TEXT) && left.may_be(Kinds::TEXT))
        }
        _ => [Kinds::TEXT, Kinds::NUMBER].into_iter().any(|kind| left.may_be(kind) && right.may_be(kind)),
    }
}
