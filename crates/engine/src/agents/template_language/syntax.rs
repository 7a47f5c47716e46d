//! The parts a template is made of, borrowed from its source.

use std::borrow::Cow;

/// A stretch of a template.
#[derive(Debug)]
pub(super) enum Node<'s> {
    Text(&'s str),
    Print { line: usize, value: Expression<'s> },
    If { branches: Vec<Branch<'s>>, otherwise: Vec<Node<'s>> },
    For(Box<For<'s>>),
    Set { line: usize, name: &'s str, value: Expression<'s> },
}

/// `if` or `elif` with what belongs to it.
#[derive(Debug)]
pub(super) struct Branch<'s> {
    pub(super) line: usize,
    pub(super) condition: Expression<'s>,
    pub(super) body: Vec<Node<'s>>,
}

#[derive(Debug)]
pub(super) struct For<'s> {
    pub(super) line: usize,
    pub(super) name: &'s str,
    pub(super) list: Expression<'s>,
    /// `for x in list if condition`: entries for which it is false are left out.
    pub(super) only: Option<Expression<'s>>,
    pub(super) body: Vec<Node<'s>>,
    /// What is rendered when there is no entry.
    pub(super) otherwise: Vec<Node<'s>>,
}

#[derive(Debug)]
pub(super) enum Expression<'s> {
    Text(Cow<'s, str>),
    Number(i64),
    Bool(bool),
    None,
    Variable(&'s str),
    Loop(LoopField),
    List(Vec<Expression<'s>>),
    /// A value and what is applied to it, from left to right.
    Chain(Box<Expression<'s>>, Vec<Link<'s>>),
    Not(Box<Expression<'s>>),
    And(Vec<Expression<'s>>),
    Or(Vec<Expression<'s>>),
    Compare(Comparison, Box<[Expression<'s>; 2]>),
    Choose(Box<Choice<'s>>),
}

/// `value if condition else otherwise`.
#[derive(Debug)]
pub(super) struct Choice<'s> {
    pub(super) condition: Expression<'s>,
    pub(super) value: Expression<'s>,
    pub(super) otherwise: Option<Expression<'s>>,
}

/// What can be applied to a value.
#[derive(Debug)]
pub(super) enum Link<'s> {
    Subscript(Expression<'s>),
    Filter(Filter, Vec<Expression<'s>>),
    IsDefined { negated: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopField {
    Index,
    Index0,
    RevIndex,
    RevIndex0,
    First,
    Last,
    Length,
}

impl LoopField {
    pub(super) const NAMES: [(&'static str, Self); 7] = [
        ("index", Self::Index),
        ("index0", Self::Index0),
        ("revindex", Self::RevIndex),
        ("revindex0", Self::RevIndex0),
        ("first", Self::First),
        ("last", Self::Last),
        ("length", Self::Length),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Default,
    Join,
    Length,
    Lower,
    Upper,
    Title,
    Trim,
}

impl Filter {
    /// Each with the most arguments it takes.
    pub(super) const ALL: [(&'static str, Self, usize); 7] = [
        ("default", Self::Default, 2),
        ("join", Self::Join, 1),
        ("length", Self::Length, 0),
        ("lower", Self::Lower, 0),
        ("upper", Self::Upper, 0),
        ("title", Self::Title, 0),
        ("trim", Self::Trim, 1),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, filter, _)| *filter == self).map_or("", |(name, ..)| name)
    }
}
